from __future__ import annotations

import numpy as np
import pytest

from shoal.kernels.common.random_state import make_state
from shoal.kernels.guarded.divide import dissolve_groups, divide_groups
from shoal.kernels.guarded.improve import sweep
from shoal.kernels.guarded.rebuild import rebuild_groups
from shoal.kernels.guarded.tighten import tighten_groups
from shoal.kernels.optimize.cells.steps import measure_steps
from shoal.kernels.optimize.state.groups import total_cost
from tests.enforcement.cases import EVERY, HISTOGRAMS, searching
from tests.kernels.guarded.groups import check_kept, loaded

STEPS = {
    "moves and swaps": lambda space, groups, guard, k, state: sweep(space, groups, guard, 4, 0.0, state),
    "warm moves and swaps": lambda space, groups, guard, k, state: sweep(space, groups, guard, 4, 0.5, state),
    "divisions": lambda space, groups, guard, k, state: divide_groups(space, groups, guard, k),
    "dissolutions": lambda space, groups, guard, k, state: dissolve_groups(space, groups, guard),
    "tightenings": lambda space, groups, guard, k, state: tighten_groups(space, groups, guard, 0.0, state),
    "rebuildings": lambda space, groups, guard, k, state: rebuilt(space, groups, guard, k, 0.0, state),
    "warm rebuildings": lambda space, groups, guard, k, state: rebuilt(space, groups, guard, k, 0.5, state),
}


def rebuilt(space, groups, guard, k, temperature, state):
    """Rebuild groups in which all classes should have equal shares."""
    share = np.full(int(guard.class_of.max()) + 1, 1.0 / (guard.class_of.max() + 1))
    return rebuild_groups(space, measure_steps(space, groups.codes), groups, guard, share, k, 40, temperature, state)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("name", EVERY)
def test_every_kind_of_step_keeps_every_model_and_its_counts(name, step):
    for seed in range(4):
        search = searching(name, seed)
        groups, guard = loaded(search)
        before = total_cost(groups)
        fall = STEPS[step](search.problem.space, groups, guard, search.case.k, make_state(seed, 0)).gained
        check_kept(search, groups, guard)
        assert before - total_cost(groups) == pytest.approx(fall, abs=1e-9)


def test_all_kinds_of_steps_are_taken_somewhere():
    falls = dict.fromkeys(STEPS, 0.0)
    for name in HISTOGRAMS:
        for step, take in STEPS.items():
            search = searching(name, 1)
            groups, guard = loaded(search)
            falls[step] += abs(take(search.problem.space, groups, guard, search.case.k, make_state(1, 0)).gained)
    assert all(falls.values())
