"""Rows in bundles come to where they belong as they were, whatever the batches and however many bundles there are. No Spark is needed."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from shoal.engines.spark import bundles
from shoal.engines.spark.bundles import TO, pack, unpack
from shoal.engines.spark.tasks import ORDER, PLACE, by_fragment, lay_down, scatter
from tests.engines.tables import people


def in_order(packed):
    """Return bundles as Spark brings them together: sorted by number, else in any order."""
    return pa.Table.from_batches(packed).sort_by([(TO, "ascending")]).to_batches(max_chunksize=3)


@pytest.mark.parametrize("full", [1, 5_000, 1 << 30])
def test_rows_come_out_whole_by_number_and_keep_their_types(monkeypatch, full):
    monkeypatch.setattr(bundles, "_FULL", full)
    table = people(200)
    number = np.arange(200) * 7 % 5
    packed = list(pack((number[at : at + 16], table[at : at + 16]) for at in range(0, 200, 16)))
    assert sum(batch.num_rows for batch in packed) >= (5 if full > 1 else 13 * 5)
    found = dict(unpack(in_order(packed)))
    assert sorted(found) == [0, 1, 2, 3, 4]
    for one, rows in found.items():
        assert rows.equals(table.take(pa.array(np.flatnonzero(number == one))).combine_chunks())


def test_nothing_makes_no_bundle():
    assert list(pack([])) == []
    assert list(pack([(np.zeros(0, np.int64), people(0))])) == []


def test_a_fragment_has_the_same_order_whichever_of_its_bundles_comes_first():
    table = people(60).append_column(ORDER, pa.array(np.random.default_rng(0).permutation(60)))
    packed = [batch for at in (0, 20, 40) for batch in pack([(np.full(20, 4), table[at : at + 20])])]
    ((_, first),) = by_fragment(packed)
    ((_, second),) = by_fragment(packed[::-1])
    assert first.equals(second)
    assert first.column(ORDER).to_pylist() == list(range(60))


def test_scattered_rows_are_laid_down_by_their_places_alone():
    place = np.random.default_rng(1).integers(0, 1 << 62, 90)
    table = people(90).append_column(PLACE, pa.array(place))
    packed = [batch for at in (0, 30, 60) for batch in scatter([table[at : at + 30]], 4)]
    rows = pa.Table.from_batches(lay_down(in_order(packed)))
    expected = np.lexsort((place, place % 4))
    assert rows.column("note").to_pylist() == [str(one) for one in expected]
    assert PLACE not in rows.column_names
