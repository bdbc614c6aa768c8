"""First groups: Mondrian's cuts, generalization cells, groups grown record by record, and what other methods find.

``STARTS`` lists them in the order in which they are tried. Growing suits sets, many columns and plain numbers, if cells are few or too
many; whether it pays is measured on a part of the table.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import IntArray, LongArray, Progress
from shoal.kernels.common.random_state import BLOCKS, LEVELS, make_state
from shoal.kernels.optimize.cells.best_first import run_cell_search, start_cell_search
from shoal.kernels.optimize.cells.levels import build_levels
from shoal.kernels.optimize.starts.grow import grow_all
from shoal.kernels.optimize.state.groups import total_cost
from shoal.kernels.optimize.state.regions import cut_into_blocks
from shoal.kernels.space.tuples import distinct_rows, distinct_tuples
from shoal.methods.base import Method, say_nothing
from shoal.methods.k_member import KMember
from shoal.methods.local_recoding import BottomUp, TopDown
from shoal.methods.mondrian import Mondrian
from shoal.methods.optimize.params import EFFORTS, ConstructParams, block_for
from shoal.methods.stopping import Stop, cancellable

if TYPE_CHECKING:
    from shoal.encoding import CodedTable
    from shoal.kernels.optimize.cells.levels import Levels
    from shoal.methods.optimize.problem import Solution
    from shoal.methods.optimize.search import Search

_BLOCK = 1 << 16
"""Most distinct tuples whose cells are searched together; it bounds the memory."""
_LEAST_PROGRESS = 0.0025
"""A large lattice is given up when a chunk of visits finds cells for a smaller share of the tuples than this, on average: cuts take the rest."""
_PATIENCE = 0.125
"""The share of all visits over which that mean is taken: tuples find cells in bursts, with none for a while between them."""
_LARGE_LATTICE = 8
"""A lattice is large if it has more combinations of levels than this many times the visits of a tuple.

