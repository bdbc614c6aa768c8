"""Mondrian multidimensional partitioning (LeFevre, DeWitt, Ramakrishnan 2006), the baseline "MultiDim" of Xu et al. 2006."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from shoal.arrays import IntArray
from shoal.kernels import mondrian as kernels
from shoal.kernels.common.sums import sum_of_products
from shoal.kernels.space.space import cover_groups, group_costs
from shoal.methods.base import Grouping, Method, MethodInfo, Task
from shoal.validation import check_choice

if TYPE_CHECKING:
    from shoal.encoding import CodedColumn, CodedTable

_CHUNK = 4_000_000
"""Records touched between two progress reports."""


@dataclass(frozen=True)
class Mondrian(Method):
    """Cut the table at the median of its widest column, again and again, while both sides keep k records.

    Parameters
    ----------
    strict
        True: records with equal values stay on the same side (multidimensional recoding).
        False ("relaxed"): records at the median may go to either side, so sizes stay below 2k.
    categories
        ``"order"``: hierarchy columns are cut at the median leaf. ``"tree"``: they are cut into the
        children of their node, as the hierarchy says.
    cut
        Strict cuts: ``"nearest"``, at the place nearest to the median that leaves k on both sides; ``"median"``, at the median or
        not at all, as the paper prints it and those who compare with it seem to have built it. A set has no median: its values come by falling
        frequency, and with ``"nearest"`` all is cut twice, once where the records of a set are halved and once where its values are; what
        loses less is taken.
    order
        How values without an order are numbered before they are cut: columns of sets, and hierarchies of one level. ``"sizes"``: by falling number
        of records. ``"given"``: as the hierarchy lists them, which is the alphabet for a column without one. The papers do not say; it
        decides what a cut at the median alone can do.

    Examples
    --------
    >>> import shoal
    >>> people = {"age": [21, 22, 23, 45, 46, 47], "sex": ["f", "f", "f", "m", "m", "m"]}
    >>> shoal.anonymize(people, k=3, quasi_identifiers=["age", "sex"], method=shoal.Mondrian(strict=False)).groups.tolist()
    [0, 0, 0, 1, 1, 1]
    """

    strict: bool = True
    categories: Literal["order", "tree"] = "order"
    cut: Literal["nearest", "median"] = "nearest"
    order: Literal["sizes", "given"] = "sizes"

    info: ClassVar[MethodInfo] = MethodInfo(
        name="mondrian",
        title="Mondrian",
        family="multidimensional",
        paper="LeFevre, DeWitt, Ramakrishnan 2006 (the baseline of Xu et al. 2006)",
        complexity="O(m n log n)",
    )

    def __post_init__(self) -> None:
        check_choice("Mondrian", "categories", self.categories, ("order", "tree"))
        check_choice("Mondrian", "cut", self.cut, ("nearest", "median"))
        check_choice("Mondrian", "order", self.order, ("sizes", "given"))

    def run(self, table: CodedTable, task: Task) -> Grouping:
        """Group the records of ``table``."""
        modes = self._modes(table)
        found = [self._run(table, task, mode, turn / len(modes), 1 / len(modes)) for turn, mode in enumerate(modes)]
        return min(found, key=partial(_cost, table)) if len(found) > 1 else found[0]

    def _run(self, table: CodedTable, task: Task, mode: int, begin: float, share: float) -> Grouping:
        """Cut in one way; that is a share of all the work, which began at some fraction of it."""
        parts = kernels.start(self._numbered(table))
        # ends: each call cuts parts into smaller ones or finishes one, and a part below 2k is not cut
        while not kernels.run(table.space, parts, task.k, mode, self.categories == "tree", _CHUNK):
            task.progress(begin + share * parts.depth[2] / table.records, "cutting")
        return Grouping(parts.label)

    def _numbered(self, table: CodedTable) -> IntArray:
        """Return the codes to cut."""
        if self.order == "given":
            return table.codes
        return np.stack(
            [
                by_falling_size(codes, int(missing)) if without_order(column) else codes
                for column, codes, missing in zip(table.columns, table.codes, table.space.missing, strict=True)
            ]
        )

    def _modes(self, table: CodedTable) -> tuple[int, ...]:
        """Return the ways to cut, of which the one that loses least is taken (ties: the first)."""
        if not self.strict:
            return (kernels.RELAXED,)
        if self.cut == "median":
            return (kernels.MEDIAN,)
        sets = any(column.kind.by_members for column in table.columns)
        return (kernels.NEAREST, kernels.VALUES) if sets else (kernels.NEAREST,)


def without_order(column: CodedColumn) -> bool:
    """Return whether a column's values can be numbered in any way: a group costs the same."""
    return column.kind.by_members or (column.hierarchy is not None and column.hierarchy.height == 1)


def by_falling_size(codes: IntArray, missing: int) -> IntArray:
    """Number values by how many records have them, most first; ties keep their order, and so does the missing value its code."""
    count = np.bincount(codes)
    rank = np.arange(count.size, dtype=np.int32)
    values = rank[: missing if missing >= 0 else None]
    rank[values[np.argsort(-count[values], kind="stable")]] = values
    return rank[codes]


def _cost(table: CodedTable, grouping: Grouping) -> float:
    """Return what groups cost, without the last digits, which are rounding."""
    cover = cover_groups(table.space, table.codes, grouping.labels, int(grouping.labels.max()) + 1)
    return float(f"{sum_of_products(group_costs(table.space, cover), cover.size):.9e}")
