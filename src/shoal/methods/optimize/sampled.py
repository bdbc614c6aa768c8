"""Groups from the boxes of small samples, for large k and for more cells than a search can visit.

A sample of a share f of the records, grouped with k' = f k, has about as many groups as the whole table, and their boxes are about as wide. It is
solved in a fraction of the time, and more thoroughly. The boxes of several samples are opened on the whole table, cheap ones first: each takes
the ungrouped records inside it, if there are at least k. A sample whose k' is still large is sampled in turn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import IntArray
from shoal.kernels.optimize.starts.boxes import open_boxes
from shoal.kernels.space.space import Cover
from shoal.kernels.space.tuples import distinct_rows
from shoal.methods.base import Task
from shoal.methods.optimize.params import FAST_FRAGMENT
from shoal.methods.optimize.problem import CostedCover, costed_cover
from shoal.methods.optimize.search import Search

if TYPE_CHECKING:
    from shoal.methods.optimize.params import SampleParams
    from shoal.methods.optimize.problem import Problem

NAME = "sampled"
"""The name of the start."""
_LEAST_GROUPS = 8
"""Fewest groups of k records that a table must have room for. A sample of a table with fewer groups says little."""
_MOST_SHARE = 0.5
"""Share of the records in a sample, at most."""
_MOST_PAIRS = 1 << 30
"""Pairs of a box and a tuple, at most: each box may have to look at each tuple."""


def samples_pay(search: Search) -> bool:
    """Return whether a search makes a start from samples."""
    problem, params = search.problem, search.params.samples
    if not params.samples or NAME in search.params.without or search.stop.over():
        return False
    boxes = params.samples * problem.records // problem.k
    enough = params.least_k <= problem.k <= problem.records // _LEAST_GROUPS
    return enough and boxes * len(problem.tuples.size) <= _MOST_PAIRS


def group_by_samples(search: Search, solve: Callable[[Search], object]) -> IntArray | None:
    """Return labels of the whole table from the boxes of samples, -1 for records in none; ``solve`` searches a sample.

    None if the boxes of the first sample lose so much that those of the others would not make up for it.
    """
    params, boxes = search.params.samples, [_boxes_of_sample(search, solve, 0)]
    if search.best is not None:
        first = search.problem.completed(_open_all(search.problem, boxes))
        if first.loss > params.close * search.best.loss:
            return None
    boxes += [_boxes_of_sample(search, solve, number) for number in range(1, params.samples)]
    return _open_all(search.problem, boxes)


def _open_all(problem: Problem, parts: list[CostedCover]) -> IntArray:
    """Open the boxes of several samples on the whole table, cheap ones first, and return the labels."""
    boxes = _joined(parts)
    rows, multiplicity = distinct_rows(problem.table.codes, problem.tuples)
    label = np.full(len(rows), -1, np.int32)
    order = np.argsort(boxes.cost, kind="stable")
    open_boxes(problem.space, rows, multiplicity, boxes.cover, order, problem.k, label)
    return label[problem.tuples.label]


def share_of(params: SampleParams, k: int) -> float:
    """Return the share of the records in a sample, so large that the groups of the sample are not too small."""
    return min(_MOST_SHARE, max(params.share, params.least_k_of_sample / k))


def _boxes_of_sample(search: Search, solve: Callable[[Search], object], number: int) -> CostedCover:
    """Group a sample at effort "fast" and return the boxes of its groups."""
    problem, stop = search.problem, search.stop
    share = share_of(search.params.samples, problem.k)
    records = _draw(problem, share, number)
    table = problem.table.with_codes(np.ascontiguousarray(problem.table.codes[:, records]))
    task = Task(max(2, round(share * problem.k)), effort="fast", seed=problem.seed + number, cancel=stop.cancel)
    part = Search.of(table, task, FAST_FRAGMENT)
    if stop.timed:
        part.stop = replace(part.stop, begin=stop.begin, deadline=stop.deadline, clock=stop.clock)
    solve(part)
    found = part.incumbent
    return costed_cover(table, found.labels, found.groups)


def _draw(problem: Problem, share: float, number: int) -> IntArray:
    """Draw some records, in their order."""
    draw = np.random.default_rng([problem.seed, problem.records, number])
    drawn = draw.choice(problem.records, round(share * problem.records), replace=False)
    return np.sort(drawn).astype(np.int32)


def _joined(parts: list[CostedCover]) -> CostedCover:
    """Return the boxes of several samples together."""
    cover = Cover(
        np.concatenate([one.cover.low for one in parts], axis=1),
        np.concatenate([one.cover.high for one in parts], axis=1),
        np.concatenate([one.cover.words for one in parts]),
        np.concatenate([one.cover.size for one in parts]),
    )
    return CostedCover(cover, np.concatenate([one.cost for one in parts]))
