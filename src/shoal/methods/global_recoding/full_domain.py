"""Full-domain generalization: every value of a column climbs to the same level. Datafly and Incognito."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from shoal.arrays import BoolArray, FloatArray
from shoal.errors import ParameterError
from shoal.kernels.common.sums import row_sums_of_products, sum_of_products
from shoal.methods.base import Grouping, Method, MethodInfo
from shoal.methods.global_recoding.lattice import lattice_size, minimal_nodes, search_lattice
from shoal.methods.global_recoding.levels import (
    Frequencies,
    Levels,
    all_frequencies,
    cuts_at,
    levels_of,
    roll_up,
    small_records,
)
from shoal.methods.global_recoding.trees import (
    LeafTuples,
    allowed_records,
    finish,
    judge_cut,
    leaf_tuples,
    nothing_meets,
    release_tuples,
)
from shoal.methods.stopping import INTERRUPTS, Stop
from shoal.validation import check_choice, check_int

if TYPE_CHECKING:
    from shoal.encoding import CodedTable
    from shoal.kernels.space.space import Space
    from shoal.methods.base import Task

Measure = Literal["ncp", "dm", "c_avg", "height"]
MOST_KNOWN = 64
MEASURES = ("ncp", "dm", "c_avg", "height")


@dataclass(frozen=True)
class LevelStep:
    """One column climbed one level (Datafly)."""

    column: str
    level: int
    """The level it is at from here on, as the hierarchy counts them."""
    small: int
    """Records in tuples of fewer than k afterwards."""


@dataclass(frozen=True)
class Solution:
    """A combination of levels that holds."""

    levels: Mapping[str, int]
    """For each column the level of the hierarchy it is released at: 0 for the values themselves."""
    ncp: float
    """The normalized certainty penalty, withheld records included."""
    dm: int
    """The discernability penalty."""
    groups: int
    suppressed: int

    @property
    def height(self) -> int:
        """The sum of the levels."""
        return sum(self.levels.values())


@dataclass(frozen=True)
class Datafly(Method):
    """Raise the column with the most distinct released values, again and again, until few records are below k.

    Parameters
    ----------
    at_most_k
        Sweeney's rule: never withhold more than k records, even if ``max_suppression`` would allow more.

    Notes
    -----
    Sweeney (2002) goes on while more than k records are in tuples of fewer than k, then withholds those. Here
    ``max_suppression`` must allow it too: with its default of 0 nothing is withheld. Withheld records are left
    out, so there is no need to make their number at least k. Ties go to the first column.

    Examples
    --------
    >>> import shoal
    >>> jobs = shoal.Hierarchy.from_dict({"*": {"health": ["nurse", "doctor"], "craft": ["baker", "smith"]}})
    >>> people = {"job": ["nurse", "doctor", "nurse", "baker", "smith", "smith"], "ill": ["y", "y", "y", "n", "n", "n"]}
    >>> roles = {"quasi_identifiers": ["job"], "sensitive": ["ill"], "hierarchies": {"job": jobs}}
    >>> shoal.anonymize(people, k=3, method=shoal.Datafly(), **roles).data["job"]
    ['health', 'health', 'health', 'craft', 'craft', 'craft']
    """

    at_most_k: bool = True
    info: ClassVar[MethodInfo] = MethodInfo(
        name="datafly",
        title="Datafly",
        family="global",
        paper="Sweeney, Achieving k-anonymity privacy protection using generalization and suppression (2002)",
        complexity="distinct tuples × the sum of the hierarchies' heights",
        uses_weights=False,
        needs_hierarchies=True,
    )

    def run(self, table: CodedTable, task: Task) -> Grouping:
        """Raise columns until ``task`` is met."""
        levels = levels_of(table, self.info.name)
        base = leaf_tuples(table.codes)
        allowed = allowed_records(table.records, task)
        if self.at_most_k:
            allowed = min(allowed, task.k)
        chosen = [0] * len(levels)
        tuples, steps = all_frequencies(base), []
        # ends: each round lifts one column by a level, and none is lifted beyond its last
        while not _meets(base, levels, chosen, table.space, tuples, task, allowed):
            task.progress(sum(chosen) / sum(column.number for column in levels), "raising columns")
            row = _most_distinct(tuples, levels, chosen)
            if row is None:
                raise nothing_meets(task, self.info.name, table.records)
            chosen[row] += 1
            tuples = roll_up(tuples, levels, chosen)
            level = levels[row].steps[chosen[row]]
            steps.append(LevelStep(table.names[row], level, small_records(tuples, task.k)))
        return finish(base, cuts_at(levels, chosen), table.space, task, {"steps": tuple(steps)})


def _most_distinct(tuples: Frequencies, levels: Sequence[Levels], chosen: Sequence[int]) -> int | None:
    """Return the column with the most distinct released values that can still climb."""
    open_rows = [row for row, level in enumerate(chosen) if level + 1 < levels[row].number]
    distinct = {row: len(np.unique(levels[row].form[chosen[row]][tuples.codes[row]])) for row in open_rows}
    return max(open_rows, key=lambda row: (distinct[row], -row), default=None)


def _meets(
    base: LeafTuples,
    levels: Sequence[Levels],
    chosen: Sequence[int],
    space: Space,
    tuples: Frequencies,
    task: Task,
    allowed: int,
) -> bool:
    if small_records(tuples, task.k) > allowed:
        return False
    if not task.requirements:
        return True
    released = release_tuples(base, cuts_at(levels, chosen))
    verdict = judge_cut(released, space, task)
    return not verdict.left_out and int(released.size[verdict.failing].sum()) <= allowed


@dataclass(frozen=True)
class Incognito(Method):
    """Find every minimal combination of levels that is k-anonymous, then release the best.

    Parameters
    ----------
    measure
        What is best: ``"ncp"``, ``"dm"``, ``"c_avg"`` (most groups) or ``"height"`` (fewest steps).
    max_nodes
        The most level combinations there may be.

    Notes
    -----
    LeFevre, DeWitt & Ramakrishnan (2005) and the same combinations, with roll-up; but what holds is found by halving chains of the whole
    lattice, not subset by subset of the columns (:mod:`shoal.methods.global_recoding.lattice`). If records may be withheld, the best combination need not be minimal: going up loses more
    on every record but withholds fewer. Then all combinations that hold compete, from the cheapest on, until the
    levels alone cost more than the best found. Privacy models beyond k are tested on whole combinations only.

    Examples
    --------
    >>> import shoal
    >>> jobs = shoal.Hierarchy.from_dict({"*": {"health": ["nurse", "doctor"], "craft": ["baker", "smith"]}})
    >>> people = {"job": ["nurse", "doctor", "nurse", "baker", "smith", "smith"], "ill": ["y", "y", "y", "n", "n", "n"]}
    >>> roles = {"quasi_identifiers": ["job"], "sensitive": ["ill"], "hierarchies": {"job": jobs}}
    >>> shoal.anonymize(people, k=3, method=shoal.Incognito(), **roles).data["job"]
    ['health', 'health', 'health', 'craft', 'craft', 'craft']
    """

    measure: Measure = "ncp"
    max_nodes: int = 2_000_000
    info: ClassVar[MethodInfo] = MethodInfo(
        name="incognito",
        title="Incognito",
        family="global",
        paper="LeFevre, DeWitt & Ramakrishnan, Incognito: Efficient Full-Domain K-Anonymity (SIGMOD 2005)",
        complexity="up to the product of (levels + 1) over the columns, each at the cost of the distinct tuples",
        needs_hierarchies=True,
    )

    def __post_init__(self) -> None:
        check_choice("Incognito", "measure", self.measure, MEASURES)
        check_int("Incognito", "max_nodes", self.max_nodes, least=1)

    def run(self, table: CodedTable, task: Task) -> Grouping:
        """Search the lattice of ``table`` and release its best combination."""
        levels = levels_of(table, self.info.name)
        self._refuse_large(levels)
        judge = _Judge(table, task, levels)
        holds = search_lattice(judge.source, levels, task.k, judge.allowed, task.progress, judge.stop.over)
        minimal = judge.some(minimal_nodes(holds))
        best = judge.best(holds, minimal, self.measure)
        if best is None:
            raise nothing_meets(task, self.info.name, table.records)
        minimal.sort(key=lambda one: _rank(one, self.measure))
        chosen = [column.steps.index(best.levels[name]) for column, name in zip(levels, table.names, strict=True)]
        return finish(
            judge.base, cuts_at(levels, chosen), table.space, task, {"solutions": tuple(minimal), "chosen": best}
        )

    def _refuse_large(self, levels: Sequence[Levels]) -> None:
        whole = lattice_size(levels)
        if whole > self.max_nodes:
            factors = " × ".join(str(column.number) for column in levels)
            raise ParameterError(
                f"Incognito's lattice has {factors} = {whole:,} level combinations; 'max_nodes' allows {self.max_nodes:,}.",
                hint="use fewer or lower hierarchies, raise max_nodes, or take method 'datafly' or 'bug'.",
            )


def _rank(solution: Solution, measure: Measure) -> tuple[float, float, tuple[int, ...]]:
    """Return what is smaller for a better solution; ties: the least loss, then the lowest levels."""
    first = {"ncp": solution.ncp, "dm": solution.dm, "c_avg": -solution.groups, "height": solution.height}[measure]
    return first, solution.ncp, tuple(solution.levels.values())


class _Judge:
    """Measures combinations of levels."""

    def __init__(self, table: CodedTable, task: Task, levels: Sequence[Levels]) -> None:
        self.names, self.task, self.levels, self.space = table.names, task, levels, table.space
        self.base = leaf_tuples(table.codes)
        self.tuples = all_frequencies(self.base)
        self.records = table.records
        self.allowed = allowed_records(table.records, task)
        seconds = np.inf if isinstance(task.effort, str) else task.effort
        self.stop = Stop.after(seconds, cancel=task.cancel, clock=task.clock)
        self.weights = table.weights / table.weights.sum()
        self.widest = set(np.argsort([-column.cardinality for column in table.columns], kind="stable")[:3].tolist())
        self.known: dict[tuple[int, ...], Frequencies] = {}
        self.level_cost = [
            row_sums_of_products(column.cost, np.bincount(codes, self.base.size, column.cost.shape[1])) / table.records
            for column, codes in zip(levels, self.base.codes, strict=True)
        ]

    def floor(self, node: Sequence[int]) -> float:
        """Return what the levels alone cost: the loss if nothing were withheld."""
        parts = zip(self.weights, self.level_cost, node, strict=True)
        return float(sum(weight * cost[level] for weight, cost, level in parts))

    def judge(self, node: Sequence[int]) -> Solution | None:
        """Measure a combination; None if too many records would be withheld."""
        self.task.progress(1.0, "choosing the best combination")
        tuples = roll_up(self.source(node), self.levels, node)
        failing = tuples.size < self.task.k
        if self.task.requirements:
            released = release_tuples(self.base, cuts_at(self.levels, node))
            verdict = judge_cut(released, self.space, self.task)
            if verdict.left_out:
                return None
            failing = verdict.failing
            tuples = self._in_order_of(released.label, failing)
        suppressed = int(tuples.size[failing].sum())
        if suppressed > self.allowed:
            return None
        withheld = sum_of_products(self._withheld_cost(tuples, node)[failing], tuples.size[failing])
        return Solution(
            levels={
                name: column.steps[level] for name, column, level in zip(self.names, self.levels, node, strict=True)
            },
            ncp=self.floor(node) + withheld / self.records,
            dm=int((tuples.size[~failing] ** 2).sum()) + self.records * suppressed,
            groups=int((~failing).sum()),
            suppressed=suppressed,
        )

    def source(self, node: Sequence[int]) -> Frequencies:
        """Return tuples to roll ``node`` up from: the three widest columns at its levels, kept for the next node."""
        key = tuple(level if row in self.widest else 0 for row, level in enumerate(node))
        if key not in self.known:
            if len(self.known) == MOST_KNOWN:
                self.known.clear()
            self.known[key] = roll_up(self.tuples, self.levels, key)
        return self.known[key]

    def _in_order_of(self, label: object, failing: object) -> Frequencies:
        labels = np.asarray(label)
        first = np.unique(labels, return_index=True)[1]
        codes = self.base.codes[:, self.base.label[first]]
        return Frequencies(codes, np.bincount(labels, minlength=len(np.asarray(failing))).astype(np.int64))

    def _withheld_cost(self, tuples: Frequencies, node: Sequence[int]) -> FloatArray:
        """Return what withholding a record of each tuple costs beyond its levels."""
        cost = np.ones(len(tuples.size))
        for weight, column, codes, level in zip(self.weights, self.levels, tuples.codes, node, strict=True):
            cost -= weight * column.cost[level][codes]
        return cost

    def some(self, nodes: Sequence[tuple[int, ...]]) -> list[Solution]:
        """Return the combinations among ``nodes`` that hold, as many as there is time for: at least one if there are any."""
        found: list[Solution] = []
        for number, node in enumerate(nodes):
            if self._interrupted(number / len(nodes), known=bool(found)):
                break
            solution = self.judge(node)
            if solution is not None:
                found.append(solution)
        return found

    def best(self, holds: BoolArray, known: Sequence[Solution], measure: Measure) -> Solution | None:
        """Return the best combination: of the minimal ones, or if records may be withheld or models hold of all, the cheapest tried first."""
        best = min(known, key=lambda one: _rank(one, measure), default=None)
        if not self.task.requirements and not self.allowed:
            return best
        nodes = [tuple(node) for node in np.argwhere(holds).tolist()]
        for number, node in enumerate(sorted(nodes, key=lambda node: (self.floor(node), node))):
            if best is not None and measure == "ncp" and self.floor(node) > best.ncp:
                break
            if self._interrupted(number / len(nodes), known=best is not None):
                break
            solution = self.judge(node)
            if solution is not None and (best is None or _rank(solution, measure) < _rank(best, measure)):
                best = solution
        return best

    def _interrupted(self, share: float, *, known: bool) -> bool:
        """Return whether to end the comparison with what is known: at the deadline, or by an interrupt if the task wants the best by then."""
        try:
            self.task.progress(share, "comparing solutions")
            return known and self.stop.over()
        except INTERRUPTS:
            if not known or self.task.on_interrupt != "best":
                raise
            return True
