"""Means, quantiles and cross tables of coarsened columns, with the bounds that hold for every table inside the cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from shoal_reader.columns import Bools, Column, Floats

Codes = npt.NDArray[np.intp]


def mean(column: Column, by: Column | None, *, bounds: bool) -> Any:
    """Return the mean, overall or by the values of another column."""
    return _by_group(column, by, bounds, _weighted_mean, _least_mean)


def quantile(column: Column, q: float, by: Column | None, *, bounds: bool) -> Any:
    """Return the smallest value with at least a share ``q`` of the records at or below it."""

    def plain(values: Floats, weights: Floats) -> float:
        return _quantile(values, weights, q)

    def least(certain: Floats, possible: Floats) -> float:
        return _least_quantile(certain, possible, q)

    def least_of_negated(certain: Floats, possible: Floats) -> float:
        return _least_quantile(certain, possible, q, negated=True)

    return _by_group(column, by, bounds, plain, least, least_of_negated)


def crosstab(row: Column, column: Column, *, bounds: bool) -> pd.DataFrame:
    """Return the expected number of records for each pair of values; the two are independent inside a cell."""
    (first, rows), (second, columns) = _categories(row), _categories(column)
    left, right, often = _pairs(row, column)
    expected = _spread(row, first)[left].T @ (_spread(column, second)[right] * often)
    index, heads = pd.Index(rows, name=row.name), pd.Index(columns, name=column.name)
    table = pd.DataFrame(expected, index, heads)
    if not bounds:
        return table
    certain = (first & _alone(first))[left].T @ ((second & _alone(second))[right] * often)
    possible = first[left].T.astype(np.float64) @ (second[right] * often)
    parts = {
        "expected": table,
        "low": pd.DataFrame(certain, index, heads),
        "high": pd.DataFrame(possible, index, heads),
    }
    return pd.concat({name: part.stack() for name, part in parts.items()}, axis=1)


def _pairs(row: Column, column: Column) -> tuple[Codes, Codes, Floats]:
    """Return the distinct pairs of cells, and how many records have each."""
    pairs, often = np.unique(row.which * len(column.cells) + column.which, return_counts=True)
    return pairs // len(column.cells), pairs % len(column.cells), often[:, None].astype(np.float64)


def _categories(column: Column) -> tuple[Bools, list[Any]]:
    """Return which values each cell stands for; each number of an exact column is a category."""
    if not column.measured:
        return column.members, list(column.values)
    known = np.flatnonzero(~column.missing)
    order = known[np.argsort(column.low[known], kind="stable")]
    members = np.zeros((len(column.cells), len(order)), np.bool_)
    members[order, np.arange(len(order))] = True
    return members, list(column.numbers(column.low[order]))


def _spread(column: Column, members: Bools) -> Floats:
    """Return the chance of each value in each cell."""
    if not column.measured:
        return column.shares
    return np.asarray(members / np.maximum(members.sum(axis=1, keepdims=True), 1), np.float64)


def _alone(members: Bools) -> Bools:
    return np.asarray(members.sum(axis=1, keepdims=True) == 1, np.bool_)


Plain = Callable[[Floats, Floats], float]
Least = Callable[[Floats, Floats], float]


def _by_group(
    column: Column, by: Column | None, bounds: bool, plain: Plain, least: Least, least_negated: Least | None = None
) -> Any:
    known = ~column.missing[column.which]
    low, high = (ends.astype(np.float64)[column.which][known] for ends in (column.low, column.high))
    middle = column.centers[column.which][known]

    def answer(weights: Floats) -> list[float]:
        inside, certain = weights > 0, weights >= 1
        found = [plain(middle[inside], weights[inside])]
        if bounds:
            perhaps = inside & ~certain
            found.append(least(low[certain], low[perhaps]))
            found.append(-(least_negated or least)(-high[certain], -high[perhaps]))
        return found

    names = ["estimate", "low", "high"][: 3 if bounds else 1]
    if by is None:
        found = dict(zip(names, _shown(column, answer(np.ones(int(known.sum())))), strict=True))
        return pd.Series(found, name=column.name) if bounds else found["estimate"]
    members, values = _categories(by)
    shares = _spread(by, members)[by.which[known]]
    rows = [_shown(column, answer(shares[:, place])) for place in range(len(values))]
    table = pd.DataFrame(rows, index=pd.Index(values, name=by.name), columns=names)
    return table if bounds else table["estimate"].rename(column.name)


def _shown(column: Column, numbers: list[float]) -> list[Any]:
    """Return dates as dates."""
    if column.told.kind in {"date", "datetime"}:
        return [pd.NaT if np.isnan(one) else column.numbers(np.array([one]))[0] for one in numbers]
    return list(numbers)


def _weighted_mean(values: Floats, weights: Floats) -> float:
    return float(np.average(values, weights=weights)) if len(values) else float("nan")


def _least_mean(certain: Floats, possible: Floats) -> float:
    """Return the lowest mean of the certain values and any of the possible ones: the lowest of these are taken while they help."""
    possible = np.sort(possible)
    total = certain.sum() + np.r_[0.0, np.cumsum(possible)]
    count = len(certain) + np.arange(len(possible) + 1)
    means = np.full(len(count), np.inf)
    np.divide(total, count, out=means, where=count > 0)
    return float(means.min()) if np.isfinite(means).any() else float("nan")


def _quantile(values: Floats, weights: Floats, q: float) -> float:
    if not len(values):
        return float("nan")
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    return float(values[order][min(int(np.searchsorted(reached, q * reached[-1] - 1e-9)), len(values) - 1)])


def _least_quantile(certain: Floats, possible: Floats, q: float, *, negated: bool = False) -> float:
    """Return the lowest quantile of the certain values and any of the possible ones.

    A value below the quantile can only lower it, a value above can only raise it. So the lowest possible ones are taken while they
    are below the quantile so far. The answer to that changes from yes to no once, which halving finds.
    """
    certain, possible = np.sort(certain), np.sort(possible)
    if not len(certain):
        return float(possible[0]) if len(possible) else float("nan")

    def with_lowest(count: int) -> float:
        return _discrete(np.sort(np.r_[certain, possible[:count]]), q, negated=negated)

    low, high = 0, len(possible)
    while low < high:  # ends: the distance halves
        middle = (low + high) // 2
        if possible[middle] < with_lowest(middle):
            low = middle + 1
        else:
            high = middle
    return with_lowest(low)


def _discrete(ordered: Floats, q: float, *, negated: bool) -> float:
    """Return the quantile of sorted values; of negated ones, the one whose opposite is the quantile of the values."""
    count = len(ordered)
    rank = max(int(np.ceil(q * count - 1e-9)), 1) - 1
    return float(ordered[count - 1 - rank if negated else rank])
