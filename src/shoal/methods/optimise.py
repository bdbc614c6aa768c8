"""The optimiser: cells first, then moves, swaps and ruin-and-recreate, for as long as one likes.

Costs by hierarchy are step functions, and a method that adds the nearest record one at a time gets stuck on
the steps. Generalization cells do not: the first groups are cells of at least k records, taken from cheap to
dear. They are then improved region by region.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from shoal.methods.base import Grouping, Method, MethodInfo, Task
from shoal.methods.mondrian import Mondrian
from shoal.methods.scaling import as_coordinates, is_numeric
from shoal.methods.sse import minimise_sse
from shoal.typing import IntArray

if TYPE_CHECKING:
    from shoal.encoding import CodedTable
    from shoal.kernels.space import Space


class Plan(NamedTuple):
    """What an effort may spend. All counts, no clocks: the same seed gives the same groups on any machine."""

    ratio: float
    """By what factor windows of numbers and costs of nodes grow from level to level."""
    looks: int
    """How often a record is looked at in the search for cells, in the mean."""
    rounds: int
    """How often all regions are improved."""
    sweeps: int
    tries: int
    bound_looks: int
    """How often a record is looked at to prove a bound."""


PLANS = {
    "fast": Plan(ratio=1.6, looks=800, rounds=0, sweeps=1, tries=0, bound_looks=0),
    "balanced": Plan(ratio=1.15, looks=6_000, rounds=6, sweeps=1, tries=1, bound_looks=1_000),
    "best": Plan(ratio=1.1, looks=20_000, rounds=40, sweeps=1, tries=2, bound_looks=10_000),
}
_ENDLESS = 1_000_000
_REGION = 100
"""Records of a region, in multiples of k."""
_BLOCK = 1 << 16
"""Most distinct tuples whose cells are searched together; it bounds the memory."""
_MOST_BOUND = 3_000_000
"""Distinct tuples times columns up to which a bound is worked out."""
_CHUNK = 20_000_000
"""Looks at records between two progress reports."""


@dataclass(frozen=True)
class Optimise(Method):
    """Lose as little as the effort allows.

    ``effort`` is ``"fast"``, ``"balanced"``, ``"best"`` or a number of seconds. The named efforts are bounded by
    counts of steps, so the same seed gives the same groups whatever the machine and the number of threads; a
    number of seconds is kept by the clock and cannot promise that.

    With ``release="representatives"`` and columns of numbers only, the loss is the sum of squares within groups
    (``methods.sse``).
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
            return Grouping(minimise_sse(points, task.k, task.effort, task.seed, task.progress))
        search = _Search(table, task)
        try:
            search.start()
            search.improve()
            search.bound = search.lower_bound()
        except KeyboardInterrupt:
            if task.on_interrupt != "best" or search.best is None:
                raise
        return search.grouping()


