"""Bottom-Up Generalization: values climb their hierarchies, the generalization that loses least information first.

Wang, Yu & Chakraborty, "Bottom-Up Generalization: A Data Mining Solution to Privacy Protection" (ICDM 2004).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from shoal.errors import ColumnError, DataError
from shoal.methods.base import Grouping, Method, MethodInfo
from shoal.methods.global_recoding.annealing import anneal
from shoal.methods.global_recoding.climbing import make_climber
from shoal.methods.global_recoding.information import METRICS, Metric, checked
from shoal.methods.global_recoding.revising import revise_in_turn
from shoal.methods.global_recoding.trees import finish, nothing_meets
from shoal.validation import check_choice, nearest_hint

if TYPE_CHECKING:
    from shoal.encoding import CodedAttribute, CodedTable
    from shoal.methods.base import Task

CLASS_INFORMATION = "{metric} of the class column {target!r} (Wang, Yu & Chakraborty 2004, section 3)"
VALUE_INFORMATION = "{metric} of the joined values, because no class column was given as target"


@dataclass(frozen=True)
class BottomUpGeneralization(Method):
    """Replace all children of a node by the node, again and again, until every tuple has k records.

    Each step takes the generalization that loses the least information for each unit of anonymity it gains; if
    none gains any, the one that loses the least. Ties go to the first column, then to the lowest node.

    Parameters
    ----------
    target
        The class column a reader wants to predict. Information is then what the quasi-identifiers reveal about the class;
        without one, what they reveal about the original values.
    metric
        What a generalization loses: ``"entropy"`` as in the paper's section 3, ``"gini"``, ``"error"`` (of guessing the most
        common class), or a function of your own. It is given the class counts of the values that would be joined, an array with one row
        a value and one column a class (without a target each value is a class of its own), and returns a number of at least 0.
    pruning
        Work out the effect on anonymity only for generalizations that can have one (the paper's Theorem 1).
        The steps are the same either way.
    revise
        When k is reached, take back the steps it can do without, the one that regains most information first; do so once
        more from the roots of all hierarchies, and with some columns held back until the others are done; keep what
        loses least. The steps early in a climb are taken before it is known what the later ones will do. ``False`` is the
        paper's algorithm.
    partial
        When revising, let single children keep their own value while their siblings are generalized, if k allows
        it (the paper's section 7). ``False`` generalizes whole subtrees only, as the paper does.
    stochastic
        Look for a better sequence of steps by simulated annealing, for as long as the effort allows. The result never
        loses more information than without it.

    Notes
    -----
    Departures from the paper. Subtrees of which no value occurs climb along with their siblings instead of taking
    steps of their own. Numbers without a hierarchy get a binary one, split where the entropy of the class falls most, or,
    without a class, in halves. Tuples still below k are withheld as soon as there are few enough for ``max_suppression``.
    Privacy models beyond k are met by further steps of least loss. Column weights multiply the information lost.

    Examples
    --------
    >>> import shoal
    >>> jobs = shoal.Hierarchy.from_dict({"*": {"health": ["nurse", "doctor"], "craft": ["baker", "smith"]}})
    >>> people = {"job": ["nurse", "doctor", "nurse", "baker", "smith", "smith"], "ill": ["y", "y", "y", "n", "n", "n"]}
    >>> roles = {"quasi_identifiers": ["job"], "sensitive": ["ill"], "hierarchies": {"job": jobs}}
    >>> shoal.anonymize(people, k=3, method=shoal.BottomUpGeneralization(target="ill"), **roles).data["job"]
    ['health', 'health', 'health', 'craft', 'craft', 'craft']
    """

    target: str | None = None
    metric: Literal["entropy", "gini", "error"] | Metric = "entropy"
    pruning: bool = True
    revise: bool = True
    partial: bool = True
    stochastic: bool = False
    info: ClassVar[MethodInfo] = MethodInfo(
        name="bug",
        title="Bottom-Up Generalization",
        family="global",
        paper="Wang, Yu & Chakraborty, Bottom-Up Generalization (ICDM 2004)",
        complexity="each step in proportion to the distinct tuples it generalizes",
        uses_effort=True,
        needs_hierarchies=True,
    )

    def __post_init__(self) -> None:
        if not callable(self.metric):
            check_choice("BottomUpGeneralization", "metric", self.metric, tuple(METRICS))

    def run(self, table: CodedTable, task: Task) -> Grouping:
        """Generalize the columns of ``table`` until every tuple has ``task.k`` records."""
        metric = checked(self.metric) if callable(self.metric) else METRICS[self.metric]
        climber = make_climber(table, task, self._class_column(table), pruning=self.pruning, metric=metric)
        climb = climber.climb()
        if not climb.reached:
            raise nothing_meets(task, self.info.name, table.records)
        if self.stochastic:
            climb = anneal(climber, climb, task, partial=self.partial)
        elif self.revise:
            climb = revise_in_turn(climber, climb, partial=self.partial)
        climb = climber.replay(climb.moves)
        steps = climber.describe(climb)
        return finish(
            climber.base,
            climber.cuts(climb.moves),
            table.space,
            task,
            {"steps": steps, "information": self._information()},
        )

    def _information(self) -> str:
        metric = "own metric" if callable(self.metric) else self.metric
        text = VALUE_INFORMATION if self.target is None else CLASS_INFORMATION
        return text.format(metric=metric, target=self.target)

    def _class_column(self, table: CodedTable) -> CodedAttribute | None:
        if self.target is None:
            return None
        if self.target in table.names:
            raise ColumnError(
                f"The class column {self.target!r} is also a quasi-identifier.",
                hint="a class column is kept as it is; take it out of the quasi-identifiers or choose another target.",
            )
        if self.target not in table.attributes:
            raise ColumnError(
                f"The class column {self.target!r} is not among the columns kept.",
                hint=nearest_hint(self.target, table.attributes) or "name it as sensitive.",
            )
        column = table.attributes[self.target]
        unknown = int((column.codes >= len(column.values)).sum())
        if unknown:
            raise DataError(
                f"The class column {self.target!r} has no value in {unknown} of {table.records} records.",
                hint="fill the class in, or leave those records out.",
            )
        return column
