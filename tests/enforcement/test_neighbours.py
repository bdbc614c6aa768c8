from __future__ import annotations

import numpy as np
import pyarrow as pa

from shoal.encoding import encode
from shoal.enforcement.neighbours import neighbour_order
from shoal.frames import Frame


def test_neighbours_in_the_table_are_near_in_the_order():
    from shoal.kernels.space.space import cover_groups

    table = encode(Frame(pa.table({"a": [5, 1, 3, 2, 4, 0, 6, 7, 8, 9]})), ["a"])
    cover = cover_groups(table.space, table.codes, np.arange(10, dtype=np.int32), 10)
    order = neighbour_order(table, cover)
    assert sorted(order.tolist()) == list(range(10))
    assert set(table.codes[0][order[:5]].tolist()) == set(range(5))
