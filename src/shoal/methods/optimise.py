"""The optimiser: cells first, then moves, swaps and ruin-and-recreate, for as long as one likes.

Costs by hierarchy are step functions, and a method that adds the nearest record one at a time gets stuck on
the steps. Generalization cells do not: the first groups are cells of at least k records, taken from cheap to
dear. They are then improved region by region; a few neighbouring
groups at a time are rebuilt by cells.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from shoal.methods.base import Grouping, Method, MethodInfo, Representing, Task, say_nothing
from shoal.methods.k_member import KMember
from shoal.methods.local_recoding import BottomUp, TopDown
from shoal.methods.mondrian import Mondrian
from shoal.methods.optimise_plan import CLOSE, HEAT, LEAST_LOOKS, MOST_BOUND, PLANS, REGION, Plan, in_seconds
from shoal.methods.optimise_start import find_cells, grow_block, grow_groups, lower_bound, near_blocks
from shoal.methods.scaling import as_coordinates, is_numeric
from shoal.methods.sse import minimise_sse
from shoal.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from shoal.encoding import CodedTable


@dataclass(frozen=True)
class Optimise(Representing):
    """Lose as little as the effort allows.

    ``effort`` is ``"fast"``, ``"balanced"``, ``"best"`` or a number of seconds. The named efforts are bounded by
    counts of steps, so the same seed gives the same groups whatever the machine and the number of threads; a
    number of seconds is kept by the clock and cannot promise that.

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
        search = _Search(table, task)
        try:
            search.start()
            search.improve()
            search.prove()
        except KeyboardInterrupt:
            if task.on_interrupt != "best" or search.best is None:
                raise
        return replace(search.grouping(), typical=self.typical)


class _Found(NamedTuple):
    """A grouping and what it loses."""

    labels: IntArray
    groups: int
    loss: float


