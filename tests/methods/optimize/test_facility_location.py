from __future__ import annotations

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.methods.optimize.facility_location import FacilityLocation, solve_facility_location

pytest.importorskip("scipy", reason="the program is solved by scipy (extra exact)")


def opening_of(demand, holds, cost, fixed, k):
    """Return the program for sorts of records, each with the cells that hold it."""
    customer = np.repeat(np.arange(len(demand)), [len(facilities) for facilities in holds])
    facility = np.array([one for facilities in holds for one in facilities], np.int64)
    return FacilityLocation(
        np.array(demand, np.int64), customer, facility, np.array(cost, float), np.array(fixed, bool), k
    )


def least_cost(demand, holds, cost, fixed, k):
    """Try every way to give each record a cell."""
    records = [facilities for count, facilities in zip(demand, holds, strict=True) for _ in range(count)]
    least = np.inf
    for chosen in product(*records):
        size = np.bincount(chosen, minlength=len(cost))
        if ((size == 0) | (size >= k)).all() and size[np.array(fixed, bool)].all():
            least = min(least, float(size @ np.array(cost, float)))
    return least


def check(program, moved):
    """Return what an outcome costs, after a look at whether it is one."""
    assert np.bincount(program.customer, moved, len(program.demand)).tolist() == program.demand.tolist()
    size = np.bincount(program.facility, moved, len(program.cost))
    assert ((size == 0) | (size >= program.k)).all()
    assert size[program.fixed].all()
    return float(size @ program.cost)


def test_the_cheap_cells_open_that_can_be_filled_together():
    # both cheap cells want the two records of the middle: only one of them can have them
    program = opening_of([1, 2, 1], [[0, 2], [0, 1, 2], [1, 2]], [1.0, 0.9, 2.0], [False] * 3, 2)
    assert check(program, solve_facility_location(program)) == pytest.approx(2 * 1.0 + 2 * 0.9)
    program = opening_of([1, 2, 1], [[0, 2], [0, 1, 2], [1, 2]], [1.0, 0.9, 2.0], [False] * 3, 3)
    assert check(program, solve_facility_location(program)) == pytest.approx(
        4 * 2.0
    )  # one record would be left in no cell


def test_a_cell_that_is_sure_opens_even_if_it_is_dear():
    program = opening_of([4], [[0, 1]], [1.0, 5.0], [False, True], 2)
    assert check(program, solve_facility_location(program)) == pytest.approx(2 * 1.0 + 2 * 5.0)


def test_where_no_choice_is_possible_there_is_no_outcome():
    assert solve_facility_location(opening_of([3], [[0]], [1.0], [False], 4)) is None


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_choice_of_cells_costs_less(data):
    facilities, k = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    demand = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    some = st.lists(st.integers(0, facilities - 1), min_size=1, unique=True)
    holds = [data.draw(some) for _ in demand]
    cost = data.draw(st.lists(st.integers(0, 9), min_size=facilities, max_size=facilities))
    fixed = data.draw(st.lists(st.booleans(), min_size=facilities, max_size=facilities))
    program, least = opening_of(demand, holds, cost, fixed, k), least_cost(demand, holds, cost, fixed, k)
    moved = solve_facility_location(program)
    if moved is None:
        assert least == np.inf
    else:
        assert check(program, moved) == pytest.approx(least)


def test_an_answer_that_is_not_whole_is_none(monkeypatch):
    program = opening_of([4], [[0, 1]], [1.0, 5.0], [False, False], 2)
    monkeypatch.setattr("scipy.optimize.milp", lambda *_, **__: SimpleNamespace(x=np.array([3.0, 1.0, 1.0, 1.0])))
    assert solve_facility_location(program) is None
    monkeypatch.setattr("scipy.optimize.milp", lambda *_, **__: SimpleNamespace(x=np.array([2.4, 1.6, 1.0, 1.0])))
    assert solve_facility_location(program).tolist() == [2, 2]
    monkeypatch.setattr("scipy.optimize.milp", lambda *_, **__: SimpleNamespace(x=np.array([2.4, 2.4, 1.0, 1.0])))
    assert solve_facility_location(program).tolist() == [2, 2]
    monkeypatch.setattr("scipy.optimize.milp", lambda *_, **__: SimpleNamespace(x=np.array([2.6, 2.6, 1.0, 1.0])))
    assert solve_facility_location(program) is None


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_the_scale_of_costs_changes_nothing(scale):
    program = opening_of([1, 2, 1], [[0, 2], [0, 1, 2], [1, 2]], [scale, 0.9 * scale, 2.0 * scale], [False] * 3, 2)
    assert check(program, solve_facility_location(program)) == pytest.approx(3.8 * scale)


def test_cells_that_cost_nothing_are_no_obstacle():
    program = opening_of([4], [[0, 1]], [0.0, 0.0], [False, False], 2)
    assert check(program, solve_facility_location(program)) == 0.0
