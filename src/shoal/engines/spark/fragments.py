"""The plan of a large table on Spark: learn, cut, group where the rows are, stage, count again.

The driver sees no rows but the distinct tuples of the coded sample.
"""

from __future__ import annotations

import secrets
from functools import partial, reduce
from operator import add
from typing import Any, NamedTuple

from shoal.arrays import IntArray
from shoal.ends import choose_ends, merge_ranges
from shoal.engines.spark.bundles import BUNDLES, brought_together
from shoal.engines.spark.counting import Counted, audit_of, check_counted, check_kept_together, count_release
from shoal.engines.spark.naming import map_in_arrow
from shoal.engines.spark.people import OWNERS, Whose, counted_by_person, fragments_with_enough, numbers_of, with_owners
from shoal.engines.spark.sessions import collect, hashable_columns, payloads, tasks_for, with_columns
from shoal.engines.spark.tasks import (
    ORDER,
    PAYLOAD,
    Fragments,
    count_rows,
    group_rows,
    lay_down,
    mark_rows,
    release_fragments,
    sample_rows,
)
from shoal.engines.spark.work import Made, Work, changed, learn
from shoal.io.folder_guard import remove_folder
from shoal.metrics.loss import Statistics, combine
from shoal.plan.coding import Coding
from shoal.plan.contents import Sample, merge_samples
from shoal.plan.cuts import Tree
from shoal.plan.steps import Cuts, cut_into_fragments, fragments_of, least_people, sample_share
from shoal.release.make import refuse_withheld


def stage_fragments(work: Work) -> Made:
    """Release the table fragment by fragment, and stage it."""
    work.progress(0.0, "learning the columns")
    coding = learn(work)
    people = numbers_of(work.data, work.owners)
    if "person" in work.owners and coding.attributes:
        coding = counted_by_person(work.data, coding, work.owners["person"], people["person"])
    secret = secrets.randbits(120)
    owned = with_owners(work.data, work.owners, secret >> 64)
    work.progress(0.2, "cutting the table")
    share = sample_share(coding.records, work.job, coding.columns) or 1.0
    rows = _Partitions(work, coding, owned)
    cuts = cut_into_fragments(rows, coding.empty, coding.records, work.job, share, owned=bool(work.owners))
    work.progress(0.3, "finding groups, fragment by fragment")
    _stage(work, coding, cuts, owned, secret)
    staged = work.data.sparkSession.read.parquet(work.rows)
    sums = dict(payloads(staged.where(f"{PAYLOAD} is not null")))
    total = combine([sums[one] for one in sorted(sums)])
    work.progress(0.8, "counting")
    counted = count_staged(work, coding, total)
    metrics = total.metrics(work.request.quasi_identifiers, coding.weights, work.request.k)
    audit = audit_of(counted, work.request.quasi_identifiers, people)
    return Made(metrics, audit, {"fragments": len(sums)})


class _Partitions(NamedTuple):
    """The partitions of a DataFrame, as the plan asks of them."""

    work: Work
    coding: Coding
    owned: Any
    """The rows with the numbers of their persons."""

    def sample(self, share: float) -> Sample:
        """Return the distinct tuples of a share of the table."""
        seed = self.work.job.task.seed
        return merge_samples(collect(self.work.data, sample_rows, coding=self.coding, seed=seed, share=share))

    def fragments(self, tree: Tree) -> IntArray:
        """Return the fragment of each leaf."""
        work, coding, job = self.work, self.coding, self.work.job
        counts = reduce(add, collect(work.data, count_rows, coding=coding, tree=tree))
        if work.owners:
            least = least_people(job)
            return fragments_with_enough(self.owned, coding, tree, counts.records, list(work.owners), least)
        return fragments_of(tree, counts, job, [coding.attributes[name] for name in job.sensitive])


def _stage(work: Work, coding: Coding, cuts: Cuts, owned: Any, secret: int) -> None:
    """Group every fragment where its rows are, scatter the released rows and write them."""
    from pyspark.sql import functions  # noqa: PLC0415

    data = work.data
    tasks = tasks_for(data, int(cuts.fragment.max()) + 1)
    ordered = owned.withColumn(ORDER, functions.xxhash64(*hashable_columns(data)))
    mark = partial(mark_rows, coding=coding, tree=cuts.tree, number=cuts.fragment)
    together = brought_together(map_in_arrow(ordered, mark, BUNDLES), tasks)
    how = Fragments(
        coding=coding,
        job=work.job,
        records=coding.records,
        columns=(*work.released, *(OWNERS[unit] for unit in work.owners)),
        like=work.frame,
        parts=tasks,
        secret=secret,
        units=tuple(unit for unit in work.request.units if unit in work.owners),
    )
    if work.request.ends != "exact" and any(one.measured for one in coding.columns):
        together, how = _group_first(work, together, how, tasks)
    write_scattered(work, together.mapInArrow(partial(release_fragments, fragments=how), BUNDLES), tasks)
    remove_folder(_grouped(work))


def _group_first(work: Work, together: Any, how: Fragments, tasks: int) -> tuple[Any, Fragments]:
    """Group all fragments and put the rows by with their groups; the ranges of all of them decide where ranges end."""
    schema = f"{BUNDLES}, {PAYLOAD} binary"
    together.mapInArrow(partial(group_rows, fragments=how), schema).write.parquet(_grouped(work))
    grouped = work.data.sparkSession.read.parquet(_grouped(work))
    ranges = merge_ranges(payloads(grouped.where(f"{PAYLOAD} is not null")))
    ends = choose_ends(how.coding.columns, ranges, work.request.ends)
    bundles = grouped.where(f"{PAYLOAD} is null").drop(PAYLOAD)
    return brought_together(bundles, tasks), how._replace(ends=ends)


def _grouped(work: Work) -> str:
    return f"{work.folder}/grouped"


def write_scattered(work: Work, bundles: Any, tasks: int) -> None:
    """Write rows in the order of their random places, so that neither file nor place reveals where they come from."""
    own = [*(OWNERS[unit] for unit in work.owners), PAYLOAD]
    schema = with_columns(work.data, work.released, work.request.quasi_identifiers, own)
    brought_together(bundles, tasks).mapInArrow(lay_down, schema).write.parquet(work.rows)


def count_staged(work: Work, coding: Coding, total: Statistics) -> Counted:
    """Count the staged rows again; raise if they do not hold what was asked for, or are not those of the table."""
    request = work.request
    staged = work.data.sparkSession.read.parquet(work.rows)
    released = staged.where(f"{PAYLOAD} is null").drop(PAYLOAD)
    whose = Whose(*(OWNERS[unit] if unit in work.owners else None for unit in OWNERS))
    counted = count_release(released, request.quasi_identifiers, request.sensitive, coding, request.models, whose)
    check_counted(counted, work.job.k)
    for unit in work.job.task.together:
        check_kept_together(released, request.quasi_identifiers, unit, request.k)
    if total.records != coding.records or counted.records != total.records - total.suppressed:
        raise changed(coding.records, total.records)
    refuse_withheld(total.suppressed, request.max_suppression, total.records)
    return counted
