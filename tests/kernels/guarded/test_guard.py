from __future__ import annotations

import numpy as np
import pytest

from shoal.kernels.guarded.guard import holds, may_change
from shoal.kernels.optimize.state.groups import NOBODY
from shoal.privacy.base import failing_groups
from tests.enforcement.cases import searching
from tests.kernels.guarded.groups import loaded


@pytest.mark.parametrize("name", ["equal", "k-map", "presence", "persons", "persons and diversity"])
def test_a_step_that_the_models_forbid_is_not_taken(name):
    search = searching(name, 0, k=4)
    groups, guard = loaded(search)
    count = int(groups.label.max()) + 1
    allowed = np.zeros(2, int)

    def meets(changed, group):
        small = (changed == group).sum() < search.case.k
        return not small and not failing_groups(search.task.requirements, changed, count)[group]

    for record in range(search.problem.records):
        own, other = groups.label[record], (groups.label[record] + 1) % count
        partner = groups.member[other, record % groups.size[other]]
        for joiner in (NOBODY, partner):
            labels = groups.label.copy()
            labels[record] = other
            if joiner != NOBODY:
                labels[joiner] = own
            for group, leaver, comer in ((own, record, joiner), (other, joiner, record)):
                may = may_change(search.problem.space, groups, guard, group, leaver, comer)
                assert may == meets(labels, group)
                allowed[int(may)] += 1
    assert allowed.all()
    assert all(holds(search.problem.space, groups, guard, group) for group in np.unique(groups.label))
