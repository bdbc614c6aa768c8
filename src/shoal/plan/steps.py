"""The plan of a large table: learned, cut into fragments by content, grouped fragment by fragment, combined.

Every engine executes the same steps and so finds the same groups, whatever the order of rows, the size of batches and the number of workers::

    share  = sample_share(records, job, columns)     how much of the table the pilot sees; None: one fragment, no cuts
    cuts   = cut_into_fragments(backend, table, records, job, share)     asks the backend, wherever its rows are:
                 backend.sample(share)                draw_sample(batch, seed, share) of all batches, merged
                 backend.fragments(tree)              tree.assign(batch.codes) and count_batch for each batch, added up; fragments_of
    labels = run_fragment(part, job)                 for each fragment, anywhere: ``part`` has all its records and the totals of the whole

A ``CodedTable`` whose attributes carry ``total`` is a part of a larger table: models measure its groups against these totals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np

from shoal.arrays import Effort, IntArray, LongArray
from shoal.encoding import CodedAttribute, CodedColumn, CodedTable, numbered_anew
from shoal.enforcement.dispatch import group_records
from shoal.errors import PrivacyError
from shoal.methods.base import Grouping, Method, Task
from shoal.methods.optimize import Optimize
from shoal.methods.optimize.params import FRAGMENTS
from shoal.plan.contents import Sample, make_pilot, order_by_content
from shoal.plan.copies import copies_aside, group_with_copies
from shoal.plan.cuts import Tree, build_tree
from shoal.plan.fragments import Counts, count_leaves, join_leaves
from shoal.privacy.base import PrivacyModel, bind_models, failing_groups, refuse_unreachable
from shoal.privacy.k_anonymity import KAnonymity, at_least_units

LARGE = 1 << 16
"""Records above which a table is cut."""
_FAST_LARGE = 1 << 15
"""The same for the optimizer's effort "fast" without models, if fragments have ``_FAST_FRAGMENT`` records: they lose less than the whole table then, in about the same time."""
_PILOT = 20_000
"""Distinct tuples on which cuts are tried, about; more for very many fragments."""
_PILOT_OF_FRAGMENT = 24
"""Such tuples in a fragment, at least on average."""
_SPARE = 10
"""Records to sample for each tuple of the pilot. A sample contains duplicates, so it must be larger than the number of distinct tuples wanted."""
_FEWEST_TUPLES = 500
"""Distinct tuples that a sample should have: if it has fewer, those of the whole table are not too many to be taken all."""
_FRAGMENT = 24_000
"""Records of a fragment that are searched, at most and about, if all columns have a hierarchy; of very many equal records few are."""
_MIXED_FRAGMENT = 12_000
"""The same for other tables: there cells are many, and fewer records are searched thoroughly."""
_FAST_FRAGMENT = 5_000
"""The same for effort "fast" on these."""
_LEAST_GROUPS = 10
"""Groups of k records that a fragment has room for, at least."""
_MANY_GROUPS = 200
"""Groups of k records that a fragment should have room for: at a large k fragments are larger."""


@dataclass(frozen=True)
class Job:
    """What is done with every fragment: all of a recipe that grouping needs, and no rows. It can be pickled."""

    method: Method
    task: Task
    """k, effort, suppression and seed; its requirements are bound again in each fragment."""
    models: tuple[PrivacyModel, ...] = ()
    sensitive: tuple[str, ...] = ()
    """The columns that models look at."""

    @property
    def k(self) -> int:
        """The size of the smallest group that k and the models allow."""
        return max([self.task.k, *(model.k for model in self.models if isinstance(model, KAnonymity))])


def fragment_records(job: Job, columns: Sequence[CodedColumn]) -> int:
    """Return about how many records of a fragment are searched."""
    by_hierarchy = all(column.hierarchy is not None for column in columns)
    mixed = _FAST_FRAGMENT if job.task.effort == "fast" else _MIXED_FRAGMENT
    return max(_FRAGMENT if by_hierarchy else mixed, _MANY_GROUPS * job.k)


