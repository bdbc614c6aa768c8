"""Who else could fill a narrower cell, and what that would cost."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.arrays import BoolArray, FloatArray, LongArray
from shoal.encoding import CodedTable
from shoal.explanation.question import Question, cells_text
from shoal.kernels.common.sums import sum_of_products
from shoal.report.words import counted, percent


def other_way(cell: Question, inside: LongArray, narrower: str, left: LongArray) -> tuple[dict[str, Any], str]:
    """Fill the narrower cell up to k with the nearest other people, and say what that would cost this person."""
    need = cell.release.recipe.k - cell.hiding(left)
    near = _within(cell, inside)
    near[cell.members] = False
    candidates = np.flatnonzero(near)
    if cell.hiding(np.concatenate([left, candidates])) < cell.release.recipe.k:
        people = counted(cell.people(np.concatenate([left, candidates])), "person", "people")
        told = f"In the whole table only {people} fit {narrower}, so {cell.name} itself forces it."
        return {"forced_by": cell.name}, told
    chosen = np.concatenate([left, _nearest(cell, left, candidates, need)])
    now, then = _costs(cell.coded, cell.members), _costs(cell.coded, chosen)
    weights = cell.coded.weights / cell.coded.weights.sum()
    growth = (then - now) * weights
    growth[cell.place] = -np.inf
    worst = int(growth.argmax())
    cost_now, cost_then = sum_of_products(now, weights), sum_of_products(then, weights)
    more = {"forced_by": cell.coded.names[worst], "cost_now": cost_now, "cost_then": cost_then}
    if growth[worst] <= 0:
        told = (
            f"Others who fit {narrower} are near, but their own groups need them. "
            f"With k = {max(cell.hiding(left), 2)} it could be narrower."
        )
        return more, told
    wide = cells_text(cell.coded, worst, np.unique(cell.coded.codes[worst][chosen]).astype(np.int64))
    told = (
        f"To keep {narrower}, {cell.coded.names[worst]} would have to be as wide as {wide}: this person would lose "
        f"{percent(cost_then)} of the detail instead of {percent(cost_now)}."
    )
    return more, told


def _within(cell: Question, inside: LongArray) -> BoolArray:
    """Return which records have a value in the narrower cell: between its ends, below its node, or in its set."""
    column = cell.coded_column
    found: BoolArray = np.isin(cell.codes, inside if column.missing in inside else column.kind.shown(column, inside))
    return found


def _nearest(cell: Question, group: LongArray, candidates: LongArray, number: int) -> LongArray:
    """Return the candidates that cost least to join a group, ties: the first; one record for each who is counted."""
    coded = cell.coded
    total = np.zeros(len(candidates))
    for place, weight in enumerate(coded.weights):
        present = np.unique(coded.codes[place][group]).astype(np.int64)
        total += weight * join_costs(coded, place, present)[coded.codes[place][candidates]]
    order: LongArray = candidates[np.argsort(total, kind="stable")]
    for unit in coded.units.values():
        order = order[~np.isin(unit[order], unit[group])]
        order = order[np.sort(np.unique(unit[order], return_index=True)[1])]
    return order[:number]


def _costs(coded: CodedTable, records: LongArray) -> FloatArray:
    """Return what each column costs if these records are one group."""
    costs = np.empty(len(coded.columns))
    for place in range(len(coded.columns)):
        present = np.unique(coded.codes[place][records]).astype(np.int64)
        costs[place] = join_costs(coded, place, present)[present[0]]
    return costs


def join_costs(coded: CodedTable, place: int, present: LongArray) -> FloatArray:
    """Return, for each code of a column, what the codes ``present`` and it cost when they are released together."""
    column, space = coded.columns[place], coded.space
    codes = np.arange(column.cardinality)
    low, high = np.minimum(codes, present[0]), np.maximum(codes, present[-1])
    costs = column.kind.join_costs(column, present, float(space.domain[place]))
    if column.has_missing:
        costs[high == column.missing] = 1.0
    costs[low == high] = 0.0
    return np.asarray(costs, np.float64)