A smaller one is searched to its end: the cells of large groups come late, and a combination takes one visit of each tuple.
"""
QUEUE = 1 << 19
"""Combinations of levels in the queue, at most."""
CHUNK = 10_000_000
"""Visits of records between two progress reports."""

Starts = dict[str, "Solution"]


@dataclass(frozen=True)
class Start:
    """A way to make first groups."""

    name: str
    labels: Callable[[Search], list[IntArray]]
    """Returns a list of labels: none if the start does not pay, else one, or two if a search gives its groups of an earlier moment too (``early-NAME``). A record without a group is -1."""
    applies: Callable[[Search, Starts], bool] = lambda search, _: not search.stop.over()
    """Whether it is tried, given the starts so far."""
    replaces: str = ""
    """The name of another start that this one replaces if it loses less."""


def construct(search: Search) -> Starts:
    """Make all starts that apply, complete them and return them by name; the best one becomes the incumbent."""
    starts: Starts = {}
    for start in STARTS:
        if start.name not in search.params.without and start.applies(search, starts):
            names = (start.replaces or start.name, f"early-{start.name}")
            for name, labels in zip(names, start.labels(search), strict=False):
                keep_start(search, starts, name, labels)
    return starts


def keep_start(search: Search, starts: Starts, name: str, labels: IntArray) -> None:
    """Complete a start and keep it, unless there is a better one of that name."""
    found = search.problem.completed(labels)
    if name not in starts or found.loss < starts[name].loss:
        starts[name] = found
    search.keep_if_best(found)


def _other_method(method: Method) -> Callable[[Search], list[IntArray]]:
    def labels(search: Search) -> list[IntArray]:
        quietly = replace(search.task, progress=cancellable(say_nothing, search.task.cancel))
        return [method.run(search.problem.table, quietly).labels]

    return labels


def _cells(params: ConstructParams | None = None) -> Callable[[Search], list[IntArray]]:
    """Return a start by cells, with other parameters than those of the search if some are given, but no more visits than it allows."""

    def labels(search: Search) -> list[IntArray]:
        problem, chosen = search.problem, params or search.params.construct
        chosen = replace(chosen, visits=min(chosen.visits, search.params.construct.visits))
        return find_cells(problem.table, problem.k, chosen, problem.seed, search.reporter.report, search.stop)

    return labels


def _finer_windows_pay(search: Search, starts: Starts) -> bool:
    """Return whether narrower windows of numbers are tried: the first cells must not be far behind."""
    if "cells" not in starts or search.stop.over():
        return False
    by_windows = any(one.kind.ordered for one in search.problem.table.columns)
    finer = search.params.construct.window_ratio < EFFORTS["fast"].construct.window_ratio
    return by_windows and finer and search.incumbent.loss * search.params.annealing.close >= starts["cells"].loss


def _is_small(search: Search, _: Starts) -> bool:
    return search.problem.records <= search.params.construct.k_member_records and not search.stop.over()


def _others_wanted(search: Search, _: Starts) -> bool:
    return search.params.construct.other_methods and not search.stop.over()


def _grown(search: Search) -> list[IntArray]:
    """Grow groups in blocks of near records, if one of the blocks shows that this pays."""
    problem = search.problem
    table, k, seed = problem.table, problem.k, problem.seed
    blocks = near_blocks(table, problem.rows, block_for(search.params, k, problem.columns), seed)
    middle = len(blocks) // 2
    sample, cost = grow_block(table, blocks[middle], k, seed)
    if len(blocks) > 1 and search.best and cost >= problem.cost_by_record(search.incumbent)[blocks[middle]].sum():
        return []
    labels, used = np.empty(table.records, np.int32), 0
    for number, block in enumerate(blocks):
        grown = sample if number == middle else grow_block(table, block, k, seed)[0]
        labels[block] = used + grown
        used += int(grown.max()) + 1
        search.reporter.report(0.2 + 0.1 * (number + 1) / len(blocks), "growing groups")
    return [labels]


STARTS: list[Start] = [
    Start("cuts", _other_method(Mondrian()), lambda *_: True),
    Start("cells", _cells(EFFORTS["fast"].construct), lambda *_: True),
    Start("k-member", _other_method(KMember()), _is_small),
    Start("bottom-up", _other_method(BottomUp()), _others_wanted),
    Start("top-down", _other_method(TopDown()), _others_wanted),
    Start("grown", _grown),
    Start("finer-cells", _cells(), _finer_windows_pay, replaces="cells"),
]


def near_blocks(table: CodedTable, rows: IntArray, most: int, seed: int) -> list[IntArray]:
    """Divide rows into blocks of at most ``most`` near ones."""
    ones = np.ones(len(rows), np.int32)
    order, starts = cut_into_blocks(table.space, rows, ones, most, make_state(seed, BLOCKS))
    return [order[begin:end] for begin, end in pairwise(starts)]


def find_cells(
    table: CodedTable, k: int, params: ConstructParams, seed: int, progress: Progress, stop: Stop
) -> list[IntArray]:
    """Label records by the cheapest cells that hold k of them; -1 if none was found within the visits allowed.

    If few records found a cell for a while, the labels of that moment come second: they leave the others to their
    neighbours, and neither way is always the better one.
    Tables of more than one block get a tenth of the visits, so that they stay quick.
    """
    tuples = distinct_tuples(table.codes)
    rows, multiplicity = distinct_rows(table.codes, tuples)
    blocks = near_blocks(table, rows, _BLOCK, seed)
    if len(blocks) > 1:
        params = replace(params, visits=params.visits // 10)
    found, groups, paused = np.full((2, len(multiplicity)), -1, np.int32), 0, False
    for number, block in enumerate(blocks):
        early, labels, used = _search_block(table, rows[block], multiplicity[block], k, params, seed, stop)
        paused |= early is not None and not np.array_equal(early, labels)
        for row, these in zip(found, (labels, labels if early is None else early), strict=True):
            row[block] = np.where(these < 0, -1, these + groups)
        groups += used
        progress(0.2 * (number + 1) / len(blocks), "looking for cells")
    return [row[tuples.label] for row in found[: 1 + paused]]


def _search_block(
    table: CodedTable, rows: IntArray, multiplicity: IntArray, k: int, params: ConstructParams, seed: int, stop: Stop
) -> tuple[IntArray | None, IntArray, int]:
    """Return labels when the search first stalled, if it did, labels at its end, and how many groups these have."""
    levels = build_levels(table.space, rows, k, params.window_ratio, make_state(seed, LEVELS))
    search, tuples = start_cell_search(levels, QUEUE), len(multiplicity)
    patience = max(1, int(_PATIENCE * params.visits * tuples) // CHUNK) if _is_large(levels, params) else math.inf
    alive, early = [tuples], None
    left = params.visits * tuples
    # ends: each round spends visits, of which there is a number
    while left > 0 and not stop.over():
        budget = min(left, CHUNK)
        if run_cell_search(levels, multiplicity, k, search, budget) < budget:
            break
        left -= budget
        alive.append(int(search.state[0]))
        if early is None and alive[-2] - alive[-1] < _LEAST_PROGRESS * tuples:
            early = search.label.copy()
        if len(alive) > patience and alive[-1 - int(patience)] - alive[-1] < patience * _LEAST_PROGRESS * tuples:
            break
    return early, search.label, int(search.state[1])


def _is_large(levels: Levels, params: ConstructParams) -> bool:
    """Return whether the lattice has far more combinations of levels than can be visited."""
    return combinations(levels.first) > _LARGE_LATTICE * params.visits


def combinations(first: LongArray) -> float:
    """Return the number of combinations of one level a column, where the levels of each begin at ``first``."""
    return float(np.prod(np.diff(first), dtype=np.float64))


def grow_block(table: CodedTable, records: IntArray, k: int, seed: int) -> tuple[IntArray, float]:
    """Grow groups from random records of a block, each time adding the cheapest; return labels and their cost."""
    groups = grow_all(table.space, np.ascontiguousarray(table.codes.T[records]), k, seed)
    return groups.label, float(total_cost(groups))