def sample_share(records: int, job: Job, columns: Sequence[CodedColumn]) -> float | None:
    """Return the share of the table on which cuts are tried, or None for a table that stays one fragment."""
    most = fragment_records(job, columns)
    if records <= max(_large(job, most), 2 * most):
        return None
    return min(1.0, _SPARE * max(_PILOT / records, _PILOT_OF_FRAGMENT / most))


def _large(job: Job, most: int) -> int:
    """Return the records above which a table is cut into fragments of ``most`` records: with models or at a large k, a whole table loses less for longer."""
    own = isinstance(job.method, Optimize) and job.method.params is None and not job.models
    return min(LARGE, _FAST_LARGE) if own and most == _FAST_FRAGMENT else LARGE


def take_sample(draw: Callable[[float], Sample], share: float) -> Sample:
    """Return the sample that ``draw`` gives for a share of the table; one of very few tuples, or none, gives way to all tuples of the table."""
    sample = draw(share)
    return draw(1.0) if share < 1.0 and len(sample.copies) < _FEWEST_TUPLES else sample


def cut_table(table: CodedTable, sample: Sample, records: int, job: Job, *, owned: bool = False) -> Tree:
    """Group the distinct tuples of a sample quickly and cut the table between their groups.

    ``table`` is any part of the whole table, which has so many ``records``: what counts are its columns.

    Each tuple stands for the records with it that are searched, so that fragments take about the same time: with models, or if records
    have owners (``owned``), these are all.
    """
    usual = fragment_records(job, table.columns)
    pilot = make_pilot(sample, job.task.seed, int(max(_PILOT, _PILOT_OF_FRAGMENT * records / usual)))
    searched = pilot.copies if job.models or owned else pilot.copies - copies_aside(pilot.copies, job.k)
    task = Task(k=min(job.k, len(searched)), effort="fast", seed=job.task.seed, cancel=job.task.cancel)
    labels = Optimize().run(table.with_codes(pilot.codes), task).labels
    least = max(1.0, _LEAST_GROUPS * job.k * pilot.share / float(searched.mean()))
    return build_tree(table.space, pilot.codes, labels, searched, usual * pilot.share, least)


class Backend(Protocol):
    """Where the rows of a large table are, and what the plan asks of them: in memory, in batches on disk, in partitions on a cluster."""

    def sample(self, share: float) -> Sample:
        """Return the distinct tuples of a share of the table."""

    def fragments(self, tree: Tree) -> IntArray:
        """Count the records of each leaf; return the fragment of each."""


class Cuts(NamedTuple):
    """Where a table is cut."""

    tree: Tree
    fragment: IntArray
    """The fragment of each leaf."""


def cut_into_fragments(
    backend: Backend, table: CodedTable, records: int, job: Job, share: float, *, owned: bool = False
) -> Cuts:
    """Cut a table between the groups of its sample, and join the leaves that cannot stand alone."""
    tree = cut_table(table, take_sample(backend.sample, share), records, job, owned=owned)
    return Cuts(tree, backend.fragments(tree))


def count_batch(batch: CodedTable, leaf: IntArray, leaves: int) -> Counts:
    """Count the records of a batch by leaf, and by sensitive code if the batch has totals of the whole table."""
    sensitive = {name: (one.codes, one.cardinality) for name, one in batch.attributes.items()}
    return count_leaves(leaf, leaves, sensitive)


def fragments_of(tree: Tree, counts: Counts, job: Job, attributes: Sequence[CodedAttribute]) -> IntArray:
    """Return the fragment of each leaf; each is large enough and meets the models as a whole.

    ``attributes`` are the sensitive columns with the totals of the whole table; their own codes do not matter.
    """
    return join_leaves(tree, counts.records, partial(_stands, counts, job, attributes))


def _stands(counts: Counts, job: Job, attributes: Sequence[CodedAttribute], leaves: Sequence[int]) -> bool:
    """Return whether some leaves together are large enough, and as one group meet the models."""
    records = int(counts.records[list(leaves)].sum())
    if records < _LEAST_GROUPS * job.k:
        return False
    held = {one.name: _with_counts(one, counts.sensitive[one.name].of_leaves(leaves)) for one in attributes}
    whole = CodedTable(np.zeros((0, records), np.int32), (), np.zeros(0), held)
    try:
        requirements = bind_models(job.models, whole, job.sensitive)
    except PrivacyError:
        return False
    one_group = np.zeros(records, np.int32)
    return not any(one.failing(one_group, 1)[0] for one in requirements)


