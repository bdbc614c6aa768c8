"""Which cells to open: an integer program (HiGHS through scipy).

Every record goes to an open cell that holds it and pays what that cell costs; an open cell has at least k records. This is
facility location with lower bounds (Karger and Minkoff 2000; Svitkina 2010).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.typing import BoolArray, FloatArray, IntArray, LongArray

_MOST_NODES = 1
"""Branch-and-bound nodes: a count, not seconds, so that the outcome does not depend on the machine. Most is found before branching."""
_TINY = np.finfo(np.float64).tiny
_GAP = 1e-5
"""How far from the best the outcome may be, as a share of it."""


class Opening(NamedTuple):
    """Cells and records to choose from. Records that the same cells hold are of one sort."""

    many: LongArray
    """Records of each sort."""
    sort: LongArray
    cell: LongArray
    """The pairs of a sort and a cell that holds it, by sort."""
    cost: FloatArray
    """What a cell costs each record in it."""
    sure: BoolArray
    """Whether a cell is open in any case."""
    k: int
    """Records of an open cell, at least."""


def open_best(opening: Opening, seconds: float = np.inf) -> LongArray | None:
    """Return how many records of each pair's sort go to its cell; None where nothing is found in time."""
    from scipy.optimize import Bounds, LinearConstraint, milp  # noqa: PLC0415

    many, sort, cell, cost, sure, k = opening
    pairs, cells = len(sort), len(cost)
    free = np.flatnonzero(~sure[cell])
    every, one = np.arange(pairs), np.ones(pairs)
    placed = _sparse(one, sort, every, (len(many), pairs + cells))
    filled = _sparse(
        np.append(one, np.full(cells, -k)),
        np.append(cell, np.arange(cells)),
        np.arange(pairs + cells),
        (cells, pairs + cells),
    )
    only_open = _sparse(
        np.append(one[free], -many[sort[free]]),
        np.tile(np.arange(len(free)), 2),
        np.append(free, pairs + cell[free]),
        (len(free), pairs + cells),
    )
    limits = {"node_limit": _MOST_NODES, "mip_rel_gap": _GAP} | ({"time_limit": seconds} if seconds < np.inf else {})
    answer = milp(
        np.append(cost[cell] / max(cost.max(), _TINY), np.zeros(cells)),  # its tolerances are absolute
        integrality=np.append(np.zeros(pairs), np.ones(cells)),
        bounds=Bounds(np.append(np.zeros(pairs), sure), np.append(many[sort], np.ones(cells))),
        constraints=[
            LinearConstraint(placed, many, many),
            LinearConstraint(filled, 0.0, np.inf),
            LinearConstraint(only_open, -np.inf, 0.0),
        ],
        options=limits,
    )
    if answer.x is None:
        return None
    moved: LongArray = np.rint(answer.x[:pairs]).astype(np.int64)  # whole numbers but for rounding: the rest is a flow
    size = np.bincount(cell, moved, cells)
    right = np.array_equal(np.bincount(sort, moved, len(many)), many) and ((size == 0) | (size >= k)).all()
    return moved if right else None


def _sparse(
    value: FloatArray, row: IntArray | LongArray, column: IntArray | LongArray, shape: tuple[int, int]
) -> object:
    from scipy.sparse import csr_array  # noqa: PLC0415

    return csr_array((value, (row, column)), shape=shape)
