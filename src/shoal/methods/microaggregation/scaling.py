"""A coded table as points between which distances mean something: what microaggregation works on.

Numbers, dates and ordered categories are coordinates, scaled; a missing one is placed at the mean and is set apart by a
coordinate of its own. Categories lie at a squared distance of 1 (no hierarchy) or of the cost of their closest
common ancestor. That distance belongs to a tree, so it can be written as coordinates, one for each
node below the root, and every method for numbers can take it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from shoal.arrays import AnyArray, FloatArray, IntArray, LongArray
from shoal.encoding import CodedColumn, CodedTable, exponent_beyond_reach
from shoal.errors import ParameterError
from shoal.kernels.space.space import Space

Scale = Literal["z", "range", "none"]
SCALES = ("z", "range", "none")
MOST_COORDINATES = 512
"""Categories with more nodes than this in all would make each distance too expensive."""


@dataclass(frozen=True)
class Points:
    """Records as numbers and, if they are kept as such, categories."""

    numbers: FloatArray
    """(n, p)."""
    codes: IntArray
    """Categories, (q, n)."""
    source: LongArray
    """The table's column of each category."""
    factor: FloatArray
    """What a squared distance of 1 counts in each category."""
    space: Space
    """What the closest common ancestor of two codes costs."""

    def take(self, records: LongArray) -> Points:
        """Return only ``records``."""
        numbers = np.ascontiguousarray(self.numbers[records])
        return replace(self, numbers=numbers, codes=np.ascontiguousarray(self.codes[:, records]))


def number_columns(column: CodedColumn, codes: IntArray, scale: str, exponent: int) -> list[FloatArray]:
    """Return the coordinates of a column of numbers: its values over 2 to the ``exponent``, and which are missing if some are."""
    assert column.position is not None  # noqa: S101
    values = np.append(np.ldexp(column.position, -exponent), np.nan)[codes]
    missing = codes == column.missing
    if not missing.any():
        return [scaled(values, scale)]
    values[missing] = 0.0 if missing.all() else values[~missing].mean()
    return [scaled(values, scale), scaled(missing.astype(np.float64), scale)]


def scaled(values: FloatArray, scale: str) -> FloatArray:
    """Return values with mean 0 and standard deviation 1 (population), with range 1, or as they are."""
    if scale == "none":
        return values
    spread = float(values.std() if scale == "z" else np.ptp(values))
    return np.asarray((values - values.mean()) / (spread if spread > 0 else 1.0), np.float64)


def category_nodes(table: CodedTable, row: int) -> tuple[list[list[int]], FloatArray]:
    """Return the nodes above each code, itself included, the root not; and the length of each node's coordinate."""
    column = table.columns[row]
    if column.hierarchy is None:
        return [[code] for code in range(column.cardinality)], np.full(column.cardinality, np.sqrt(0.5))
    start = int(table.space.start[row])
    parent, cost = table.space.node_parent[start:], table.space.node_cost[start:]
    paths = []
    for code in range(column.cardinality):
        path, node = [], code
        # ends: each round goes one level up, and a root is its own parent
        while parent[node] >= 0 and parent[node] != node:
            path.append(node)
            node = int(parent[node])
        paths.append(path)
    length = np.zeros(1 + max((max(path, default=0) for path in paths), default=0))
    for node in {node for path in paths for node in path}:
        length[node] = np.sqrt(max(float(cost[parent[node]] - cost[node]), 0.0) / 2)
    return paths, length


def category_factor(paths: list[list[int]], length: FloatArray, codes: IntArray, scale: str) -> float:
    """Return what a squared distance of 1 counts: with ``"z"``, so much that the column's variance is 1."""
    if scale != "z":
        return 1.0
    share = np.zeros(len(length))
    for code, count in enumerate(np.bincount(codes, minlength=len(paths))):
        share[paths[code]] += count / len(codes)
    variance = float((length**2 * share * (1 - share)).sum())
    return 1.0 / variance if variance > 0 else 1.0


def category_columns(paths: list[list[int]], length: FloatArray, codes: IntArray, factor: float) -> list[FloatArray]:
    """Return the coordinates of a category: one for each node that occurs and does not hold all records."""
    present = np.unique(codes)
    nodes = sorted({node for code in present for node in paths[code]})
    columns = []
    for node in nodes:
        below = np.array([node in path for path in paths])
        if length[node] > 0 and not below[present].all():
            columns.append(below[codes] * (length[node] * np.sqrt(factor)))
    return columns


def _points(table: CodedTable, scale: str, place_category: Callable[[int], list[FloatArray]]) -> FloatArray:
    columns: list[FloatArray] = []
    numbers = [column.position for column in table.columns if column.position is not None]
    common = exponent_beyond_reach(np.concatenate(numbers)) if numbers else 0
    for row, column in enumerate(table.columns):
        if column.position is not None:
            exponent = common if scale == "none" else exponent_beyond_reach(column.position)
            block = number_columns(column, table.codes[row], scale, exponent)
        else:
            block = place_category(row)
        columns.extend(np.sqrt(table.weights[row]) * one for one in block)
    stacked: AnyArray = np.array(columns, np.float64).reshape(len(columns), table.records)
    return np.ascontiguousarray(stacked.T)


def as_coordinates(table: CodedTable, scale: str) -> FloatArray:
    """Return all columns as coordinates, (n, p)."""

    def place(row: int) -> list[FloatArray]:
        paths, length = category_nodes(table, row)
        if len(length) > MOST_COORDINATES:
            raise ParameterError(
                f"The column {table.columns[row].name!r} has {len(length):,} values and groups of values, "
                f"too many for distances in all of them (at most {MOST_COORDINATES}).",
                hint="take the method 'mdav', which compares values pair by pair, or a coarser column.",
            )
        factor = category_factor(paths, length, table.codes[row], scale)
        return category_columns(paths, length, table.codes[row], factor)

    return _points(table, scale, place)


def as_points(table: CodedTable, scale: str) -> Points:
    """Return numbers as coordinates and categories as codes."""
    rows = [row for row, column in enumerate(table.columns) if not column.kind.ordered]
    factors = []
    for row in rows:
        paths, length = category_nodes(table, row)
        factors.append(table.weights[row] * category_factor(paths, length, table.codes[row], scale))
    return Points(
        _points(table, scale, lambda _: []),
        np.ascontiguousarray(table.codes[rows]),
        np.array(rows, np.int64),
        np.array(factors, np.float64),
        table.space,
    )


def is_numeric(table: CodedTable) -> bool:
    """Return whether all columns are numbers, dates or ordered categories."""
    return all(column.kind.ordered for column in table.columns)