def least_people(job: Job) -> int:
    """Return how many persons, or households, a fragment has at least if records have owners."""
    return _LEAST_GROUPS * job.k


def fragments_with_people(tree: Tree, leaf: IntArray, table: CodedTable, job: Job) -> IntArray:
    """Return the fragment of each leaf of a table that knows whose its records are; each has people enough and meets the models as a whole.

    Numbers of people in leaves do not add up, so the records of the leaves themselves are looked at.
    """
    records = np.bincount(leaf, minlength=tree.leaves)
    order, ends = np.argsort(leaf, kind="stable"), np.cumsum(records)

    def stands(leaves: Sequence[int]) -> bool:
        rows = np.concatenate([order[ends[one] - records[one] : ends[one]] for one in leaves])
        if any(len(np.unique(numbers[rows])) < least_people(job) for numbers in table.units.values()):
            return False
        try:
            requirements = bind_models(job.models, table.take(rows), job.sensitive)
        except PrivacyError:
            return False
        return not failing_groups(requirements, np.zeros(len(rows), np.int32), 1)[0]

    return join_leaves(tree, records, stands)


def _with_counts(attribute: CodedAttribute, counts: LongArray) -> CodedAttribute:
    """Return a column of as many records with each code as counted, in the order of codes."""
    return replace(attribute, codes=np.repeat(np.arange(len(counts), dtype=np.int32), counts))


def run_fragment(part: CodedTable, job: Job, records: int) -> Grouping:
    """Group the records of one fragment; ``records`` are those of the whole table.

    The records are grouped in the order of their content, so that the order in which they come does not matter; but a table of one fragment goes through
    other methods than the optimizer in the order it has, as in their papers. Suppression and an effort in seconds are shared out by the number of records.
    """
    by_content = part.records < records or isinstance(job.method, Optimize)
    order = order_by_content(part) if by_content else np.arange(part.records)
    ordered = numbered_anew(part.take(order))
    bound = bind_models(job.models, ordered, job.sensitive)
    refuse_unreachable(job.models, bound, job.task.max_suppression)
    task = replace(
        job.task,
        requirements=(*at_least_units(ordered, job.task.k), *bound),
        effort=_share_of_effort(job.task.effort, part.records / records),
    )
    found = (
        group_with_copies(_method_of(job), ordered, task)
        if part.records < records
        else group_records(job.method, ordered, task)
    )
    labels = np.empty(part.records, np.int32)
    labels[order] = found.labels
    return replace(found, labels=labels)


def _method_of(job: Job) -> Method:
    """Return the method that works on one fragment of several: the optimizer spends less on each."""
    if isinstance(job.method, Optimize) and job.method.params is None and job.task.effort in FRAGMENTS:
        return replace(job.method, params=FRAGMENTS[job.task.effort])
    return job.method


def _share_of_effort(effort: Effort, share: float) -> Effort:
    return effort if isinstance(effort, str) else max(float(effort) * share, 1e-3)


def can_be_cut(job: Job) -> bool:
    """Return whether groups are found fragment by fragment, without breaking a promise to the whole table.

    Only by local methods: Mondrian cuts the table itself, global recodings and microaggregation are about all of it. Records that
    have to stay together would be parted. See also ``uncuttable_models``.
    """
    return (
        job.method.info.family == "local"
        and not job.task.together
        and not uncuttable_models(job.models)
        and job.task.release == "ranges"
    )


def uncuttable_models(models: Sequence[PrivacyModel]) -> list[str]:
    """Return the names of the models that cannot be kept fragment by fragment."""
    return [type(model).__name__ for model in models if not model.by_fragment]


def uncountable_models(models: Sequence[PrivacyModel]) -> list[str]:
    """Return the names of the models that the counts of sensitive values by group cannot judge, such as those on a population."""
    return [type(model).__name__ for model in models if model.looks_at == "more" and not model.by_fragment]
