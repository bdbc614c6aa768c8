"""The loss in a reader's terms: how many cells are exact, how many values a typical cell stands for, and how much is left to guess.

The normalized certainty penalty divides by the size of the domain, so that a column of 800 values whose cells hold ten each has lost 1 %. A reader who
wants to know which of ten jobs somebody has does not agree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import AnyArray, FloatArray
from shoal.encoding import CodedColumn
from shoal.metrics.base import Outcome


class Felt(NamedTuple):
    """What became of the cells of one column."""

    exact: float
    """The share of records whose cell is one value; withheld records have none."""
    typical: float
    """The number of values of the table that a cell stands for: the median over records."""
    different: int
    """The number of different cells."""
    guess: float
    """The share of the information of a value (its entropy) that is lost, by how frequent the values of a cell are; 0 to 1."""


class FeltTable(NamedTuple):
    """What became of all recoded cells."""

    columns: dict[str, Felt]
    exact: float
    """The share of all cells that are one value."""
    typical: float | None
    """The median number of values of the cells that are not exact; None if all are."""


def felt(outcome: Outcome) -> FeltTable:
    """Return how coarse cells are, column by column and over all."""
    columns, coarse, weights = {}, [], []
    for row, column in enumerate(outcome.table.columns):
        inside = _values_inside(outcome, row, column)
        size = np.append(outcome.size, outcome.suppressed)
        width = np.append(inside, column.cardinality)
        columns[column.name] = Felt(
            exact=float(size[:-1][inside <= 1].sum() / max(size.sum(), 1)),
            typical=_median(width, size),
            different=_different(outcome, row, column),
            guess=_guess(outcome, row, column),
        )
        coarse.append(width[width > 1])
        weights.append(size[width > 1])
    wide, often = np.concatenate(coarse), np.concatenate(weights)
    exact = float(np.mean([one.exact for one in columns.values()]))
    return FeltTable(columns, exact, _median(wide, often) if often.sum() else None)


def _values_inside(outcome: Outcome, row: int, column: CodedColumn) -> FloatArray:
    """Return how many values of the table the cell of each group stands for."""
    if column.kind.by_members:
        return np.asarray(_members(outcome, row).sum(axis=1), np.float64)
    low, high = _reach(outcome, row, column)
    return np.asarray(high - low + 1, np.float64)


def _reach(outcome: Outcome, row: int, column: CodedColumn) -> tuple[AnyArray, AnyArray]:
    """Return the codes that the cell of each group shows, from the lowest to the highest: all leaves of a node, all codes if a missing value is mixed in."""
    low, high = outcome.cover.low[row].astype(np.int64), outcome.cover.high[row].astype(np.int64)
    mixed = (high == column.missing) & (low != high)
    if column.hierarchy is not None:
        known = ~mixed & (low != high)
        node = column.tree.nodes_above(np.where(known, low, 0), np.where(known, high, 0))
        low = np.where(known, column.tree.low[node], low)
        high = np.where(known, column.tree.high[node], high)
    return np.where(mixed, 0, low), np.where(mixed, column.cardinality - 1, high)


def _members(outcome: Outcome, row: int) -> AnyArray:
    """Return which codes the set of each group holds."""
    start = outcome.table.space.word_start
    words = np.ascontiguousarray(outcome.cover.words[:, start[row] : start[row + 1]])
    return np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")[:, : outcome.table.columns[row].cardinality]


def _different(outcome: Outcome, row: int, column: CodedColumn) -> int:
    """Return the number of different cells; withheld records show none."""
    if column.kind.by_members:
        return len(np.unique(_members(outcome, row), axis=0))
    return len(np.unique(np.stack(_reach(outcome, row, column), axis=1), axis=0))


def _guess(outcome: Outcome, row: int, column: CodedColumn) -> float:
    """Return the non-uniform entropy loss (Gionis and Tassa 2009, *k-Anonymization with minimal loss of information*) as a share of the entropy of the column."""
    codes = outcome.table.codes[row]
    often = np.bincount(codes, minlength=column.cardinality).astype(np.float64)
    whole = float(-(often[often > 0] * np.log2(often[often > 0] / often.sum())).sum())
    if whole <= 0:
        return 0.0
    if column.kind.by_members:
        inside = _members(outcome, row).astype(np.float64) @ often
    else:
        before = np.append(0.0, np.cumsum(often))
        low, high = _reach(outcome, row, column)
        inside = before[high + 1] - before[low]
    kept = outcome.labels >= 0
    reach = np.where(kept, inside[outcome.labels * kept] if len(inside) else often.sum(), often.sum())
    return float(np.log2(reach / often[codes]).sum() / whole)


def _median(values: AnyArray, weights: AnyArray) -> float:
    """Return the weighted median: the smallest value with half of the weight at or below it."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(reached, reached[-1] / 2)]) if len(values) else 0.0
