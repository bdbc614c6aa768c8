from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from shoal.encoding import ranks as ranking
from shoal.encoding.ranks import rank_values

RECORDS = 12_000


def draw(kind):
    random = np.random.default_rng(0)
    if kind == "floats with two zeros":
        numbers = random.normal(size=RECORDS)
        numbers[:4] = [0.0, -0.0, 1e-300, -1e-300]
        return pa.chunked_array([numbers[:7000], numbers[7000:]])
    if kind == "integers beyond floats":
        return pa.chunked_array([(1 << 62) + random.permutation(RECORDS)])
    if kind == "unsigned integers":
        return pa.chunked_array([np.uint64(1 << 63) + random.permutation(RECORDS).astype(np.uint64)])
    return pa.chunked_array([random.integers(0, RECORDS, RECORDS).astype(np.float32)])


KINDS = ["floats with two zeros", "integers beyond floats", "unsigned integers", "narrow floats, some twice"]


@pytest.mark.parametrize("kind", KINDS)
def test_sorting_the_rows_ranks_them_as_hashing_does(kind, monkeypatch):
    column = draw(kind)
    with monkeypatch.context() as patched:
        patched.delattr(ranking, "_by_hashing")
        sorted_rows = rank_values(column)
    monkeypatch.setattr(ranking, "_LONG", RECORDS + 1)
    monkeypatch.delattr(ranking, "_by_sorting")
    hashed = rank_values(column)
    assert sorted_rows.values.equals(hashed.values)
    assert sorted_rows.values.type == column.type
    assert np.array_equal(sorted_rows.exact, hashed.exact)
    assert np.array_equal(sorted_rows.codes, hashed.codes)
    assert sorted_rows.codes.dtype == hashed.codes.dtype == np.int32


@pytest.mark.parametrize("hole", [None, float("nan")])
def test_a_column_with_a_missing_number_is_ranked_with_it_last(hole):
    numbers = [*np.random.default_rng(0).normal(size=RECORDS).tolist(), hole]
    ranked = rank_values(pa.chunked_array([pa.array(numbers, pa.float64())]))
    assert ranked.has_missing
    assert ranked.codes[-1] == RECORDS == ranked.codes.max()
    assert (np.diff(ranked.exact) > 0).all()
