from __future__ import annotations

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.methods.opening import Opening, open_best

pytest.importorskip("scipy", reason="the program is solved by scipy (extra exact)")


def opening_of(many, holds, cost, sure, k):
    """Return the program for sorts of records, each with the cells that hold it."""
    sort = np.repeat(np.arange(len(many)), [len(cells) for cells in holds])
    cell = np.array([one for cells in holds for one in cells], np.int64)
    return Opening(np.array(many, np.int64), sort, cell, np.array(cost, float), np.array(sure, bool), k)


def least_cost(many, holds, cost, sure, k):
    """Try every way to give each record a cell."""
    records = [cells for count, cells in zip(many, holds, strict=True) for _ in range(count)]
    least = np.inf
    for chosen in product(*records):
        size = np.bincount(chosen, minlength=len(cost))
        if ((size == 0) | (size >= k)).all() and size[np.array(sure, bool)].all():
            least = min(least, float(size @ np.array(cost, float)))
    return least


def check(opening, moved):
    """Return what an outcome costs, after a look at whether it is one."""
    assert np.bincount(opening.sort, moved, len(opening.many)).tolist() == opening.many.tolist()
    size = np.bincount(opening.cell, moved, len(opening.cost))
    assert ((size == 0) | (size >= opening.k)).all()
    assert size[opening.sure].all()
    return float(size @ opening.cost)


def test_the_cheap_cells_open_that_can_be_filled_together():
    # both cheap cells want the two records of the middle: only one of them can have them
    opening = opening_of([1, 2, 1], [[0, 2], [0, 1, 2], [1, 2]], [1.0, 0.9, 2.0], [False] * 3, 2)
    assert check(opening, open_best(opening)) == pytest.approx(2 * 1.0 + 2 * 0.9)
    opening = opening_of([1, 2, 1], [[0, 2], [0, 1, 2], [1, 2]], [1.0, 0.9, 2.0], [False] * 3, 3)
    assert check(opening, open_best(opening)) == pytest.approx(4 * 2.0)  # one record would be left in no cell


def test_a_cell_that_is_sure_opens_even_if_it_is_dear():
    opening = opening_of([4], [[0, 1]], [1.0, 5.0], [False, True], 2)
    assert check(opening, open_best(opening)) == pytest.approx(2 * 1.0 + 2 * 5.0)


def test_where_no_choice_is_possible_there_is_no_outcome():
    assert open_best(opening_of([3], [[0]], [1.0], [False], 4)) is None


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_choice_of_cells_costs_less(data):
    cells, k = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    many = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    some = st.lists(st.integers(0, cells - 1), min_size=1, unique=True)
    holds = [data.draw(some) for _ in many]
    cost = data.draw(st.lists(st.integers(0, 9), min_size=cells, max_size=cells))
    sure = data.draw(st.lists(st.booleans(), min_size=cells, max_size=cells))
    opening, least = opening_of(many, holds, cost, sure, k), least_cost(many, holds, cost, sure, k)
    moved = open_best(opening)
    if moved is None:
        assert least == np.inf
    else:
        assert check(opening, moved) == pytest.approx(least)


def test_an_answer_that_is_not_whole_is_none(monkeypatch):
    opening = opening_of([4], [[0, 1]], [1.0, 5.0], [False, False], 2)
    monkeypatch.setattr("scipy.optimize.milp", lambda *_, **__: SimpleNamespace(x=np.array([3.0, 1.0, 1.0, 1.0])))
    assert open_best(opening) is None
    monkeypatch.setattr("scipy.optimize.milp", lambda *_, **__: SimpleNamespace(x=np.array([2.4, 1.6, 1.0, 1.0])))
    assert open_best(opening).tolist() == [2, 2]
    monkeypatch.setattr("scipy.optimize.milp", lambda *_, **__: SimpleNamespace(x=np.array([2.4, 2.4, 1.0, 1.0])))
    assert open_best(opening).tolist() == [2, 2]
    monkeypatch.setattr("scipy.optimize.milp", lambda *_, **__: SimpleNamespace(x=np.array([2.6, 2.6, 1.0, 1.0])))
    assert open_best(opening) is None


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_the_scale_of_costs_changes_nothing(scale):
    opening = opening_of([1, 2, 1], [[0, 2], [0, 1, 2], [1, 2]], [scale, 0.9 * scale, 2.0 * scale], [False] * 3, 2)
    assert check(opening, open_best(opening)) == pytest.approx(3.8 * scale)


def test_cells_that_cost_nothing_are_no_obstacle():
    opening = opening_of([4], [[0, 1]], [0.0, 0.0], [False, False], 2)
    assert check(opening, open_best(opening)) == 0.0
