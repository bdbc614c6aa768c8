"""Mondrian multidimensional partitioning (LeFevre, DeWitt, Ramakrishnan 2006), the baseline "MultiDim" of Xu et al. 2006."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal

from shoal.kernels import mondrian as kernels
from shoal.kernels.guarded.cuts import run_guarded
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
        not at all, as the paper prints it and those who compare with it seem to have built it.
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
        parts, cuts = kernels.start(table.codes), self._cuts(table, task)
        # ends: each call cuts parts into smaller ones or finishes one, and a part below 2k is not cut
        while not cuts(parts, task.k, self._mode, self.categories == "tree", _CHUNK):
            task.progress(parts.depth[2] / table.records, "cutting")
        return Grouping(parts.label)

    def _cuts(self, table: CodedTable, task: Task) -> Callable[..., bool]:
        """Return what cuts parts: with the models of a task in view, or without."""
        if self.models == "mend" or not task.requirements or not all_known(task.requirements):
            return partial(kernels.run, table.space)
        case = build_case(table, task.k, task.requirements)
        return partial(run_guarded, table.space, table.codes, case.rules, case.crowds, case.points)

    @property
    def _mode(self) -> int:
        if not self.strict:
            return kernels.RELAXED
        return kernels.MEDIAN if self.cut == "median" else kernels.NEAREST
