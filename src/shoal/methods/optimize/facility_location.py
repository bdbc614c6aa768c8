"""Which cells to open: an integer program (HiGHS through scipy).

Every record goes to an open cell that holds it and pays what that cell costs; an open cell has at least k records. This is
facility location with lower bounds (Karger and Minkoff 2000; Svitkina 2010).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import BoolArray, FloatArray, IntArray, LongArray

_MOST_NODES = 1
"""Branch-and-bound nodes: a count, not seconds, so that the outcome does not depend on the machine. Most is found before branching."""
_DIGITS = 12
"""Decimals of a cost that the program sees: far finer than ``_GAP``, coarser than rounding errors."""
_TINY = np.finfo(np.float64).tiny
_GAP = 1e-5
"""How far from the best the outcome may be, as a share of it."""


class FacilityLocation(NamedTuple):
    """Customers are the records, those that the same cells hold as one; facilities are the cells that may be opened."""

    demand: LongArray
    """How many records each customer stands for."""
    customer: LongArray
    facility: LongArray
    """The pairs of a customer and a facility that may serve it, by customer."""
    cost: FloatArray
    """What a facility costs each record it serves."""
    fixed: BoolArray
    """Whether a facility is open in any case."""
    k: int
    """Records that an open facility serves, at least."""


def solve_facility_location(program: FacilityLocation, seconds: float = np.inf) -> LongArray | None:
    """Return how many records each pair's facility serves of its customer; None if nothing is found in time."""
    from scipy.optimize import Bounds, LinearConstraint, milp  # noqa: PLC0415

    demand, customer, facility, cost, fixed, k = program
    pairs, facilities = len(customer), len(cost)
    free = np.flatnonzero(~fixed[facility])
    every, one = np.arange(pairs), np.ones(pairs)
    placed = _sparse(one, customer, every, (len(demand), pairs + facilities))
    filled = _sparse(
        np.append(one, np.full(facilities, -k)),
        np.append(facility, np.arange(facilities)),
        np.arange(pairs + facilities),
        (facilities, pairs + facilities),
    )
    only_open = _sparse(
        np.append(one[free], -demand[customer[free]]),
        np.tile(np.arange(len(free)), 2),
        np.append(free, pairs + facility[free]),
        (len(free), pairs + facilities),
    )
    limits = {"node_limit": _MOST_NODES, "mip_rel_gap": _GAP} | ({"time_limit": seconds} if seconds < np.inf else {})
    answer = milp(
        np.append(_scaled(cost)[facility], np.zeros(facilities)),
        integrality=np.append(np.zeros(pairs), np.ones(facilities)),
        bounds=Bounds(np.append(np.zeros(pairs), fixed), np.append(demand[customer], np.ones(facilities))),
        constraints=[
            LinearConstraint(placed, demand, demand),
            LinearConstraint(filled, 0.0, np.inf),
            LinearConstraint(only_open, -np.inf, 0.0),
        ],
        options=limits,
    )
    if answer.x is None:
        return None
    moved: LongArray = np.rint(answer.x[:pairs]).astype(np.int64)  # whole numbers up to rounding: the rest is a flow
    size = np.bincount(facility, moved, facilities)
    right = np.array_equal(np.bincount(customer, moved, len(demand)), demand) and ((size == 0) | (size >= k)).all()
    return moved if right else None


def _scaled(cost: FloatArray) -> FloatArray:
    """Return costs as shares of the most expensive: the solver's tolerances are absolute.

    They are rounded, because the solver stops before it has proven the best, and where it stops follows the last digit of its input:
    weights of another unit must not lead to another outcome.
    """
    shares: FloatArray = np.round(cost / max(cost.max(), _TINY), _DIGITS)
    return shares


def _sparse(
    value: FloatArray, row: IntArray | LongArray, column: IntArray | LongArray, shape: tuple[int, int]
) -> object:
    from scipy.sparse import csr_array  # noqa: PLC0415

    return csr_array((value, (row, column)), shape=shape)
