from __future__ import annotations

import numpy as np
import pytest

from shoal.kernels.common.random_state import make_state
from shoal.kernels.optimize.cells.best_first import run_cell_search, start_cell_search
from shoal.kernels.optimize.cells.levels import build_levels
from shoal.kernels.optimize.starts.cut import complete
from tests.support.tables import coded_table


@pytest.mark.parametrize("columns", ["n", "nnf", "inf", "sis"])
def test_cells_are_complete_groups_of_at_least_k_and_cuts_keep_them_so(columns):
    table = coded_table(300, columns, 8, missing=True)
    rows = np.ascontiguousarray(table.codes.T)
    levels = build_levels(table.space, rows, 4, 1.3, make_state(0, 0))
    search = start_cell_search(levels, 1 << 16)
    run_cell_search(levels, np.ones(300, np.int32), 4, search, 1 << 30)
    labels = search.label
    taken = np.bincount(labels[labels >= 0])
    assert taken.size
    assert taken.min() >= 4
    groups = complete(table.space, rows, labels, int(search.state[1]), 4)
    sizes = np.bincount(labels, minlength=groups)
    assert len(sizes) == groups
    assert sizes.min() >= 4
    assert sizes.max() < 8
