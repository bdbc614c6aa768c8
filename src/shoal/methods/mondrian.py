"""Mondrian multidimensional partitioning (LeFevre, DeWitt, Ramakrishnan 2006), the baseline "MultiDim" of Xu et al. 2006."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal

from shoal.kernels import mondrian as kernels
from shoal.kernels.common.sums import sum_of_products
from shoal.kernels.guarded.cuts import run_guarded
from shoal.kernels.space.space import cover_groups, group_costs
from shoal.methods.base import Grouping, Method, MethodInfo, Task
from shoal.privacy.case import all_known, build_case
from shoal.validation import check_choice

if TYPE_CHECKING:
    from shoal.encoding import CodedTable

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
    models
        Privacy models beyond k: ``"mend"``, cuts look at k alone and groups that fail are mended; ``"cut"``, a part is cut only where
        all sides meet the models, as LeFevre et al. do it, which loses more (a model that shoal does not know is mended all the same).

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
    models: Literal["mend", "cut"] = "mend"

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
        check_choice("Mondrian", "models", self.models, ("mend", "cut"))

    def run(self, table: CodedTable, task: Task) -> Grouping:
        """Group the records of ``table``."""
        modes = self._modes(table)
        found = [self._run(table, task, mode, turn / len(modes), 1 / len(modes)) for turn, mode in enumerate(modes)]
        return min(found, key=partial(_cost, table)) if len(found) > 1 else found[0]

    def _run(self, table: CodedTable, task: Task, mode: int, begin: float, share: float) -> Grouping:
        """Cut in one way; that is a share of all the work, which began at some fraction of it."""
        parts, cuts = kernels.start(table.codes), self._cuts(table, task)
        # ends: each call cuts parts into smaller ones or finishes one, and a part below 2k is not cut
        while not cuts(parts, task.k, mode, self.categories == "tree", _CHUNK):
            task.progress(begin + share * parts.depth[2] / table.records, "cutting")
        return Grouping(parts.label)

    def _cuts(self, table: CodedTable, task: Task) -> Callable[..., bool]:
        """Return what cuts parts: with the models of a task in view, or without."""
        if self.models == "mend" or not task.requirements or not all_known(task.requirements):
            return partial(kernels.run, table.space)
        case = build_case(table, task.k, task.requirements)
        return partial(run_guarded, table.space, table.codes, case.rules, case.crowds, case.points)

    def _modes(self, table: CodedTable) -> tuple[int, ...]:
        """Return the ways to cut, of which the one that loses least is taken, of equals the first."""
        if not self.strict:
            return (kernels.RELAXED,)
        if self.cut == "median":
            return (kernels.MEDIAN,)
        sets = any(column.kind.by_members for column in table.columns)
        return (kernels.NEAREST, kernels.VALUES) if sets else (kernels.NEAREST,)


def _cost(table: CodedTable, grouping: Grouping) -> float:
    """Return what groups cost, without the last digits, which are rounding."""
    cover = cover_groups(table.space, table.codes, grouping.labels, int(grouping.labels.max()) + 1)
    return float(f"{sum_of_products(group_costs(table.space, cover), cover.size):.9e}")
