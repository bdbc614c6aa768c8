"""The batches of a table on disk, as the plan asks of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from pathlib import Path

import numpy as np

from shoal.arrays import IntArray, LongArray
from shoal.engines.stream.order import Order
from shoal.engines.stream.spool import Spool
from shoal.engines.stream.tasks import RowSlices, WorkerContext, sample_batch, sort_batch
from shoal.engines.stream.workers import Workers
from shoal.plan.contents import Sample, merge_samples
from shoal.plan.cuts import Tree
from shoal.plan.fragments import Counts
from shoal.plan.steps import fragments_of


class Batches:
    """Coded batches; once a tree of cuts is known, sorted by its leaves."""

    def __init__(self, order: Order, workers: Workers, setting: WorkerContext, spool: Spool) -> None:
        self.order, self.workers, self.setting, self.spool = order, workers, setting, spool
        self.ends: list[LongArray] = []
        """Of each sorted batch, where the rows of each leaf end."""

    def sample(self, share: float) -> Sample:
        """Return the distinct tuples of a share of the table."""
        return merge_samples(self.workers.run(sample_batch, [(batch, share) for batch in self.spool.batches]))

    def sort(self, tree: Tree) -> Counts:
        """Sort all batches by leaf on disk; return the records of each leaf."""
        self.setting = replace(self.setting, tree=tree)
        self.workers.tell(self.setting)
        found = list(self.workers.run(sort_batch, [(batch,) for batch in self.spool.batches]))
        self.ends = [ends for _, ends in found]
        total: Counts = reduce(add, [counts for counts, _ in found])
        return total

    def fragments(self, tree: Tree) -> IntArray:
        """Return the fragment of each leaf."""
        job = self.order.job
        attributes = [self.setting.coding.attributes[name] for name in job.sensitive]
        return fragments_of(tree, self.sort(tree), job, attributes)

    def stretches(self, fragment: IntArray) -> list[RowSlices]:
        """Return where the rows of each fragment are; of a table that is grouped as a whole, each batch is written by itself."""
        if self.order.whole:
            return [[(batch, 0, int(ends[-1]))] for batch, ends in zip(self.spool.batches, self.ends, strict=True)]
        return [
            _stretches(np.flatnonzero(fragment == number), self.spool.batches, self.ends)
            for number in range(int(fragment.max()) + 1)
        ]


def _stretches(leaves: LongArray, batches: Sequence[Path], ends: Sequence[LongArray]) -> list[tuple[Path, int, int]]:
    """Return where the rows of some leaves are in the sorted batches."""
    return [
        (batch, int(end[leaf]), int(end[leaf + 1]))
        for batch, end in zip(batches, ends, strict=True)
        for leaf in leaves.tolist()
        if end[leaf + 1] > end[leaf]
    ]
