"""All steps of the plan for a table whose codes are in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import IntArray, LongArray
from shoal.encoding import numbered_anew
from shoal.enforcement.dispatch import group_records
from shoal.enforcement.mending import repair_equal_boxes
from shoal.methods.base import Grouping, Method, Task, say_nothing
from shoal.methods.mondrian import Mondrian
from shoal.methods.optimize import Optimize
from shoal.methods.stopping import INTERRUPTS, cancellable
from shoal.plan.contents import Sample, draw_sample, order_by_content
from shoal.plan.cuts import Tree
from shoal.plan.steps import (
    Job,
    can_be_cut,
    count_batch,
    cut_into_fragments,
    fragments_of,
    fragments_with_people,
    run_fragment,
    sample_share,
)
from shoal.privacy.base import bind_models
from shoal.privacy.k_anonymity import at_least_units

if TYPE_CHECKING:
    from shoal.encoding import CodedTable
    from shoal.privacy.base import PrivacyModel


def group_table(
    method: Method, table: CodedTable, task: Task, models: Sequence[PrivacyModel] = (), sensitive: Sequence[str] = ()
) -> Grouping:
    """Group the records of a table by the plan if it can be cut; else all at once.

    The order of rows does not matter to the optimizer, and not if a table is cut. Other methods break ties by it, as in their papers.

    A person's records may be in several fragments, because what must hold is that each group has ``k`` persons; if they have to stay
    together, the table stays whole. The requirements of ``task`` are ``models``, bound to the table.
    """
    job = Job(method, replace(task, requirements=()), tuple(models), tuple(sensitive))
    share = sample_share(table.records, job, table.columns) if can_be_cut(job) else None
    if share is None and not isinstance(method, Optimize):
        return group_records(method, table, task)
    if not table.units and table.survey_weight is None:
        return _group_by_content(table, job, share)
    order = _by_owner(table)
    found = _group_by_content(numbered_anew(table.take(order)), job, share)
    labels = np.empty_like(found.labels)
    labels[order] = found.labels
    return replace(found, labels=labels)


def _by_owner(table: CodedTable) -> LongArray:
    """Return the records in the order of their person and of the number of people they represent, which the order by content leaves open."""
    weight = () if table.survey_weight is None else (table.survey_weight,)
    return np.lexsort((*weight, *(table.units[unit] for unit in sorted(table.units))))


def _group_by_content(table: CodedTable, job: Job, share: float | None) -> Grouping:
    """Group records in the order of their content; ``share`` is that of the sample, None for a table that is not cut."""
    if share is None:
        return run_fragment(table, job, table.records)
    whole = table.as_whole()
    job.task.progress(0.0, "cutting the table")
    found = _group_fragments(whole, job, fragment_by_record(whole, job, share))
    return replace(found, labels=_repair_equal_boxes(whole, job, found.labels)) if whole.units and job.models else found


def _repair_equal_boxes(table: CodedTable, job: Job, labels: IntArray) -> IntArray:
    """Mend groups of several fragments that are released alike and fail a model together.

    That happens only if people are counted: who is in both groups counts once in the two together, and the values of both times count.
    """
    order = order_by_content(table)
    ordered = numbered_anew(table.take(order))
    requirements = (*at_least_units(ordered, job.task.k), *bind_models(job.models, ordered, job.sensitive))
    mended = np.empty_like(labels)
    mended[order] = repair_equal_boxes(ordered, labels[order], replace(job.task, requirements=requirements))
    return mended


@dataclass(frozen=True)
class _InMemory:
    """A table that knows its totals, as the plan asks of it."""

    table: CodedTable
    job: Job

    def sample(self, share: float) -> Sample:
        """Return the distinct tuples of a share of the table."""
        return draw_sample(self.table, self.job.task.seed, share)

    def fragments(self, tree: Tree) -> IntArray:
        """Return the fragment of each leaf."""
        table, job = self.table, self.job
        leaf = tree.assign(table.codes)
        if table.units:
            return fragments_with_people(tree, leaf, table, job)
        protected = [table.attributes[name] for name in job.sensitive]
        return fragments_of(tree, count_batch(table, leaf, tree.leaves), job, protected)


def fragment_by_record(table: CodedTable, job: Job, share: float) -> IntArray:
    """Return the fragment of each record of a table that knows its totals."""
    backend = _InMemory(table, job)
    cuts = cut_into_fragments(backend, table, table.records, job, share, owned=bool(table.units))
    return np.asarray(cuts.fragment[cuts.tree.assign(table.codes)], np.int32)


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
    """Return the job of one fragment: it reports no progress of its own, and an interrupt ends it at once."""
    progress = cancellable(say_nothing, job.task.cancel)
    return replace(job, task=replace(job.task, progress=progress, on_interrupt="raise"))


def _records_of(fragment: IntArray) -> Iterator[LongArray]:
    """Yield the records of each fragment in rising order."""
    order = np.argsort(fragment, kind="stable")
    ends = np.cumsum(np.bincount(fragment))
    for begin, end in pairwise([0, *ends.tolist()]):
        yield order[begin:end]
