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
from shoal.engines.contents import Sample, merge_samples
from shoal.engines.cutting import Tree
from shoal.engines.learning import Coding
from shoal.engines.plan import cut_table, fragments_of, least_people, sample_share, take_sample
from shoal.engines.releasing import Statistics, combine, metrics_of
from shoal.io.watching import remove_folder
from shoal.release import refuse_withheld
from shoal.spark.bundles import BUNDLES, brought_together
from shoal.spark.counting import Counted, audit_of, check_counted, count_release
from shoal.spark.naming import map_in_arrow
from shoal.spark.people import OWNERS, Whose, counted_by_person, fragments_with_enough, numbers_of, with_owners
from shoal.spark.sessions import collect, hashable_columns, payloads, tasks_for, with_columns
from shoal.spark.tasks import (
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
from shoal.spark.work import Made, Work, changed, learn


class Cuts(NamedTuple):
    """Where the table is cut."""

    tree: Tree
    number: IntArray
    """The fragment of each leaf."""


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
    cuts = _cut(work, coding, owned)
    work.progress(0.3, "finding groups, fragment by fragment")
    _stage(work, coding, cuts, owned, secret)
    staged = work.data.sparkSession.read.parquet(work.rows)
    sums = dict(payloads(staged.where(f"{PAYLOAD} is not null")))
    total = combine([sums[one] for one in sorted(sums)])
    work.progress(0.8, "counting")
    counted = count_staged(work, coding, total)
    metrics = metrics_of(total, work.recipe.quasi_identifiers, coding.weights, work.recipe.k)
    audit = audit_of(counted, work.recipe.quasi_identifiers, people)
    return Made(metrics, audit, {"fragments": len(sums)})


def _cut(work: Work, coding: Coding, owned: Any) -> Cuts:
    data, job = work.data, work.job
    share = sample_share(coding.records, job, coding.columns) or 1.0

    def draw(share: float) -> Sample:
        return merge_samples(collect(data, sample_rows, coding=coding, seed=job.task.seed, share=share))

    tree = cut_table(coding.empty, take_sample(draw, share), coding.records, job, owned=bool(work.owners))
    counts = reduce(add, collect(data, count_rows, coding=coding, tree=tree))
    if work.owners:
        least = least_people(job)
        return Cuts(tree, fragments_with_enough(owned, coding, tree, counts.records, list(work.owners), least))
    protected = [coding.attributes[name] for name in job.sensitive]
    return Cuts(tree, fragments_of(tree, counts, job, protected))


def _stage(work: Work, coding: Coding, cuts: Cuts, owned: Any, secret: int) -> None:
    """Group every fragment where its rows are, scatter the released rows and write them."""
    from pyspark.sql import functions  # noqa: PLC0415

    data = work.data
    tasks = tasks_for(data, int(cuts.number.max()) + 1)
    ordered = owned.withColumn(ORDER, functions.xxhash64(*hashable_columns(data)))
    mark = partial(mark_rows, coding=coding, tree=cuts.tree, number=cuts.number)
    together = brought_together(map_in_arrow(ordered, mark, BUNDLES), tasks)
    how = Fragments(
        coding=coding,
        job=work.job,
        records=coding.records,
        columns=(*work.released, *(OWNERS[unit] for unit in work.owners)),
        like=work.frame,
        parts=tasks,
        secret=secret,
        units=tuple(unit for unit in work.recipe.units if unit in work.owners),
    )
    if work.recipe.ends != "exact" and any(one.measured for one in coding.columns):
        together, how = _group_first(work, together, how, tasks)
    write_scattered(work, together.mapInArrow(partial(release_fragments, fragments=how), BUNDLES), tasks)
    remove_folder(_grouped(work))


def _group_first(work: Work, together: Any, how: Fragments, tasks: int) -> tuple[Any, Fragments]:
    """Group all fragments and put the rows by with their groups; the ranges of all of them decide where ranges end."""
    schema = f"{BUNDLES}, {PAYLOAD} binary"
    together.mapInArrow(partial(group_rows, fragments=how), schema).write.parquet(_grouped(work))
    grouped = work.data.sparkSession.read.parquet(_grouped(work))
    ranges = merge_ranges(payloads(grouped.where(f"{PAYLOAD} is not null")))
    ends = choose_ends(how.coding.columns, ranges, work.recipe.ends)
    bundles = grouped.where(f"{PAYLOAD} is null").drop(PAYLOAD)
    return brought_together(bundles, tasks), how._replace(ends=ends)


def _grouped(work: Work) -> str:
    return f"{work.folder}/grouped"


def write_scattered(work: Work, bundles: Any, tasks: int) -> None:
    """Write rows in the order of their random places, so that neither file nor place tells where they come from."""
    own = [*(OWNERS[unit] for unit in work.owners), PAYLOAD]
    schema = with_columns(work.data, work.released, work.recipe.quasi_identifiers, own)
    brought_together(bundles, tasks).mapInArrow(lay_down, schema).write.parquet(work.rows)


def count_staged(work: Work, coding: Coding, total: Statistics) -> Counted:
    """Count the staged rows anew; raise where they do not hold what was asked for, or are not those of the table."""
    recipe = work.recipe
    staged = work.data.sparkSession.read.parquet(work.rows)
    released = staged.where(f"{PAYLOAD} is null").drop(PAYLOAD)
    whose = Whose(*(OWNERS[unit] if unit in work.owners else None for unit in OWNERS))
    counted = count_release(released, recipe.quasi_identifiers, recipe.sensitive, coding, recipe.models, whose)
    check_counted(counted, work.job.k)
    if total.records != coding.records or counted.records != total.records - total.suppressed:
        raise changed(coding.records, total.records)
    refuse_withheld(total.suppressed, recipe.max_suppression, total.records)
    return counted