class _Search:
    """One run: the best grouping so far and what it cost."""

    def __init__(self, table: CodedTable, task: Task) -> None:
        self.task = task
        if table.weights.max() != 1.0:  # what counts as a gain must not depend on the size of all weights
            table = replace(table, weights=table.weights / table.weights.max())
        self.table = table
        self.k = min(task.k, table.records)
        self.seed = task.seed % (1 << 32)  # kernels take 64-bit words
        self.rows: IntArray = np.ascontiguousarray(table.codes.T)
        self.plan = PLANS[task.effort] if isinstance(task.effort, str) else in_seconds()
        self.rounds = self.plan.rounds if table.records <= self.plan.improved else 0
        self.deadline = np.inf if isinstance(task.effort, str) else time.monotonic() + float(task.effort)
        self.whole = table.records * float(table.space.weight.sum())
        self.starts: dict[str, _Found] = {}
        self.best: _Found | None = None
        self.losses: list[float] = []
        self.done = 0.0
        self.bound: float | None = None

    def start(self) -> None:
        """Make starts: Mondrian's cuts, cells, groups grown record by record, and what other methods find.

        Growing suits sets, many columns and plain numbers, where cells are few or too many; whether it pays is
        measured on a sample of the table.
        """
        table, plan = self.table, self.plan
        quietly, quick = replace(self.task, progress=say_nothing), PLANS["fast"]
        self._offer("cuts", Mondrian().run(table, quietly).labels)
        self._look_for_cells(quick)
        others: list[Method] = [KMember()] if table.records <= plan.greedy else []
        for other in [*others, BottomUp(), TopDown()] if plan.rivals else others:
            if self._in_time():
                self._offer(other.info.name, other.run(table, quietly).labels)
        if self._in_time():
            self._grow()
        by_windows = "interval" in {one.kind for one in table.columns}
        promising = self._latest().loss * CLOSE >= self.starts["cells"].loss
        if promising and by_windows and plan.ratio < quick.ratio and self._in_time():
            self._look_for_cells(plan)
        self._tell_loss(0.3)

    def _look_for_cells(self, plan: Plan) -> None:
        found = find_cells(self.table, self.k, plan.ratio, plan.looks, self.seed, self._tell, self.deadline)
        self._offer("cells", found)

    def _in_time(self) -> bool:
        return time.monotonic() < self.deadline

    def _latest(self) -> _Found:
        assert self.best is not None  # noqa: S101
        return self.best

    def _grow(self) -> None:
        """Grow groups in blocks of near records, if one of the blocks shows that this pays."""
        table, k, seed = self.table, self.k, self.seed
        blocks = near_blocks(table, self.rows, max(self.plan.grown, 8 * k), seed)
        sample = blocks[len(blocks) // 2]
        if len(blocks) == 1 or grow_block(table, sample, k, seed)[1] < self._cost_of(sample):
            self._offer("grown", grow_groups(table, blocks, k, seed, self._tell))

    def _cost_of(self, records: IntArray) -> float:
        """Return what records cost in the best groups so far."""
        labels, groups, _ = self._latest()
        cost, _ = self._costs(labels, groups)
        return float(cost[labels[records]].sum())

    def _costs(self, labels: IntArray, groups: int) -> tuple[FloatArray, IntArray]:
        """Return the cost of each group for each of its records, and the groups' sizes."""
        from shoal.kernels.space import cost_table, cover_groups  # noqa: PLC0415  (numba is imported when needed)

        space = self.table.space
        cover = cover_groups(space, self.table.codes, labels, groups)
        return space.weight @ cost_table(space, cover), cover.size

    def _offer(self, name: str, labels: IntArray) -> None:
        """Complete a start and keep it, unless there is a better one of that name."""
        from shoal.kernels.optimise_regions import complete  # noqa: PLC0415

        labels = labels.copy()
        groups = complete(self.table.space, self.rows, labels, int(labels.max()) + 1, self.k)
        cost, size = self._costs(labels, groups)
        found = _Found(labels, groups, float(cost @ size) / self.whole)
        if name not in self.starts or found.loss < self.starts[name].loss:
            self.starts[name] = found
        self._keep(found)

    def _keep(self, found: _Found) -> None:
        """Remember a grouping if it is the best so far."""
        if self.best is None or found.loss < self.best.loss:
            self.best = found
            self.losses.append(found.loss)

    def _tell(self, done: float, text: str) -> None:
        self.done = max(self.done, done)  # a second look for cells or a second start counts anew
        self.task.progress(self.done, text)

    def _tell_loss(self, done: float) -> None:
        self._tell(done, f"loss {self._latest().loss:.5f}")

    def _share_of_rounds(self, number: int) -> float:
        """Return the share of the rounds, or of the seconds, that is over."""
        if isinstance(self.task.effort, str):
            return number / self.rounds
        return min(1.0, 1.0 - (self.deadline - time.monotonic()) / float(self.task.effort))

    def improve(self) -> None:
        """Improve the best starts round by round, regions side by side, until rounds gain too little."""
        if self.rounds == 0:
            return
        import numba  # noqa: PLC0415

        from shoal.kernels.optimise_steps import measure_steps  # noqa: PLC0415

        self.steps = measure_steps(self.table.space, self.rows)
        with ThreadPoolExecutor(numba.get_num_threads()) as pool:
            found = self._choose(pool)
            for number in range(HEAT, self.rounds):
                if not self._in_time():
                    break
                before, found = found, self._improve_once(found, pool, number)
                if before.loss - found.loss <= self.plan.least_gain * before.loss:
                    break

    def _choose(self, pool: ThreadPoolExecutor) -> _Found:
        """Improve the two best starts for a few rounds, where they are close, and return the better one."""
        best, *others = sorted(self.starts.values(), key=lambda found: found.loss)
        close = [best, *(other for other in others[:1] if other.loss <= CLOSE * best.loss)]
        for place, _ in enumerate(close):
            for number in range(min(HEAT, self.rounds)):
                if self._in_time():
                    close[place] = self._improve_once(close[place], pool, number)
        return min(close, key=lambda found: found.loss)

    def _improve_once(self, found: _Found, pool: ThreadPoolExecutor, number: int) -> _Found:
        from shoal.kernels.optimise_regions import make_regions, renumber  # noqa: PLC0415
        from shoal.kernels.optimise_round import improve_region  # noqa: PLC0415

        space, k, seed = self.table.space, self.k, (self.seed << 24) + number
        labels = found.labels.copy()
        regions = make_regions(space, self.rows, labels, found.groups, REGION * k, seed)
        often = max(self.plan.rebuilt, LEAST_LOOKS // self.table.records)

        def improve(region: int) -> float:
            looks = often if self._in_time() else 0
            return improve_region(space, self.rows, labels, regions, region, self.steps, k, looks, seed)

        cost = sum(pool.map(improve, range(len(regions.start) - 1)))
        better = _Found(labels, renumber(labels), cost / self.whole)
        self._keep(better)
        self._tell_loss(0.3 + 0.6 * self._share_of_rounds(number + 1))
        return better

    def prove(self) -> None:
        """Work out how low any loss can be, where the effort allows it."""
        if self.plan.bound_looks and self._in_time() and self.rows.size <= MOST_BOUND:
            self.bound = lower_bound(self.table, self.k, self.plan.bound_looks, self._tell)

    def grouping(self) -> Grouping:
        """Return the best groups found."""
        return Grouping(self._latest().labels, details={"losses": tuple(self.losses), "lower_bound": self.bound})
