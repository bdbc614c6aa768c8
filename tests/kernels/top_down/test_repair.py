from __future__ import annotations

import numpy as np
import pytest

from shoal.kernels.space.range_costs import tabulate_costs
from shoal.kernels.top_down import repair as kernels
from tests.kernels.spaces import Interval, Tree, Values, build_space
from tests.support import reference_local_recoding as reference

K = 6
COLUMNS = [
    Interval(tuple(float(i) for i in range(40))),
    Tree((("leaf", "leaf"), "leaf", ("leaf", ("leaf", "leaf")))),
    Values(9, missing=True),
]


def cheapest_donor(table, groups, small):
    """Return the group whose records cost least to pull, looking at all that can spare them; -1 when none can."""
    lacking = K - len(groups[small])
    donors = [number for number, members in enumerate(groups) if len(members) >= K + lacking]
    return min(
        donors,
        key=lambda number: (table.cost(reference.pull(table, groups[small], groups[number], lacking)[0]), number),
        default=-1,
    )


@pytest.mark.parametrize("seed", range(3))
def test_the_donor_found_by_the_tree_is_that_of_a_plain_loop(seed):
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 2 * K, 60)
    near = np.sort(random.random(sizes.sum()))[:, None] + 0.2 * random.random((sizes.sum(), len(COLUMNS)))
    rows = (near / 1.2 * [column.cardinality for column in COLUMNS]).astype(np.int32)
    ends = np.cumsum(sizes).astype(np.int32)
    groups = [list(range(end - size, end)) for end, size in zip(ends.tolist(), sizes.tolist(), strict=True)]
    table = reference.Table(COLUMNS, [1.0] * len(COLUMNS), [tuple(row) for row in rows.tolist()])
    space, codes = build_space(COLUMNS), rows.T
    state = kernels.start_repair(
        space, tabulate_costs(space), codes, K, ends, random.permutation(len(rows)).astype(np.int32)
    )
    small = [number for number, size in enumerate(sizes) if size < K]
    found = [kernels.find_donor(state, one) for one in small]
    assert found == [cheapest_donor(table, groups, one) for one in small]
    assert max(found) >= 0
