"""Groups from the boxes of samples: what a box takes, when the start is made, and that it takes the cliff away."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("vl_convert")

from benchmarks.cliffs import SHAPES, Lattice, cliffs, made

from shoal.kernels.optimize.starts.boxes import open_boxes
from shoal.kernels.space.kinds import shows_code
from shoal.kernels.space.space import cover_groups
from shoal.methods.base import Task
from shoal.methods.optimize.construct import construct, keep_start
from shoal.methods.optimize.params import EFFORTS
from shoal.methods.optimize.sampled import group_by_samples, samples_pay, share_of
from shoal.methods.optimize.search import Search
from shoal.methods.optimize.solver import solve
from tests.support.tables import coded_tables

pytestmark = pytest.mark.compiled
WIDE = Lattice(12, 2, 12, 0.95)


def shows(table, cover, box, record):
    """Return whether a box shows all codes of a record."""
    return all(
        shows_code(table.space, cover.words[box], column, cover.low[column, box], cover.high[column, box], code)
        for column, code in enumerate(table.codes[:, record])
    )


@settings(max_examples=40, deadline=None)
@given(coded_tables(least=4, most=30), st.integers(2, 4), st.integers(0, 99))
def test_a_box_takes_all_ungrouped_records_inside_it_if_there_are_k(table, k, seed):
    random = np.random.default_rng(seed)
    boxes = max(table.records // 3, 1)
    cover = cover_groups(
        table.space, table.codes, random.permutation(np.arange(table.records) % boxes).astype(np.int32), boxes
    )
    order, label = random.permutation(boxes), np.full(table.records, -1, np.int32)
    rows, ones = np.ascontiguousarray(table.codes.T), np.ones(table.records, np.int32)
    groups = open_boxes(table.space, rows, ones, cover, order, k, label)
    expected, used = np.full(table.records, -1), 0
    for box in order:
        inside = [one for one in range(table.records) if expected[one] < 0 and shows(table, cover, box, one)]
        if len(inside) >= k:
            expected[inside] = used
            used += 1
    assert label.tolist() == expected.tolist()
    assert groups == used


def search(k, records=2_000, **changes):
    found = Search.of(made(WIDE, records), Task(k, effort="fast"))
    found.params = replace(found.params, **changes)
    return found


def test_samples_are_drawn_where_k_is_large_and_the_table_has_room_for_groups():
    assert [samples_pay(search(k)) for k in (8, 40, 250, 251)] == [False, True, True, False]
    assert not samples_pay(search(40, without=("sampled",)))


def test_a_sample_has_groups_of_five_or_more_and_at_most_half_of_the_records():
    samples = EFFORTS["fast"].samples
    assert [share_of(samples, k) for k in (2, 20, 50, 400)] == [0.5, 0.25, 0.1, 0.1]


def test_the_same_seed_draws_the_same_samples():
    assert np.array_equal(group_by_samples(search(40), solve), group_by_samples(search(40), solve))


@pytest.mark.parametrize("k", [50, 200])
def test_the_boxes_of_samples_lose_least_of_all_starts_where_cells_are_too_many(k):
    one = Search.of(made(SHAPES["survey"], 6_000), Task(k, effort="fast"))
    starts = construct(one)
    others = min(start.loss for start in starts.values())
    keep_start(one, starts, "sampled", group_by_samples(one, solve))
    assert starts["sampled"].loss < 0.98 * others


@pytest.mark.parametrize(("shape", "drawn"), [("small", 1), ("survey", 3)])
def test_only_one_sample_is_drawn_where_its_boxes_are_far_from_the_best_start(shape, drawn):
    whole, solved = Search.of(made(SHAPES[shape], 6_000), Task(50, effort="fast")), []
    construct(whole)
    labels = group_by_samples(whole, lambda part: solved.append(part) or solve(part))
    assert (labels is not None, len(solved)) == (drawn > 1, drawn)


def test_a_cliff_is_told():
    rows = [{"k": 2, "fast": 0.1}, {"k": 5, "fast": 0.4, "balanced": 0.3}, {"k": 9, "fast": 0.5, "balanced": 0.5}]
    assert cliffs(rows, "k") == ["fast is 33% above balanced at k = 5", "fast jumps from k = 2 to 5"]
    rows = [{"records": n, "fast": loss, "balanced": loss} for n, loss in ((1_000, 0.4), (2_000, 0.5), (4_000, 0.2))]
    assert "fast jumps at records = 2000" in cliffs(rows, "records")
    rows = [{"columns": columns, "fast": loss} for columns, loss in ((3, 0.1), (6, 0.9), (12, 0.95))]
    assert cliffs(rows, "columns") == []  # another column is another table
