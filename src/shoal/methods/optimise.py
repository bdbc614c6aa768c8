"""The optimiser: cells first, then moves, swaps and ruin-and-recreate, for as long as one likes.

Costs by hierarchy are step functions, and a method that adds the nearest record one at a time gets stuck on
the steps. Generalization cells do not: the first groups are cells of at least k records, taken from cheap to
dear. They are then improved region by region, and at last rebuilt by cells, a few neighbouring groups at a time.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from shoal.methods.base import Grouping, Method, MethodInfo, Representing, Task, say_nothing
from shoal.methods.k_member import KMember
from shoal.methods.local_recoding import BottomUp, TopDown
from shoal.methods.mondrian import Mondrian
from shoal.methods.optimise_cells import Rebuilding
from shoal.methods.optimise_plan import PLANS
from shoal.methods.optimise_start import find_cells, grow_block, grow_groups, lower_bound, near_blocks
from shoal.methods.scaling import as_coordinates, is_numeric
from shoal.methods.sse import minimise_sse
from shoal.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from shoal.encoding import CodedTable


_ENDLESS = 1_000_000
_LEAST_TRIES = 500
"""How often groups are rebuilt in one round at least, unless the effort has no rounds: a small table costs next to nothing."""
_SWEEPS = 1
"""Sweeps over a region in one round."""
_REGION = 100
"""Records of a region, in multiples of k."""
_MOST_BOUND = 3_000_000
"""Distinct values of the table up to which a bound is worked out."""


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
            search.recreate()
            search.prove()
        except KeyboardInterrupt:
            if task.on_interrupt != "best" or search.best is None:
                raise
        return replace(search.grouping(), typical=self.typical)


class _Search:
    """One run: the best grouping so far and what it cost."""

    def __init__(self, table: CodedTable, task: Task) -> None:
        self.task = task
        self.table = table
        self.k = min(task.k, table.records)
        self.seed = task.seed % (1 << 32)  # kernels take 64-bit words
        self.rows: IntArray = np.ascontiguousarray(table.codes.T)
        self.plan = (
            PLANS[task.effort]
            if isinstance(task.effort, str)
            else PLANS["balanced"]._replace(rounds=_ENDLESS, cell_rounds=_ENDLESS)
        )
        self.deadline = np.inf if isinstance(task.effort, str) else time.monotonic() + float(task.effort)
        self.whole = table.records * float(table.space.weight.sum())
        self.best: IntArray | None = None
        self.groups = 0
        self.group_cost: FloatArray = np.zeros(0)
        self.losses: list[float] = []
        self.bound: float | None = None

    def start(self) -> None:
        """Take the best of the starts: Mondrian's cuts, cells, and groups grown record by record.

        Growing suits sets, many columns and plain numbers, where cells are few or too many; whether it pays is
        measured on a sample of the table.
        """
        table, plan, seed, progress = self.table, self.plan, self.seed, self.task.progress
        self._offer(Mondrian().run(table, replace(self.task, progress=say_nothing)).labels)
        quick = PLANS["fast"]
        self._offer(find_cells(table, self.k, quick.ratio, quick.looks, seed, progress, self.deadline))
        cells = self.losses[-1]
        others: list[Method] = [KMember()] if table.records <= plan.greedy else []
        for other in [*others, BottomUp(), TopDown()] if plan.rivals else others:
            if self._in_time():
                self._offer(other.run(table, replace(self.task, progress=say_nothing)).labels)
        if self._in_time():
            self._grow()
        by_windows = "interval" in {one.kind for one in table.columns}
        if self.losses[-1] == cells and by_windows and plan.ratio < quick.ratio and self._in_time():
            self._offer(find_cells(table, self.k, plan.ratio, plan.looks, seed, progress, self.deadline))

    def _in_time(self) -> bool:
        return time.monotonic() < self.deadline

    def _grow(self) -> None:
        """Grow groups in blocks of near records, if one of the blocks shows that this pays."""
        table, k, seed = self.table, self.k, self.seed
        blocks = near_blocks(table, self.rows, max(self.plan.grown, 8 * k), seed)
        sample = blocks[len(blocks) // 2]
        if len(blocks) == 1 or grow_block(table, sample, k, seed)[1] < self._cost_of(sample):
            self._offer(grow_groups(table, blocks, k, seed, self.task.progress))

    def _cost_of(self, records: IntArray) -> float:
        """Return what records cost in the best groups so far."""
        assert self.best is not None  # noqa: S101
        return float(self.group_cost[self.best[records]].sum())

    def _offer(self, labels: IntArray) -> None:
        """Complete a start and keep it if it is the best so far."""
        from shoal.kernels.optimise_regions import complete  # noqa: PLC0415  (numba is imported when needed)
        from shoal.kernels.space import cost_table, cover_groups  # noqa: PLC0415

        space, labels = self.table.space, labels.copy()
        groups = complete(space, self.rows, labels, int(labels.max()) + 1, self.k)
        cover = cover_groups(space, self.table.codes, labels, groups)
        cost = space.weight @ cost_table(space, cover)
        loss = float(cost @ cover.size) / self.whole
        if not self.losses or loss < self.losses[-1]:
            self.best, self.groups, self.group_cost = labels, groups, cost
            self.losses.append(loss)

    def improve(self) -> None:
        """Improve the groups round by round, regions side by side, until rounds gain too little."""
        import numba  # noqa: PLC0415

        with ThreadPoolExecutor(numba.get_num_threads()) as pool:
            for number in range(self.plan.rounds):
                if not self._in_time():
                    break
                self._improve_once(pool, (self.seed << 24) + number)
                self.task.progress(0.3 + 0.3 * (number + 1) / self.plan.rounds, f"loss {self.losses[-1]:.4f}")
                if self.losses[-2] - self.losses[-1] <= self.plan.least_gain * self.losses[-2]:
                    break

    def _improve_once(self, pool: ThreadPoolExecutor, seed: int) -> None:
        from shoal.kernels.optimise_regions import improve_region, make_regions, renumber  # noqa: PLC0415

        assert self.best is not None  # noqa: S101
        space, k, tries = self.table.space, self.k, max(self.plan.tries, _LEAST_TRIES // self.groups)
        labels = self.best.copy()
        regions = make_regions(space, self.rows, labels, self.groups, _REGION * k, seed)

        def improve(region: int) -> tuple[float, float]:
            steps = (_SWEEPS, tries) if self._in_time() else (0, 0)
            return improve_region(space, self.rows, labels, regions, region, k, *steps, seed)

        costs = list(pool.map(improve, range(len(regions.start) - 1)))
        self.groups, self.best = renumber(labels), labels
        self.losses.append(sum(after for _, after in costs) / self.whole)

    def recreate(self) -> None:
        """Rebuild groups by cells, round by round, until rounds gain too little."""
        if self.best is None or self.plan.cell_rounds == 0:
            return
        rebuild = Rebuilding(self.table.space, self.rows, self.k)
        for number in range(self.plan.cell_rounds):
            if not self._in_time():
                break
            found = rebuild.run(self.best, self.groups, (self.seed << 24) + number, self._in_time)
            self.best, self.groups, cost = found
            self.losses.append(cost / self.whole)
            self.task.progress(0.6 + 0.3 * (number + 1) / self.plan.cell_rounds, f"loss {self.losses[-1]:.4f}")
            if self.losses[-2] - self.losses[-1] <= self.plan.cell_gain * self.losses[-2]:
                break

    def prove(self) -> None:
        """Work out how low any loss can be, where the effort allows it."""
        if self.plan.bound_looks and self._in_time() and self.rows.size <= _MOST_BOUND:
            self.bound = lower_bound(self.table, self.k, self.plan.bound_looks, self.task.progress)

    def grouping(self) -> Grouping:
        """Return the best groups found."""
        assert self.best is not None  # noqa: S101
        return Grouping(self.best, details={"losses": tuple(self.losses), "lower_bound": self.bound})
