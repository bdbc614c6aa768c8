"""The optimizer: cells first, then moves, swaps and rebuilding, for as long as the effort allows.

Costs by hierarchy are step functions, and a method that adds the nearest record one at a time gets stuck on
the steps. Generalization cells do not: the first groups are cells of at least k records, taken from cheap to
expensive. They are then improved region by region by simulated annealing; a few neighbouring groups at a time are
rebuilt by cells. If all columns have a hierarchy, the groups of several runs are recombined.

::

    solver.py       construct -> improve -> recombine -> prove
    params.py       what each part may spend; the three efforts
    problem.py      the table, k and weights; a Solution is a grouping and its loss
    search.py       what all parts of one search share: problem, parameters, stop, the best solution so far
    construct.py    STARTS: cuts, cells, grown groups, other methods
    sampled.py      a start from the boxes of small samples, each solved in turn
    candidates.py   cells that operators may open: enumerated, or learned from groups
    pricing.py      dual prices: which of all cells have a small reduced cost, and a bound
    annealing.py    rounds over regions, cooler from one to the next
    operators.py    OPERATORS: local moves, reopen; their statistics
    recombine.py    the best of two solutions; facility_location.py is its integer program
    bounds.py       what no grouping can be below
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from shoal.errors import ParameterError
from shoal.methods.base import Grouping, MethodInfo, Representing, Task
from shoal.methods.microaggregation.scaling import as_coordinates, is_numeric
from shoal.methods.microaggregation.sse import minimize_sse
from shoal.methods.optimize.construct import STARTS
from shoal.methods.optimize.operators import OPERATORS
from shoal.methods.optimize.params import Params
from shoal.methods.optimize.sampled import NAME as SAMPLED
from shoal.methods.optimize.search import Search
from shoal.methods.optimize.solver import solve
from shoal.validation import nearest_hint

if TYPE_CHECKING:
    from shoal.encoding import CodedTable


@dataclass(frozen=True)
class Optimize(Representing):
    """Lose as little as the effort allows.

    ``effort`` is ``"fast"``, ``"balanced"``, ``"best"`` or a number of seconds. The named efforts are bounded by
    counts of steps, so the same seed gives the same groups whatever the machine and the number of threads; a
    number of seconds is kept by the clock and cannot promise that. ``"best"`` loses less with the extra ``exact``.

    With ``release="representatives"`` and columns of numbers only, the loss is the sum of squares within groups
    (``methods.microaggregation.sse``).

    Parameters
    ----------
    round_integers, nominal
        What stands for a group when representatives are released; as in ``MDAV``.
    params
        What each part may spend, instead of what the named effort allows (``methods.optimize.params``).

    Examples
    --------
    >>> import shoal
    >>> people = {"age": [21, 22, 23, 45, 46, 47], "sex": ["f", "f", "f", "m", "m", "m"]}
    >>> shoal.anonymize(people, k=3, quasi_identifiers=["age", "sex"], method=shoal.Optimize(), effort="fast").groups.tolist()
    [0, 0, 0, 1, 1, 1]
    """

    params: Params | None = None

    info: ClassVar[MethodInfo] = MethodInfo(
        name="optimize",
        title="Optimizer",
        family="local",
        paper="shoal's own; moves and swaps as in local search, ruin and recreate after Schrimpf et al. 2000",
        complexity="O(m n log n), times the effort",
        uses_effort=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.params is not None:
            object.__setattr__(self, "params", Params.of(self.params))  # a recipe file has a table of tables
            _check_without(self.params.without)

    def run(self, table: CodedTable, task: Task) -> Grouping:
        """Group the records of ``table``."""
        if task.release == "representatives" and is_numeric(table):  # means are judged by squares, not by ranges
            points = as_coordinates(table, "z")
            return Grouping(minimize_sse(points, task), typical=self.typical)
        return replace(solve(Search.of(table, task, self.params)), typical=self.typical)


def _check_without(names: Sequence[str]) -> None:
    """Refuse names of which no part of the search is left out."""
    parts = [part for operator in OPERATORS for part in (operator.name, *operator.parts)]
    known = [*(start.name for start in STARTS), SAMPLED, "pricing", "learning", *parts]
    for name in names:
        if name not in known:
            raise ParameterError(
                f"Optimize's 'params.without' must name starts, operators or their parts. Got {name!r} instead.",
                hint=nearest_hint(str(name), known),
            )
