"""What an executor does with the rows of a partition: Arrow batches in, Arrow batches out.

A task that fails or is killed is run again by Spark, so each gives the same rows for the same input: the only random numbers come
from a generator that starts from a secret the driver drew once. What is not a row (learned columns, counts, sums) goes to the driver as one
pickled object a partition; driver and executors trust each other, because they already run each other's code.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numba
import numpy as np
import pyarrow as pa

from shoal.arrays import IntArray
from shoal.encoding import CodedTable, Unit, numbered_as_met, with_units
from shoal.ends import ColumnEnds
from shoal.engines.spark.bundles import BUNDLE, TO, Batches, pack, unpack
from shoal.engines.spark.people import OWNERS
from shoal.errors import ShoalError
from shoal.frames import Frame, to_frame
from shoal.methods.base import Grouping
from shoal.plan.coding import Coding, learn_batch, merge_learned
from shoal.plan.contents import draw_sample, merge_samples
from shoal.plan.cuts import Tree
from shoal.plan.pieces import check_cells, fragment_ranges, release_fragment
from shoal.plan.steps import Job, count_batch, run_fragment
from shoal.results.generalization import Generalization, Unseen
from shoal.treatments.pseudonyms import pseudonymize_columns

PAYLOAD = "shoal_payload"
"""Column of the pickled objects; in a staged release also of the sums of each fragment, in a row of its own."""
PLACE = "shoal_place"
"""Column of random numbers by which rows are scattered."""
ORDER = "shoal_order"
"""Column of hashes by which rows are sorted, so that rows of equal content come in the same order whenever a task is run."""
LABEL = "shoal_group"
COUNT = "shoal_count"
"""Column of how many records have the same values."""
_BUNDLE_TYPES = {TO: pa.int32(), BUNDLE: pa.binary()}
_ROWS_OF_BATCH = 1 << 14
"""Rows that are handed to Spark at once."""
PEOPLE = "shoal_people"
"""Column that marks rows of a population next to those of a table."""
OWN_COLUMNS = (PAYLOAD, PLACE, ORDER, LABEL, COUNT, PEOPLE, TO, BUNDLE, *OWNERS.values())


def payload_batch(content: Any) -> pa.RecordBatch:
    """Return one object as the only row of a batch."""
    return pa.RecordBatch.from_pydict({PAYLOAD: pa.array([pickle.dumps(content)], pa.binary())})


def learn_rows(batches: Batches, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Learn the values of a partition's columns."""
    parts = [learn_batch(batch, names) for batch in batches]
    if parts:
        yield payload_batch(merge_learned(parts))


def sample_rows(batches: Batches, coding: Coding, seed: int, share: float) -> Iterator[pa.RecordBatch]:
    """Return what a partition adds to the sample."""
    parts = [draw_sample(coding.code(batch), seed, share) for batch in batches]
    if parts:
        yield payload_batch(merge_samples(parts))


def count_rows(batches: Batches, coding: Coding, tree: Tree) -> Iterator[pa.RecordBatch]:
    """Count a partition's records by leaf of the tree."""
    total = None
    for batch in batches:
        part = coding.code(batch)
        counts = count_batch(part, tree.assign(part.codes), tree.leaves)
        total = counts if total is None else total + counts
    if total is not None:
        yield payload_batch(total)


def pseudonymize_rows(batches: Batches, names: Sequence[str], key: bytes) -> Iterator[pa.RecordBatch]:
    """Put tokens instead of the values of some columns."""
    for batch in batches:
        tokens = pseudonymize_columns(Frame(pa.Table.from_batches([batch])), names, key)
        yield from tokens.table.combine_chunks().to_batches()


def recode_rows(batches: Batches, mapping: Generalization, unseen: Unseen) -> Iterator[pa.RecordBatch]:
    """Recode new records as an earlier release was."""
    for batch in batches:
        recoded = mapping.recode(to_frame(pa.Table.from_batches([batch])), unseen)
        yield from recoded.combine_chunks().to_batches()


def payload_row(kinds: Mapping[str, pa.DataType], content: Any) -> pa.RecordBatch:
    """Return an object for the driver as a row of the release that holds nothing else."""
    empty = {name: pa.nulls(1, kind) for name, kind in kinds.items()}
    return pa.RecordBatch.from_pydict(empty | {PAYLOAD: pa.array([pickle.dumps(content)], pa.binary())})


def mark_rows(batches: Batches, coding: Coding, tree: Tree, number: IntArray) -> Iterator[pa.RecordBatch]:
    """Send each row to its fragment."""
    yield from pack((number[tree.assign(coding.code(batch).codes)], batch) for batch in batches)