class _Search:
    """One run: the best grouping so far and what it cost."""

    def __init__(self, table: CodedTable, task: Task) -> None:
        self.task = task
        self.table = table
        self.k = min(task.k, table.records)
        self.space: Space = table.space
        self.rows: IntArray = np.ascontiguousarray(table.codes.T)
        self.plan = PLANS[task.effort] if isinstance(task.effort, str) else PLANS["balanced"]._replace(rounds=_ENDLESS)
        self.deadline = np.inf if isinstance(task.effort, str) else time.monotonic() + float(task.effort)
        self.whole = table.records * float(self.space.weight.sum())
        self.best: IntArray | None = None
        self.groups = 0
        self.losses: list[float] = []
        self.bound: float | None = None

    def start(self) -> None:
        """Take the better of the groups by cells and those by Mondrian's cuts."""
        self._offer(Mondrian().run(self.table, self.task).labels)
        self._offer(self._cells())

    def _offer(self, labels: IntArray) -> None:
        """Complete a start and keep it if it is the best so far."""
        from shoal.kernels.optimise_regions import complete  # noqa: PLC0415  (numba is imported when needed)
        from shoal.kernels.space import cost_table, cover_groups  # noqa: PLC0415

        labels = labels.copy()
        groups = complete(self.space, self.rows, labels, int(labels.max()) + 1, self.k)
        cover = cover_groups(self.space, self.table.codes, labels, groups)
        loss = float(self.space.weight @ cost_table(self.space, cover) @ cover.size) / self.whole
        if not self.losses or loss < self.losses[-1]:
            self.best, self.groups = labels, groups
            self.losses.append(loss)

    def _cells(self) -> IntArray:
        from shoal.kernels.chance import make_state  # noqa: PLC0415
        from shoal.kernels.optimise_regions import sort_groups  # noqa: PLC0415
        from shoal.kernels.tuples import distinct_tuples  # noqa: PLC0415

        tuples = distinct_tuples(self.table.codes)
        rows, counts = self.rows[tuples.first], tuples.size.astype(np.int32)
        ones = np.ones(len(counts), np.int32)
        order, starts = sort_groups(self.space, rows, ones, _BLOCK, make_state(self.task.seed, 1))
        found = np.full(len(counts), -1, np.int32)
        groups = 0
        for begin, end in pairwise(starts):
            block = order[begin:end]
            labels, number = self._block_cells(rows[block], counts[block], begin / len(order))
            found[block] = np.where(labels < 0, -1, labels + groups)
            groups += number
        return found[tuples.label]

    def _block_cells(self, rows: IntArray, counts: IntArray, done: float) -> tuple[IntArray, int]:
        from shoal.kernels.chance import make_state  # noqa: PLC0415
        from shoal.kernels.optimise_cells import run_search, start_search  # noqa: PLC0415
        from shoal.kernels.optimise_ladder import build_ladder  # noqa: PLC0415

        ladder = build_ladder(self.space, rows, self.k, self.plan.ratio, 0.0, make_state(self.task.seed, 2))
        search = start_search(ladder, 1 << 19)
        left = self.plan.looks * len(counts)
        while left > 0:
            budget = min(left, _CHUNK)
            if run_search(ladder, counts, self.k, search, budget) < budget:
                break
            left -= budget
            self.task.progress(0.3 * done, "looking for cells")
        return search.label, int(search.state[1])

    def improve(self) -> None:
        """Improve the groups round by round, regions side by side."""
        import numba  # noqa: PLC0415

        with ThreadPoolExecutor(numba.get_num_threads()) as pool:
            for number in range(self.plan.rounds):
                if time.monotonic() >= self.deadline:
                    break
                self._improve_once(pool, (self.task.seed << 24) + number)
                self.task.progress(0.3 + 0.7 * (number + 1) / self.plan.rounds, f"loss {self.losses[-1]:.4f}")

    def _improve_once(self, pool: ThreadPoolExecutor, seed: int) -> None:
        from shoal.kernels.optimise_regions import improve_region, make_regions, renumber  # noqa: PLC0415

        assert self.best is not None  # noqa: S101
        labels = self.best.copy()
        regions = make_regions(self.space, self.rows, labels, self.groups, _REGION * self.k, seed)

        def improve(region: int) -> tuple[float, float]:
            plan = self.plan
            return improve_region(self.space, self.rows, labels, regions, region, self.k, plan.sweeps, plan.tries, seed)

        costs = list(pool.map(improve, range(len(regions.start) - 1)))
        self.groups, self.best = renumber(labels), labels
        self.losses.append(sum(after for _, after in costs) / self.whole)

    def lower_bound(self) -> float | None:
        """Return a loss that no grouping can be below, or None where that was not worked out."""
        from shoal.kernels.optimise_bound import bound_ladder, run_bound  # noqa: PLC0415
        from shoal.kernels.optimise_cells import start_search  # noqa: PLC0415
        from shoal.kernels.tuples import distinct_tuples  # noqa: PLC0415

        tuples = distinct_tuples(self.table.codes)
        counts = tuples.size.astype(np.int32)
        left = self.plan.bound_looks * len(counts)
        if left == 0 or len(counts) * len(self.space.kind) > _MOST_BOUND:
            return None
        ladder = bound_ladder(self.space, self.rows[tuples.first])
        search = start_search(ladder, 1 << 19)
        bound = np.full(len(counts), -1.0)
        while left > 0:
            budget = min(left, _CHUNK)
            if run_bound(ladder, counts, self.k, search, bound, budget) < budget:
                break
            left -= budget
            self.task.progress(1.0, "proving a bound")
        queue = search.queue
        least = float(queue.cost[queue.order[0]]) if queue.size[0] > 0 else 0.0
        return float(np.where(bound < 0.0, least, bound) @ counts) / self.whole

    def grouping(self) -> Grouping:
        """Return the best groups found."""
        assert self.best is not None  # noqa: S101
        return Grouping(self.best, details={"losses": tuple(self.losses), "lower_bound": self.bound})
