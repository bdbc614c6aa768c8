"""Groups that meet all rules, and their guard, checked by a recount."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.enforcement.mending import mend
from shoal.kernels.guarded.guard import load_guard
from shoal.kernels.optimize.state.groups import total_cost
from shoal.kernels.optimize.state.regions import load_groups
from shoal.privacy.base import failing_groups
from tests.enforcement.test_mending import blocks
from tests.kernels.optimize.groups import recount


def loaded(search):
    """Return groups that meet all rules, and their guard."""
    labels = mend(search.problem.table, blocks(search.problem.records, 4), search.task)
    rows, rules = search.problem.rows, search.case.rules
    groups = load_groups(search.problem.space, rows, labels, len(labels) // search.case.k, len(labels))
    return groups, load_guard(
        search.problem.space, rules, search.case.crowds, search.case.points, search.carver.classes.class_of, groups
    )


def first_of_each_person(rules, row, members):
    """Return the members that count in a row: all, or one of each person with the value."""
    gate = rules.gate[row]
    return members if gate < 0 else members[np.unique(rules.codes[gate, members], return_index=True)[1]]


def check_kept(search, groups, guard):
    """Check covers, costs and tallies against a recount, and every model by what audits measure."""
    labels = groups.label
    assert (labels >= 0).all()
    assert total_cost(groups) == pytest.approx(recount(search.problem.table, labels), abs=1e-9)
    used = np.unique(labels)
    numbered = np.searchsorted(used, labels).astype(np.int32)
    assert not failing_groups(search.task.requirements, numbered, len(used)).any()
    assert np.bincount(numbered).min() >= search.case.k
    for group in used:
        members = np.flatnonzero(labels == group)
        assert sorted(groups.member[group, : groups.size[group]]) == members.tolist()
        for row in range(len(search.case.rules.codes)):
            start, end = search.case.rules.start[row : row + 2]
            bearing = first_of_each_person(search.case.rules, row, members)
            counted = np.bincount(search.case.rules.codes[row, bearing], minlength=end - start)
            assert np.maximum(guard.counts[group, start:end], 0).tolist() == counted.tolist()
        assert guard.used[group, -1] == len(members)
