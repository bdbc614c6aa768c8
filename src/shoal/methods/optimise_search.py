"""One run of the optimiser: starts, rounds of improvement, and how low any loss can be."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shoal.methods.base import Grouping, Method, Task, say_nothing
from shoal.methods.k_member import KMember
from shoal.methods.local_recoding import BottomUp, TopDown
from shoal.methods.mondrian import Mondrian
from shoal.methods.optimise_merge import fill_cells, merge_groups
from shoal.methods.optimise_plan import (
    CLOSE,
    COOLING,
    EXCHANGED,
    EXCHANGING,
    FEWER,
    IN_TIME,
    LONGER,
    MERGING,
    MOST_BOUND,
    PLANS,
    REOPENED,
    REOPENING,
    REWARMED,
    TRIAL,
    UNVARIED,
    VARIED,
    WIDE,
    Plan,
    Run,
    block_for,
    ends_of_runs,
    hottest,
    in_seconds,
    rounds_for,
)
from shoal.methods.optimise_prices import MOST_TUPLES, group_by_prices
from shoal.methods.optimise_start import find_cells, grow_block, grow_groups, lower_bound, near_blocks
from shoal.methods.optimise_variants import Variants
from shoal.methods.partition import has_solver
from shoal.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from shoal.encoding import CodedTable
    from shoal.kernels.optimise_offers import Offers
    from shoal.kernels.tuples import Tuples


class Found(NamedTuple):
    """A grouping and what it loses."""

    labels: IntArray
    groups: int
    loss: float


class Search:
    """One run: the best grouping so far and what it cost."""

    def __init__(self, table: CodedTable, task: Task) -> None:
        self.task = task
        if table.weights.max() != 1.0:  # what counts as a gain must not depend on the size of all weights
            table = replace(table, weights=table.weights / table.weights.max())
        self.table = table
        self.k = min(task.k, table.records)
        self.seed = task.seed % (1 << 32)  # kernels take 64-bit words
        self.rows: IntArray = np.ascontiguousarray(table.codes.T)
        self.plan = PLANS[task.effort] if isinstance(task.effort, str) else in_seconds(float(task.effort))
        self.rounds = rounds_for(self.plan, table.records, len(table.columns))
        self.deadline = np.inf if isinstance(task.effort, str) else time.monotonic() + float(task.effort)
        self.whole = table.records * float(table.space.weight.sum())
        self.starts: dict[str, Found] = {}
        self.best: Found | None = None
        self.losses: list[float] = []
        self.done = 0.0
        self.hottest = hottest(self.plan, self.k, len(table.columns))
        self.bound: float | None = None
        self.offers: Offers | None = None
        self.variants: Variants | None = None
        self.run = Run()

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
        if plan.priced and self._in_time():
            self._price()
        self._tell_loss(0.3)

    def _look_for_cells(self, plan: Plan) -> None:
        found = find_cells(self.table, self.k, plan.ratio, plan.looks, self.seed, self._tell, self.deadline)
        self._offer("cells", found)

    def _in_time(self) -> bool:
        return time.monotonic() < self.deadline

    def _latest(self) -> Found:
        assert self.best is not None  # noqa: S101
        return self.best

    def _grow(self) -> None:
        """Grow groups in blocks of near records, if one of the blocks shows that this pays."""
        table, k, seed = self.table, self.k, self.seed
        blocks = near_blocks(table, self.rows, block_for(self.plan, k, len(table.columns)), seed)
        sample = blocks[len(blocks) // 2]
        if len(blocks) == 1 or grow_block(table, sample, k, seed)[1] < self._cost_of(sample):
            self._offer("grown", grow_groups(table, blocks, k, seed, self._tell))

    def _price(self) -> None:
        """Find prices where all columns have a hierarchy; else, or where cells are too many, these are learned from groups later on."""
        from shoal.kernels.tuples import distinct_tuples  # noqa: PLC0415

        tuples = distinct_tuples(self.table.codes)
        if len(tuples.size) > MOST_TUPLES:
            return
        if {one.kind for one in self.table.columns} == {"node"}:
            self._walk(tuples)
        fewer = int(FEWER * self.rounds)
        if self.offers is None and fewer > UNVARIED:
            self.variants, self.rounds = Variants(self.table, tuples, self.k, self.seed), fewer

    def _walk(self, tuples: Tuples) -> None:
        """Open the cells that prices tell to open: where all columns have a hierarchy, cells are all there is."""
        paid = self._paid_by_each(self._latest())
        half = (time.monotonic() + self.deadline) / 2.0  # of a number of seconds; the rounds need time too
        priced = group_by_prices(self.table, tuples, self.k, paid, self.plan.priced, self.seed, self._tell, half)
        if priced is not None:
            self._offer("priced", priced.labels)
            self.bound = priced.bound / self.whole if priced.bound > 0.0 else None
            self.offers = priced.offers
            self.rounds = int(LONGER * self.rounds)

    def _cost_of(self, records: IntArray) -> float:
        """Return what records cost in the best groups so far."""
        return float(self._paid_by_each(self._latest())[records].sum())

    def _paid_by_each(self, found: Found) -> FloatArray:
        """Return what each record costs in some groups."""
        return self._costs(found.labels)[0][found.labels]

    def _costs(self, labels: IntArray) -> tuple[FloatArray, IntArray]:
        """Return the cost of each group for each of its records, and the groups' sizes."""
        filled = fill_cells(self.table, labels)
        return filled.cost, filled.cover.size

    def _completed(self, labels: IntArray) -> Found:
        """Give every record a group of less than 2k records, and count what that loses."""
        from shoal.kernels.optimise_regions import complete  # noqa: PLC0415

        labels = labels.copy()
        groups = complete(self.table.space, self.rows, labels, int(labels.max()) + 1, self.k)
        cost, size = self._costs(labels)
        return Found(labels, groups, float(cost @ size) / self.whole)

    def _offer(self, name: str, labels: IntArray) -> None:
        """Complete a start and keep it, unless there is a better one of that name."""
        found = self._completed(labels)
        if name not in self.starts or found.loss < self.starts[name].loss:
            self.starts[name] = found
        self._keep(found)

    def _keep(self, found: Found) -> None:
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
        if self.rounds == 0 or self._latest().groups == 1:
            return
        import numba  # noqa: PLC0415

        from shoal.kernels.optimise_steps import measure_steps  # noqa: PLC0415

        self.steps = measure_steps(self.table.space, self.rows)
        with ThreadPoolExecutor(numba.get_num_threads()) as pool:
            if self.offers is None or not has_solver():
                self._cool_down(self._choose(pool), pool, TRIAL)
            else:
                self._merge_runs(pool)

    def _cool_down(self, found: Found, pool: ThreadPoolExecutor, number: int) -> tuple[Found, int]:
        """Make the rounds of a run, the first of which has a number; return the groups at its end and the number of the next round."""
        while number < self.rounds and self._share_of_rounds(number) < self.run.end and self._in_time():
            heat = self._heat(number, found)
            before, found = found, self._improve_once(found, pool, number, heat)
            number += 1
            if heat == 0.0 and before.loss - found.loss <= self.plan.least_gain * before.loss:
                break
        return found, number

    def _merge_runs(self, pool: ThreadPoolExecutor) -> None:
        """Merge the groups that several runs find: each one but the first begins with the best groups so far, and forgets part of them."""
        begin, share = time.monotonic(), self._share_of_rounds(0)
        found, rounds = self._choose(pool), float(self.rounds)
        if self.deadline < np.inf:
            rounds = TRIAL * (self.deadline - begin) / (time.monotonic() - begin)
        ends = [share + (1.0 - share) * end for end in self._ends(rounds)]
        self.run = Run(share, ends[0])
        _, number = self._cool_down(found, pool, TRIAL)
        for end in ends[1:]:
            best, share, begin = self._latest(), self._share_of_rounds(number), time.monotonic()
            if share < end:
                self.run = Run(share, end, REWARMED)
                found, number = self._cool_down(best, pool, number)
                self._merge(best, found, pool, number, MERGING * (time.monotonic() - begin))

    def _ends(self, rounds: float) -> tuple[float, ...]:
        """Return when runs end, as a share of what is left; the clock leaves time to merge the last one."""
        ends = ends_of_runs(rounds)
        timed = len(ends) > 1 and self.deadline < np.inf
        return tuple(IN_TIME * end for end in ends) if timed else ends

    def _merge(self, best: Found, found: Found, pool: ThreadPoolExecutor, number: int, seconds: float) -> None:
        """Look for better groups of the cells of two groupings; a run that the clock ends does so for some seconds."""
        self._tell(self.done, "merging runs")
        mine, other = sorted((best, found), key=lambda one: one.loss)
        until = min(self.deadline, time.monotonic() + seconds) if self.deadline < np.inf else np.inf
        seed = self._seed_of(number)
        merged = merge_groups(self.table, self.rows, mine.labels, other.labels, self.k, seed, pool, until)
        self._keep(self._completed(merged))
        self._tell_loss(self.done)

    def _choose(self, pool: ThreadPoolExecutor) -> Found:
        """Improve the two best starts for a few rounds, where they are close, and return the better one.

        Groups of cells opened by prices need no comparison: they end lowest even where they start a little higher.
        """
        best, *others = sorted(self.starts.values(), key=lambda found: found.loss)
        priced = self.starts.get("priced")
        if priced is not None and priced.loss <= CLOSE * best.loss:
            best, others = priced, []
        close = [best, *(other for other in others[:1] if other.loss <= CLOSE * best.loss)]
        for place, _ in enumerate(close):
            for number in range(min(TRIAL, self.rounds)):
                if self._in_time():
                    heat = self._heat(number, close[place])
                    close[place] = self._improve_once(close[place], pool, number, heat)
        return min(close, key=lambda found: found.loss)

    def _seed_of(self, number: int) -> int:
        """Return the seed of a round."""
        return (self.seed << 24) + number

    def _paid(self, found: Found) -> float:
        """Return what a record costs in the mean."""
        return found.loss * self.whole / self.table.records

    def _warmth(self, number: int) -> float:
        """Return how warm a round is, from 1 for the first one of all to 0 for the last, cold ones of a run."""
        return self.run.warmth_at(self._share_of_rounds(number))

    def _heat(self, number: int, found: Found) -> float:
        """Return what a step of a round may cost more."""
        return self.hottest * self._paid(found) * self._warmth(number)

    def _improve_once(self, found: Found, pool: ThreadPoolExecutor, number: int, heat: float) -> Found:
        from shoal.kernels.optimise_regions import make_regions, renumber  # noqa: PLC0415
        from shoal.kernels.optimise_round import improve_region  # noqa: PLC0415

        space, k, seed = self.table.space, self.k, self._seed_of(number)
        labels, groups = found.labels.copy(), found.groups
        offers = self._offers_for(found, number)
        if offers is not None:
            groups = self._open_and_close(offers, labels, groups, pool, number, self._paid(found))
        regions = make_regions(space, self.rows, labels, groups, self.plan.region * k, seed)
        often = max(self.plan.rebuilt, self.plan.least_looks // self.table.records)
        if offers is not None:
            often = (often + 1) // 2  # opening cells rebuilds groups too, and better

        def improve(region: int) -> float:
            looks = often if self._in_time() else 0
            return improve_region(space, self.rows, labels, regions, region, self.steps, k, looks, heat, seed)

        cost = sum(pool.map(improve, range(len(regions.start) - 1)))
        better = Found(labels, renumber(labels), cost / self.whole)
        plain = self.offers is None and self.variants is None
        if plain and better.loss > found.loss * (1.0 + 1e-12):  # a smaller rise is rounding
            self.hottest *= COOLING
        self._keep(better)
        self._tell_loss(0.3 + 0.6 * self._share_of_rounds(number + 1))
        return better

    def _offers_for(self, found: Found, number: int) -> Offers | None:
        """Return the cells to open and close in a round, if any: those of all prices, or learned from the groups every few rounds."""
        if self.variants is None or number < UNVARIED or number % VARIED:
            return self.offers
        return self.variants.offers(found.labels, found.groups, self._paid_by_each(found))

    def _open_and_close(
        self, offers: Offers, labels: IntArray, groups: int, pool: ThreadPoolExecutor, number: int, paid: float
    ) -> int:
        """Open cells that prices offer, in wide regions; return how many groups there are then."""
        from shoal.kernels.optimise_exchange import exchange_region  # noqa: PLC0415
        from shoal.kernels.optimise_regions import make_regions, renumber  # noqa: PLC0415
        from shoal.kernels.optimise_reopen import reopen_region  # noqa: PLC0415

        k, seed, warm = self.k, self._seed_of(number), self.k * paid * self._warmth(number)
        regions = make_regions(self.table.space, self.rows, labels, groups, WIDE * self.plan.region * k, seed)
        where = (self.table.space, self.rows, labels, regions)

        def open_and_close(region: int) -> None:
            # without time too, for both give the groups of a region numbers of its own
            exchange_region(*where, region, offers, k, EXCHANGED * self._in_time(), paid, EXCHANGING * warm, seed)
            reopen_region(*where, region, offers, k, REOPENED * self._in_time(), paid, REOPENING * warm, seed)

        list(pool.map(open_and_close, range(len(regions.start) - 1)))
        return renumber(labels)

    def prove(self) -> None:
        """Work out how low any loss can be, where the effort allows it."""
        if self.plan.bound_looks and self._in_time() and self.rows.size <= MOST_BOUND:
            proven = lower_bound(self.table, self.k, self.plan.bound_looks, self._tell, self.deadline)
            self.bound = max(proven, self.bound or 0.0)

    def grouping(self) -> Grouping:
        """Return the best groups found."""
        return Grouping(self._latest().labels, details={"losses": tuple(self.losses), "lower_bound": self.bound})
