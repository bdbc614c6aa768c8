"""Groups from prices: which cells to open follows from what each record should pay."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shoal.methods.optimise_start import CHUNK
from shoal.typing import FloatArray, IntArray, LongArray, Progress

if TYPE_CHECKING:
    from shoal.encoding import CodedTable
    from shoal.kernels.optimise_ladder import Ladder
    from shoal.kernels.optimise_offers import Offers
    from shoal.kernels.optimise_prices import Climb
    from shoal.kernels.optimise_worth import Cells
    from shoal.kernels.tuples import Tuples

MOST_TUPLES = 1 << 16
"""Distinct tuples up to which prices are looked for."""
MOST_CELLS = 1 << 19
"""Cells that a store may keep."""
_MOST_MEMBERS = 1 << 25
"""Tuples of all these cells together."""
_BELOW_PAID = 0.93
"""The first prices, as a share of what records pay in the best grouping so far."""
_MARGINS = (0.1, 0.25, 0.25, 0.25, 0.25)
"""How far prices may rise after each walk, in multiples of what a record pays in the mean: a wider margin keeps more cells."""
_LOOKS = 150_000_000
"""Looks at the tuples of cells after each walk: so many strides are made, within bounds."""
_STRIDES = (40, 150)
_AT_ONCE = 10
"""Strides between two looks at the clock."""
_ALLOWED = 1.0
"""What an opened cell may lack, in multiples of what k records pay in the mean."""
WORTH_A_TRY = 0.15
"""What a cell may lack that is opened later on to try it, in multiples of what k records pay in the mean."""
_ROUNDING = 1.0 - 1e-9


class Priced(NamedTuple):
    """What prices gave."""

    labels: IntArray
    """Groups of the cells opened, -1 for records in none."""
    bound: float
    """No grouping costs less."""
    offers: Offers
    """Cells that are worth a try later on."""


def group_by_prices(
    table: CodedTable,
    tuples: Tuples,
    k: int,
    paid: FloatArray,
    looks: int,
    seed: int,
    progress: Progress,
    deadline: float,
) -> Priced | None:
    """Return groups of the cells that prices open, and the bound of the prices; None where cells are too many or time is short.

    All columns must have a hierarchy: a walk over cells knows some ranges of numbers only.

    Parameters
    ----------
    paid
        What each record costs in a known grouping.
    looks
        How often a tuple may be looked at in one walk over the cells, in the mean.
    """
    from shoal.kernels.chance import make_state  # noqa: PLC0415  (numba is imported when first needed)
    from shoal.kernels.optimise_ladder import MOST_LEVELS, build_ladder  # noqa: PLC0415
    from shoal.kernels.optimise_prices import open_cells, raise_ceilings  # noqa: PLC0415

    many, known, mean = tuples.size.astype(np.int32), float(paid.sum()), float(paid.mean())
    rows = np.ascontiguousarray(table.codes.T[tuples.first])
    ladder = build_ladder(table.space, rows, k, 2.0, make_state(seed, 2))  # the ratio is for windows of numbers
    if np.diff(ladder.first).max() >= MOST_LEVELS:  # of a higher tree some levels are left out
        return None
    levels = _levels(ladder)
    climb = start_climb(tuples, paid)
    cells, bound = None, 0.0
    for number, margin in enumerate(_MARGINS):
        raise_ceilings(climb, margin * mean)
        walked = _walk(levels, climb, k, looks * len(many), seed, deadline)
        if walked is None:
            break
        cells = walked
        bound = max(bound, _climb(cells, climb, k, known, deadline))
        progress(0.3 * (number + 1) / len(_MARGINS), "pricing cells")
    if cells is None:
        return None
    order = np.argsort(tuples.label, kind="stable")
    start = np.concatenate(([0], np.cumsum(tuples.size)))
    labels = np.full(table.records, -1, np.int32)
    open_cells(cells, climb, k, _ALLOWED * k * mean, start, order, labels)
    return Priced(labels, bound * _ROUNDING, offer_cells(cells, climb, tuples.label, k, WORTH_A_TRY * k * mean))


def start_climb(tuples: Tuples, paid: FloatArray) -> Climb:
    """Return first prices, from what each record costs in a known grouping."""
    from shoal.kernels.optimise_prices import make_climb  # noqa: PLC0415

    many = tuples.size.astype(np.int32)
    return make_climb(_BELOW_PAID * np.bincount(tuples.label, paid) / many, many)


def offer_cells(cells: Cells, climb: Climb, tuple_of: IntArray, k: int, allowed: float) -> Offers:
    """Return the cells that lack less than ``allowed``, with tuples numbered by falling price."""
    from shoal.kernels.optimise_offers import Offers, transpose  # noqa: PLC0415
    from shoal.kernels.optimise_prices import weigh_cells  # noqa: PLC0415

    order = np.argsort(-climb.best, kind="stable")
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order))
    used = cells.used[0]
    worth, sizes = weigh_cells(cells, climb, k, allowed), np.diff(cells.start[: used + 1])
    kept = worth > 0.0
    start = np.concatenate(([0], np.cumsum(sizes[kept])))
    member = rank[cells.member[: cells.start[used]][np.repeat(kept, sizes)]]
    by_tuple = transpose(start, member, len(order))
    by_cell = transpose(*by_tuple, len(start) - 1)  # twice: then the tuples of a cell come by falling price
    return Offers(
        rank[tuple_of], climb.best[order], *by_cell, cells.cost[:used][kept], worth[kept] - allowed, *by_tuple
    )


def _climb(cells: Cells, climb: Climb, k: int, known: float, deadline: float) -> float:
    """Better the prices over the cells of one walk and return the bound they prove."""
    from shoal.kernels.optimise_prices import climb_prices  # noqa: PLC0415

    strides = int(np.clip(_LOOKS // max(int(cells.start[cells.used[0]]), 1), *_STRIDES))
    bound = 0.0
    for _ in range(0, strides, _AT_ONCE):
        if time.monotonic() > deadline:
            break
        bound = climb_prices(cells, climb, k, known, _AT_ONCE)
    return bound


class _Levels(NamedTuple):
    """Where tuples lie at each level of each column, and what that costs."""

    first: LongArray
    cell: IntArray
    cost: FloatArray


def _levels(ladder: Ladder) -> _Levels:
    """Number the cells of each level. Columns whose first step is dear come first, for they end most walks early."""
    columns = list(pairwise(ladder.first))
    columns.sort(key=lambda levels: -ladder.cost[min(levels[0] + 1, levels[1] - 1)])
    order = np.concatenate([np.arange(*levels) for levels in columns])
    first = np.concatenate(([0], np.cumsum([end - begin for begin, end in columns])))
    cell = np.array([np.unique(marks, return_inverse=True)[1] for marks in ladder.mark[order]], np.int32)
    return _Levels(first, cell, ladder.price[order])


def _walk(levels: _Levels, climb: Climb, k: int, looks: int, seed: int, deadline: float) -> Cells | None:
    """Keep all cells worth something at the ceiling; None where there is no room or no time."""
    from shoal.kernels.chance import make_state  # noqa: PLC0415
    from shoal.kernels.optimise_walk import collect, start_walk  # noqa: PLC0415
    from shoal.kernels.optimise_worth import make_cells  # noqa: PLC0415

    tuples = len(climb.many)
    walk = start_walk(len(levels.first) - 1, tuples)
    cells = make_cells(tuples, _MOST_MEMBERS, MOST_CELLS, make_state(seed, 3))
    while walk.depth[0] >= 0:
        if cells.used[1] or looks <= 0 or time.monotonic() > deadline:
            return None
        collect(*levels, walk, climb.many, k, climb.ceiling, cells, min(looks, CHUNK))
        looks -= CHUNK
    return cells