class Fragments(NamedTuple):
    """How fragments are released."""

    coding: Coding
    job: Job
    records: int
    """Those of the whole table."""
    columns: tuple[str, ...]
    """The columns that are staged: the released ones in the order of the table, then those that identify the person of a row."""
    like: Frame
    """How cells are read, without a row."""
    parts: int
    """Into how many parts the released rows are scattered."""
    secret: int
    """Where the random places of rows start; drawn by the driver from the system."""
    units: tuple[Unit, ...] = ()
    """The persons and households that records belong to."""
    ends: Mapping[int, ColumnEnds] = MappingProxyType({})
    """How the ends of ranges move, if groups were found before."""


def group_rows(batches: Batches, fragments: Fragments) -> Iterator[pa.RecordBatch]:
    """Add the group of each row; the ranges that the groups of a fragment need go to the driver."""
    numba.set_num_threads(1)
    for number, table in by_fragment(batches):
        try:
            part = _coded(table, fragments)
            grouping = run_fragment(part, fragments.job, fragments.records)
        except ShoalError as fault:
            yield payload_row(_BUNDLE_TYPES, fault)
            continue
        labelled = table.append_column(LABEL, pa.array(grouping.labels))
        for bundle in pack([(np.full(table.num_rows, number), labelled)]):
            yield bundle.append_column(PAYLOAD, pa.nulls(bundle.num_rows, pa.binary()))
        yield payload_row(_BUNDLE_TYPES, fragment_ranges(part, grouping))


def release_fragments(batches: Batches, fragments: Fragments) -> Iterator[pa.RecordBatch]:
    """Release the fragments of a partition, grouped unless they were before; the rows go where their random places say."""
    numba.set_num_threads(1)
    yield from scatter(_released(batches, fragments), fragments.parts)


def _released(batches: Batches, fragments: Fragments) -> Iterator[pa.Table]:
    for number, table in by_fragment(batches):
        try:
            yield from _release(number, table, fragments)
        except ShoalError as fault:  # Spark would try again three times, and bury it in a trace
            yield _without_rows(table, fragments, fault)


def by_fragment(batches: Batches) -> Iterator[tuple[int, pa.Table]]:
    """Yield each fragment's number and rows, these always in the same order: a repeated task then gives the same rows."""
    for number, table in unpack(batches):
        yield number, table.take(pa.array(np.argsort(np.asarray(table.column(ORDER)), kind="stable")))


def scatter(tables: Iterable[pa.Table], parts: int) -> Iterator[pa.RecordBatch]:
    """Send rows to one of several parts of the release by their places, which are random."""
    yield from pack((np.asarray(table.column(PLACE)) % parts, table) for table in tables)


def lay_down(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Return the rows of a part of the release in the order of their places."""
    for _, table in unpack(batches):
        order = np.argsort(np.asarray(table.column(PLACE)), kind="stable")
        placed = table.drop_columns([PLACE]).take(pa.array(order))
        yield from placed.combine_chunks().to_batches(max_chunksize=_ROWS_OF_BATCH)


def _release(number: int, table: pa.Table, fragments: Fragments) -> Iterator[pa.Table]:
    part = _coded(table, fragments)
    grouping = (
        Grouping(np.asarray(table.column(LABEL)).astype(np.int32))
        if LABEL in table.column_names
        else run_fragment(part, fragments.job, fragments.records)
    )
    piece = release_fragment(part, grouping, fragments.job.task.k, fragments.ends)
    kept = table.take(pa.array(piece.kept))
    check_cells(fragments.coding, replace(fragments.like, table=kept), piece)
    columns = {name: piece.columns[name] if name in piece.columns else kept.column(name) for name in fragments.columns}
    draw = np.random.Generator(
        np.random.Philox(key=fragments.secret ^ number)
    )  # the same places if the task is run again
    places = pa.array(draw.integers(0, 1 << 62, kept.num_rows))
    nothing = pa.nulls(kept.num_rows, pa.binary())
    yield pa.table(columns | {PLACE: places, PAYLOAD: nothing})
    yield _without_rows(table, fragments, (number, piece.statistics))


def _coded(table: pa.Table, fragments: Fragments) -> CodedTable:
    """Return the codes of a fragment, with whose its records are if that is known."""
    part = fragments.coding.code(table)
    owners: dict[Unit, str | None] = {unit: OWNERS[unit] for unit in fragments.units}
    if not owners:
        return part
    # their names are numbers under a secret, and the groups must not depend on it
    return numbered_as_met(with_units(part, Frame(table.select(list(owners.values()))), owners))


def _without_rows(table: pa.Table, fragments: Fragments, content: Any) -> pa.Table:
    """Return an object for the driver as a row of the release that holds nothing else."""
    recoded = {column.name for column in fragments.coding.columns}
    kinds = {name: pa.string() if name in recoded else table.schema.field(name).type for name in fragments.columns}
    row = pa.Table.from_batches([payload_row(kinds, content)])
    return row.add_column(len(kinds), PLACE, pa.array([0]))
