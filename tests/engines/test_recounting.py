from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from shoal.engines.stream import recounting
from shoal.engines.stream.recounting import Recount
from shoal.errors import PrivacyError

K = 3


def counted(*cells, names=("q",)):
    recount = Recount(names)
    for batch in cells:
        recount.add(pa.table(dict(zip(names, batch, strict=True))))
    return recount


def test_a_group_of_k_passes_and_one_of_a_row_less_does_not():
    counted([["a"] * K + ["b"] * (K + 1)]).check(K)
    with pytest.raises(PrivacyError, match=f"a group of {K - 1}"):
        counted([["a"] * (K - 1) + ["b"] * (K + 1)]).check(K)


def test_rows_of_a_group_are_added_up_over_batches_and_their_order():
    recount = counted([["a", "b"]], [["b", "a", None]], [[None, "a", "b", None]])
    sizes, _ = recount.groups()
    assert sorted(sizes.tolist()) == [K, K, K]
    recount.check(K)


def test_columns_beyond_one_word_tell_rows_apart():
    names = tuple("abcdefg")
    alike = [["x"] * 4 for _ in names]
    other = [*alike[:-1], ["x", "x", "x", "y"]]
    counted(alike, names=names).check(4)
    with pytest.raises(PrivacyError, match="a group of 1"):
        counted(other, names=names).check(4)


def test_no_row_is_no_group():
    sizes, held = Recount(["q"]).groups()
    assert np.array_equal(sizes, [])
    assert held == {}
    Recount(["q"]).check(K)


def test_many_groups_are_not_added_up_anew_for_every_batch(monkeypatch):
    grouped, plain = [], recounting._grouped
    monkeypatch.setattr(recounting, "_MERGED", 10)
    monkeypatch.setattr(recounting, "_grouped", lambda table: grouped.append(table.num_rows) or plain(table))
    recount = Recount(["age"])
    for begin in range(0, 2_000, 4):
        recount.add(pa.table({"age": [str(begin + place) for place in range(4)]}))
    assert sum(grouped) < 4 * 2_000
    assert recount.groups()[0].tolist() == [1] * 2_000
