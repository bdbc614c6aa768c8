"""The loss rises smoothly with k, is never above another method's, and never rises with effort."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("vl_convert")

from benchmarks.cliffs import SHAPES
from benchmarks.cliffs import made as lattice
from benchmarks.curves import curve, faults, towns
from benchmarks.optimize import made
from benchmarks.speed import wide

from shoal.methods.base import Task
from shoal.methods.optimize import construct
from shoal.methods.optimize.params import EFFORTS
from shoal.methods.optimize.search import Search

pytestmark = pytest.mark.compiled
OTHERS = ("mondrian", "top-down", "bottom-up", "k-member")
SIZES = (2, 5, 10, 20, 50, 100, 200)


@pytest.fixture(scope="module")
def table():
    return towns(800)


@pytest.mark.parametrize("chunk", [construct.CHUNK, 20_000], ids=["as it is", "as on a table that is larger"])
def test_there_is_no_cliff_on_a_table_by_hierarchy(table, monkeypatch, chunk):
    monkeypatch.setattr(construct, "CHUNK", chunk)
    efforts = ("fast", "balanced")
    rows = list(curve(table, SIZES, efforts, OTHERS))
    assert faults(rows, efforts, OTHERS) == [], rows


def starts(table, k):
    return construct.construct(Search.of(table, Task(k, effort="fast")))


def test_a_search_that_stalls_goes_on_and_both_ways_are_starts(table, monkeypatch):
    whole = starts(table, 50)
    assert "early-cells" not in whole
    monkeypatch.setattr(construct, "CHUNK", 20_000)
    both = starts(table, 50)
    assert np.array_equal(both["cells"].labels, whole["cells"].labels)
    assert both["early-cells"].loss != both["cells"].loss


def test_a_large_lattice_is_given_up_where_nothing_is_found_for_a_while(table, monkeypatch):
    monkeypatch.setattr(construct, "CHUNK", 20_000)
    whole = starts(table, 50)
    monkeypatch.setattr(construct, "_LARGE_LATTICE", 0)
    monkeypatch.setattr(construct, "_PATIENCE", 0.0)
    monkeypatch.setattr(construct, "_LEAST_PROGRESS", 2.0)  # nothing is ever enough
    given_up = starts(table, 50)
    assert not np.array_equal(given_up["cells"].labels, whole["cells"].labels)
    assert all(one.labels.min() >= 0 for one in given_up.values())


def test_a_fault_in_a_curve_is_found():
    rows = [
        {"k": 2, "fast": 0.1, "balanced": 0.09, "mondrian": 0.2},
        {"k": 3, "fast": 0.25, "balanced": 0.26, "mondrian": 0.19},
        {"k": 5, "fast": 0.1, "balanced": 0.1, "mondrian": 0.2},
    ]
    told = faults(rows, ("fast", "balanced"), ("mondrian",))
    assert "fast jumps from k = 2 to 3" in told
    assert "fast falls from k = 3 to 5" in told
    assert "fast is above mondrian at k = 3" in told
    assert "balanced is above fast at k = 3" in told


def with_top_down(losses):
    """Return a curve that Top-Down passes smoothly."""
    sizes, others = (20, 35, 50, 75, 100), (0.150, 0.175, 0.192, 0.215, 0.235)
    return [{"k": k, "fast": loss, "top-down": other} for k, loss, other in zip(sizes, losses, others, strict=True)]


def test_a_cliff_is_found_where_its_rise_is_below_that_of_k():
    smooth, cliff = (0.100, 0.127, 0.1475, 0.172, 0.193), (0.100, 0.127, 0.175, 0.200, 0.222)
    assert faults(with_top_down(smooth), ("fast",), ("top-down",)) == []
    assert faults(with_top_down(cliff), ("fast",), ("top-down",)) == ["fast jumps from k = 35 to 50"]
    assert faults(with_top_down((*smooth[:4], 0.215)), ("fast",), ("top-down",)) == ["fast jumps from k = 75 to 100"]


def test_the_optimizer_above_arx_is_a_fault():
    rows = [{"k": 5, "fast": 0.06, "ARX": 0.059}, {"k": 10, "fast": 0.08, "ARX": 0.0842}]
    assert faults(rows, ("fast",), ()) == ["fast is above ARX at k = 5"]


def test_a_loss_that_is_the_same_but_for_rounding_is_no_fault():
    rows = [{"k": 5, "fast": 0.1 + 1e-16, "bottom-up": 0.1}, {"k": 10, "fast": 0.2 + 1e-9, "bottom-up": 0.2}]
    assert rows[0]["fast"] > rows[0]["bottom-up"]
    assert faults(rows, ("fast",), ("bottom-up",)) == ["fast is above bottom-up at k = 10"]


def test_a_step_of_the_table_itself_is_no_fault_and_what_was_not_measured_is_left_out():
    rows = [
        {"k": 50, "fast": 0.0, "mondrian": 0.0},
        {"k": 75, "fast": 0.1, "balanced": 0.1, "mondrian": 0.1},
        {"k": 100, "fast": 0.3, "mondrian": 0.3},
    ]
    assert faults(rows, ("fast", "balanced"), ("mondrian",)) == []
    assert faults([row | {"mondrian": 0.4} for row in rows], ("fast",), ("mondrian",)) == [
        "fast jumps from k = 50 to 75",
        "fast jumps from k = 75 to 100",
    ]


def test_a_small_table_of_few_tuples_is_searched_at_fast_as_at_balanced():
    for table, effort in (
        (made("few distinct values", 1_100), "balanced"),
        (made("few distinct values", 900), "fast"),  # fewer than sixteen records of a tuple
        (made("few distinct values", 13_000), "fast"),
        (towns(600), "fast"),
    ):
        assert Search.of(table, Task(k=12, effort="fast")).params is EFFORTS[effort]


def rounds_at_fast(shape, records, k):
    return Search.of(made(shape, records), Task(k=k, effort="fast")).stop.rounds


def test_fast_makes_rounds_where_cells_know_little_and_fewer_of_them_the_larger_groups_are():
    assert [rounds_at_fast("skewed sets of many values", 13_000, k) for k in (2, 70, 100, 200, 900, 1_000)] == [
        3,
        3,
        2,
        1,
        1,
        0,
    ]
    assert [rounds_at_fast("clusters of numbers", 13_000, k) for k in (2, 200, 900, 1_000)] == [1, 1, 1, 0]
    assert rounds_at_fast("deep hierarchies", 13_000, 2) == 0
    assert rounds_at_fast("deep hierarchies", 10_000, 5) == 2
    assert Search.of(lattice(SHAPES["loose"], 2_000), Task(5, effort="fast")).stop.rounds == 4
    assert Search.of(lattice(SHAPES["loose"], 13_000), Task(5, effort="fast")).stop.rounds == 1
    many_celled = wide(13_000, 12)
    assert [Search.of(many_celled, Task(k, effort="fast")).stop.rounds for k in (2, 900, 1_000)] == [1, 1, 0]
    assert rounds_at_fast("skewed sets of many values", 10_000, 400) == 2  # as any small table


def test_fast_is_below_every_other_method_on_a_larger_table_with_sets():
    table = made("skewed sets of many values", 13_000)
    rows = list(curve(table, (5, 25), ("fast",), ("bottom-up", "k-member")))
    assert faults(rows, ("fast",), ("bottom-up", "k-member")) == [], rows
