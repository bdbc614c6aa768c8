from __future__ import annotations

import numpy as np
import pytest

from shoal.kernels.common.journal import make_journal
from shoal.kernels.common.random_state import make_state
from shoal.kernels.guarded.tighten import MOST_EVICTED, tighten_group
from shoal.kernels.optimize.state.groups import total_cost
from tests.enforcement.cases import searching
from tests.kernels.guarded.groups import check_kept, loaded


def test_a_tightening_that_does_not_pay_leaves_everything_as_it_was():
    undone = 0
    for seed in range(8):
        search = searching("distinct", seed)
        groups, guard = loaded(search)
        out, journal, state = np.zeros(MOST_EVICTED, np.int32), make_journal(2 * MOST_EVICTED), make_state(seed, 0)
        for group in np.unique(groups.label):
            before, labels = total_cost(groups), groups.label.copy()
            if tighten_group(search.problem.space, groups, guard, group, 0, -1e9, state, out, journal) == 0.0:
                undone += 1
                assert groups.label.tolist() == labels.tolist()
                assert total_cost(groups) == pytest.approx(before, abs=1e-9)
        check_kept(search, groups, guard)
    assert undone
