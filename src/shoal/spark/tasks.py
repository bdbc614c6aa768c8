"""What an executor does with the rows of a partition: Arrow batches in, Arrow batches out.

A task that fails or is killed is run again by Spark, so each gives the same rows for the same input: nothing here is random but for a
generator that starts from a secret the driver drew once. What is no row (learned columns, counts, sums) goes to the driver as one
pickled object a partition; driver and executors trust each other, for they already run each other's code.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shoal.arrays import IntArray
from shoal.engines.contents import in_sample
from shoal.engines.cutting import Tree
from shoal.engines.learning import Coding, learn_batch, merge_learned
from shoal.engines.plan import Job, count_batch, run_fragment
from shoal.engines.releasing import check_cells, release_fragment
from shoal.errors import ShoalError
from shoal.frames import Frame
from shoal.notation import Notation

PAYLOAD = "shoal_payload"
"""Column of the pickled objects; in a staged release also of the sums of each fragment, in a row of its own."""
FRAGMENT = "shoal_fragment"
PLACE = "shoal_place"
"""Column of random numbers by which rows are scattered."""
OWN_COLUMNS = (PAYLOAD, FRAGMENT, PLACE)

Batches = Iterable[pa.RecordBatch]


def payload_batch(content: Any) -> pa.RecordBatch:
    """Return one object as the only row of a batch."""
    return pa.record_batch({PAYLOAD: pa.array([pickle.dumps(content)], pa.binary())})


def learn_rows(batches: Batches, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Learn the values of a partition's columns."""
    parts = [learn_batch(batch, names) for batch in batches]
    if parts:
        yield payload_batch(merge_learned(parts))


class Rows(NamedTuple):
    """Coded records without what all records share."""

    codes: IntArray
    attributes: dict[str, IntArray]


def sample_rows(batches: Batches, coding: Coding, seed: int, share: float) -> Iterator[pa.RecordBatch]:
    """Return the coded records of a partition that are in the sample."""
    for batch in batches:
        part = coding.code(batch)
        chosen = part.take(np.flatnonzero(in_sample(part, seed, share)))
        if chosen.records:
            yield payload_batch(Rows(chosen.codes, {name: one.codes for name, one in chosen.attributes.items()}))


def count_rows(batches: Batches, coding: Coding, tree: Tree) -> Iterator[pa.RecordBatch]:
    """Count a partition's records by leaf of the tree."""
    total = None
    for batch in batches:
        part = coding.code(batch)
        counts = count_batch(part, tree.assign(part.codes), tree.leaves)
        total = counts if total is None else total + counts
    if total is not None:
        yield payload_batch(total)


def mark_rows(batches: Batches, coding: Coding, tree: Tree, number: IntArray) -> Iterator[pa.RecordBatch]:
    """Add the fragment of each row."""
    for batch in batches:
        leaf = tree.assign(coding.code(batch).codes)
        yield batch.append_column(FRAGMENT, pa.array(number[leaf].astype(np.int32)))


class Fragments(NamedTuple):
    """How fragments are released."""

    coding: Coding
    job: Job
    records: int
    """Those of the whole table."""
    columns: tuple[str, ...]
    """The released columns, in the order of the table."""
    notation: Notation
    secret: int
    """Where the random places of rows start; drawn by the driver from the system."""


def release_rows(batches: Batches, fragments: Fragments) -> Iterator[pa.RecordBatch]:
    """Group and release the fragments of a partition, whose rows come fragment by fragment."""
    for number, table in by_fragment(batches):
        try:
            yield from _release(number, table, fragments)
        except ShoalError as fault:  # Spark would try again three times, and bury it in a trace
            yield _without_rows(table, fragments, fault)


def by_fragment(batches: Batches) -> Iterator[tuple[int, pa.Table]]:
    """Yield each fragment's number and rows, from batches sorted by fragment."""
    held: list[pa.RecordBatch] = []
    current = -1
    for batch in batches:
        numbers = np.asarray(batch.column(FRAGMENT))
        starts = np.flatnonzero(np.diff(numbers, prepend=-1))  # also where a batch goes on with the fragment before
        for start, end in zip(starts, [*starts[1:], len(numbers)], strict=True):
            if held and numbers[start] != current:
                yield current, pa.Table.from_batches(held)
                held = []
            current = int(numbers[start])
            held.append(batch.slice(start, end - start))
    if held:
        yield current, pa.Table.from_batches(held)


def _release(number: int, table: pa.Table, fragments: Fragments) -> Iterator[pa.RecordBatch]:
    part = fragments.coding.code(table)
    piece = release_fragment(part, run_fragment(part, fragments.job, fragments.records), fragments.job.task.k)
    kept = table.take(pa.array(piece.kept))
    check_cells(fragments.coding, Frame(kept, notation=fragments.notation), piece)
    columns = {name: piece.columns[name] if name in piece.columns else kept.column(name) for name in fragments.columns}
    draw = np.random.Generator(
        np.random.Philox(key=fragments.secret ^ number)
    )  # the same places if the task is run again
    places = pa.array(draw.integers(0, 1 << 62, kept.num_rows))
    nothing = pa.nulls(kept.num_rows, pa.binary())
    released = pa.table(columns | {PLACE: places, PAYLOAD: nothing})
    yield from released.combine_chunks().to_batches()
    yield _without_rows(table, fragments, (number, piece.statistics))


def _without_rows(table: pa.Table, fragments: Fragments, content: Any) -> pa.RecordBatch:
    """Return an object for the driver as a row of the release that holds nothing else."""
    recoded = {column.name for column in fragments.coding.columns}
    kinds = {name: pa.string() if name in recoded else table.schema.field(name).type for name in fragments.columns}
    empty = {name: pa.nulls(1, kind) for name, kind in kinds.items()}
    place = pa.array([0], pa.int64())
    return pa.record_batch(empty | {PLACE: place, PAYLOAD: pa.array([pickle.dumps(content)], pa.binary())})
