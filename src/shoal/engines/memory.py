"""The engine for tables that fit into memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import IntArray, LongArray
from shoal.encoding import numbered_anew
from shoal.enforcement.keeping import group_records
from shoal.enforcement.mending import mend_alike
from shoal.engines.contents import draw_sample, order_by_content
from shoal.engines.plan import (
    Job,
    can_be_cut,
    count_batch,
    cut_table,
    fragments_of,
    fragments_with_people,
    run_fragment,
    sample_share,
    take_sample,
)
from shoal.methods.base import Grouping, Method, Task, say_nothing
from shoal.methods.mondrian import Mondrian
from shoal.methods.stopping import INTERRUPTS, cancellable
from shoal.privacy.base import bind_models
from shoal.privacy.k_anonymity import at_least_units

if TYPE_CHECKING:
    from shoal.encoding import CodedTable
    from shoal.privacy.base import PrivacyModel


def group_table(
    method: Method, table: CodedTable, task: Task, models: Sequence[PrivacyModel] = (), sensitive: Sequence[str] = ()
) -> Grouping:
    """Group the records of a table by the plan where it can be cut, so that the order of its rows does not matter; else as it is.

    A person's records may lie in several fragments, for what must hold is that each group has ``k`` persons; where they have to stay
    together, the table stays whole. The requirements of ``task`` are ``models``, bound to the table.
    """
    job = Job(method, replace(task, requirements=()), tuple(models), tuple(sensitive))
    if not can_be_cut(job):
        return group_records(method, table, task)
    share = sample_share(table.records, job, table.columns)
    if share is None:
        return run_fragment(table, job, table.records)
    whole = table.as_whole()
    task.progress(0.0, "cutting the table")
    found = _group_fragments(whole, job, fragment_by_record(whole, job, share))
    return replace(found, labels=_mend_alike(whole, job, found.labels)) if whole.units and models else found


def _mend_alike(table: CodedTable, job: Job, labels: IntArray) -> IntArray:
    """Mend groups of several fragments that are released alike and fail a model together.

    That happens only where people are counted: who is in both groups counts once in the two together, and the values of both times count.
    """
    order = order_by_content(table)
    ordered = numbered_anew(table.take(order))
    requirements = (*at_least_units(ordered, job.task.k), *bind_models(job.models, ordered, job.sensitive))
    mended = np.empty_like(labels)
    mended[order] = mend_alike(ordered, labels[order], replace(job.task, requirements=requirements))
    return mended


def fragment_by_record(table: CodedTable, job: Job, share: float) -> IntArray:
    """Return the fragment of each record of a table that knows its totals."""
    sample = take_sample(partial(draw_sample, table, job.task.seed), share)
    tree = cut_table(table, sample, table.records, job, owned=bool(table.units))
    leaf = tree.assign(table.codes)
    if table.units:
        return np.asarray(fragments_with_people(tree, leaf, table, job)[leaf], np.int32)
    protected = [table.attributes[name] for name in job.sensitive]
    counts = count_batch(table, leaf, tree.leaves)
    return np.asarray(fragments_of(tree, counts, job, protected)[leaf], np.int32)


def _group_fragments(table: CodedTable, job: Job, fragment: IntArray) -> Grouping:
    """Group each fragment by itself, and number the groups of all."""
    labels, used = np.full(table.records, -1, np.int32), 0
    done, found = 0, Grouping(labels)
    for records in _records_of(fragment):
        job.task.progress(done / table.records, "finding groups, fragment by fragment")
        part = table.take(records)
        try:
            found = run_fragment(part, _quiet(job), table.records)
        except INTERRUPTS:
            if job.task.on_interrupt != "best" or not done:
                raise
            job = replace(
                job, method=Mondrian(), task=replace(job.task, cancel=None)
            )  # quick cuts for all that is left
            found = run_fragment(part, _quiet(job), table.records)
        labels[records] = np.where(found.labels < 0, -1, found.labels + used)
        used += int(found.labels.max(initial=-1)) + 1
        done += len(records)
    return Grouping(labels, details={"fragments": int(fragment.max()) + 1}, typical=found.typical)


def _quiet(job: Job) -> Job:
    """Return the job of one fragment: it tells no progress of its own, and an interrupt ends it at once."""
    progress = cancellable(say_nothing, job.task.cancel)
    return replace(job, task=replace(job.task, progress=progress, on_interrupt="raise"))


def _records_of(fragment: IntArray) -> Iterator[LongArray]:
    """Yield the records of each fragment in rising order."""
    order = np.argsort(fragment, kind="stable")
    ends = np.cumsum(np.bincount(fragment))
    for begin, end in pairwise([0, *ends.tolist()]):
        yield order[begin:end]
