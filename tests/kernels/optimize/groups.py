"""Groups of random records, and what kept totals are checked against: a recount."""

from __future__ import annotations

import math

import numpy as np
import pytest

from shoal.kernels.optimize.state.groups import total_cost
from shoal.kernels.optimize.state.regions import load_groups
from shoal.kernels.space.space import cost_table, cover_groups


def recount(table, labels):
    """Return the cost of labels by the cover of each group, without the bookkeeping; whatever the order of the groups."""
    cover = cover_groups(table.space, table.codes, labels, int(labels.max()) + 1)
    return math.fsum((table.space.weight[:, None] * cost_table(table.space, cover) * cover.size).ravel())


def check_groups(table, groups, k):
    """Check that groups have k to 2k records, each of them once, and that their cost is that of a recount."""
    assert total_cost(groups) == pytest.approx(recount(table, groups.label), abs=1e-9)
    sizes = np.bincount(groups.label, minlength=len(groups.size))
    assert sizes.tolist() == groups.size.tolist()
    assert sizes[sizes > 0].min() >= k
    assert sizes.max() <= 2 * k
    for record, group in enumerate(groups.label):
        assert groups.member[group, groups.place[record]] == record


def loaded(table, k, seed):
    """Return groups of random records, with sizes from k to 2k - 1."""
    order = np.random.default_rng(seed).permutation(table.records)
    labels = np.empty(table.records, np.int32)
    labels[order] = np.minimum(np.arange(table.records) // k, table.records // k - 1)
    rows = np.ascontiguousarray(table.codes.T)
    return load_groups(table.space, rows, labels, table.records // k, 2 * k)
