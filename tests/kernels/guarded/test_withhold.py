from __future__ import annotations

import numpy as np
import pytest

from shoal.enforcement.guarded import GuardedSearch
from shoal.enforcement.mending import mend
from shoal.kernels.guarded.withhold import WITHHELD, find_leavers
from shoal.methods.optimize import Optimize
from shoal.methods.optimize.problem import Problem
from shoal.methods.stopping import Stop
from shoal.privacy.base import failing_groups
from shoal.privacy.compiled_models import compile_models
from tests.enforcement.cases import case_of
from tests.enforcement.test_mending import blocks, total_cost


@pytest.mark.parametrize("name", ["distinct", "equal", "entropy", "k-map", "persons"])
def test_steps_gain_what_a_recount_finds_and_no_single_record_gains_more_for_itself(name):
    gained, exchanged = 0, 0
    for seed in range(4):
        table, task = case_of(name, seed, k=5, n=60)
        case = compile_models(table, 5, task.requirements)
        search = GuardedSearch(Optimize(), Problem.of(table, task), case, task, Stop())
        found = search.solution(mend(table, blocks(60, 6), task))
        _, part = search.part_of(found)
        regions = search.regions_of(part, found.groups, found.groups, 0)
        labels = found.labels.copy()
        steps = [find_leavers(search.problem.space, *part, regions, one) for one in range(len(regions.start) - 1)]
        for region in steps:
            for step in np.unique(region.step):
                of_step = region.step == step
                before, without = total_cost(table, labels), labels.copy()
                without[region.record[of_step]] = region.group[of_step]
                out = region.record[of_step][region.group[of_step] == WITHHELD]
                gain = (before - total_cost(table, without)) / len(out)
                assert gain >= region.gain[of_step][0] - 1e-9
                assert not failing_groups(task.requirements, without, found.groups).any()
                assert np.bincount(without[without >= 0]).min() >= 5
                group = labels[out[0]]
                for record in np.flatnonzero(labels == group):
                    alone = labels.copy()
                    alone[record] = WITHHELD
                    valid = (alone == group).sum() >= 5
                    valid &= not failing_groups(task.requirements, alone, found.groups)[group]
                    assert not valid or before - total_cost(table, alone) <= gain + 1e-9
                labels, gained = without, gained + 1
                exchanged += len(out) < of_step.sum()
    assert gained
    assert exchanged
