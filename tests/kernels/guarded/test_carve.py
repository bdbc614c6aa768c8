from __future__ import annotations

import numpy as np
import pytest

from shoal.kernels.common.random_state import make_state
from shoal.kernels.guarded.carve import run_carving
from shoal.kernels.guarded.improve import place_rest
from shoal.kernels.optimize.cells.best_first import start_cell_search
from shoal.kernels.optimize.cells.levels import build_levels
from shoal.privacy.base import failing_groups
from tests.enforcement.cases import HISTOGRAMS, searching


@pytest.mark.parametrize("name", HISTOGRAMS)
def test_carved_groups_have_the_target_size_and_meet_every_rule(name):
    search = searching(name, 2, n=300)
    problem, target = search.problem, 2 * search.carver.smallest
    levels = build_levels(problem.space, problem.rows, target, 1.6, make_state(0, 2))
    found = start_cell_search(levels, 1 << 12)
    run_carving(
        problem.space,
        problem.rows,
        levels,
        search.case.rules,
        search.carver.classes,
        target,
        found,
        1 << 40,
        make_state(0, 5),
    )
    labels, groups = found.label, int(found.state[1])
    assert groups > 0
    assert np.bincount(labels[labels >= 0]).tolist() == [target] * groups
    assert not failing_groups(search.task.requirements, labels, groups).any()
    place_rest(
        problem.space, problem.rows, labels, search.case.rules, search.case.crowds, search.case.points,
        search.carver.classes.class_of, groups,
    )  # fmt: skip
    assert not failing_groups(search.task.requirements, labels, groups).any()
