"""The optimiser: cells first, then moves, swaps and ruin-and-recreate, for as long as one likes.

Costs by hierarchy are step functions, and a method that adds the nearest record one at a time gets stuck on
the steps. Generalization cells do not: the first groups are cells of at least k records, taken from cheap to
dear. They are then improved region by region by simulated annealing; a few neighbouring groups at a time are
rebuilt by cells. Where all columns have a hierarchy, the groups of several runs are merged.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from shoal.methods.base import Grouping, MethodInfo, Representing, Task
from shoal.methods.optimise_search import Search
from shoal.methods.scaling import as_coordinates, is_numeric
from shoal.methods.sse import minimise_sse

if TYPE_CHECKING:
    from shoal.encoding import CodedTable


@dataclass(frozen=True)
class Optimise(Representing):
    """Lose as little as the effort allows.

    ``effort`` is ``"fast"``, ``"balanced"``, ``"best"`` or a number of seconds. The named efforts are bounded by
    counts of steps, so the same seed gives the same groups whatever the machine and the number of threads; a
    number of seconds is kept by the clock and cannot promise that. ``"best"`` loses less with the extra ``exact``.

    With ``release="representatives"`` and columns of numbers only, the loss is the sum of squares within groups
    (``methods.sse``).

    Parameters
    ----------
    round_integers, nominal
        What stands for a group when representatives are released; as in ``MDAV``.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        name="optimise",
        title="Optimiser (cells first)",
        family="local",
        paper="shoal's own; moves and swaps as in local search, ruin and recreate after Schrimpf et al. 2000",
        complexity="O(m n log n), times the effort",
        uses_effort=True,
    )

    def run(self, table: CodedTable, task: Task) -> Grouping:
        """Group the records of ``table``."""
        if task.release == "representatives" and is_numeric(table):  # means are judged by squares, not by ranges
            points = as_coordinates(table, "z")
            found = minimise_sse(points, task.k, task.effort, task.seed, task.progress, task.on_interrupt)
            return Grouping(found, typical=self.typical)
        search = Search(table, task)
        try:
            search.start()
            search.improve()
            search.prove()
        except KeyboardInterrupt:
            if task.on_interrupt != "best" or search.best is None:
                raise
        return replace(search.grouping(), typical=self.typical)
