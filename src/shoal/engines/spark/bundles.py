"""Rows that travel in bundles: a shuffle moves one row of bytes for each task and destination, not one for each record.

Spark writes, sorts and reads every shuffled record by itself, which costs more than finding groups does. Here a task sorts its rows by
where they go, in Arrow, and Spark sees the bundles only::

    into bundles   data.mapInArrow(a task that ends with ``pack``, BUNDLES)
    there          brought_together(bundles, tasks)
    out of them    ….mapInArrow(a task that begins with ``unpack``)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.arrays import AnyArray

TO = "shoal_to"
"""Column of the numbers that say where bundles go."""
BUNDLE = "shoal_bundle"
"""Column of rows as bytes, in Arrow's own form."""
BUNDLES = f"{TO} int, {BUNDLE} binary"
"""The schema of a DataFrame of bundles."""
_FULL = 64 << 20
"""Bytes of rows that a task holds before it makes bundles of them."""
_COMPRESSED = pa.ipc.IpcWriteOptions(compression="lz4")

Batches = Iterable[pa.RecordBatch]


def pack(rows: Iterable[tuple[AnyArray, pa.Table | pa.RecordBatch]]) -> Iterator[pa.RecordBatch]:
    """Yield bundles of rows, which come with the number of where each goes."""
    numbers: list[AnyArray] = []
    tables: list[pa.Table] = []
    size = 0
    for to, table in rows:
        if not table.num_rows:
            continue
        numbers.append(to)
        tables.append(table if isinstance(table, pa.Table) else pa.Table.from_batches([table]))
        size += tables[-1].nbytes
        if size > _FULL:
            yield from _bundles(np.concatenate(numbers), pa.concat_tables(tables))
            numbers, tables, size = [], [], 0
    if tables:
        yield from _bundles(np.concatenate(numbers), pa.concat_tables(tables))


def _bundles(to: AnyArray, table: pa.Table) -> Iterator[pa.RecordBatch]:
    order = np.argsort(to, kind="stable")
    ordered, number = table.combine_chunks().take(pa.array(order)), to[order]
    starts = np.flatnonzero(np.diff(number, prepend=-1))
    ends = [*starts[1:].tolist(), len(number)]
    bundles = [_as_bytes(ordered.slice(start, end - start)) for start, end in zip(starts.tolist(), ends, strict=True)]
    yield pa.RecordBatch.from_pydict(
        {TO: pa.array(number[starts].astype(np.int32)), BUNDLE: pa.array(bundles, pa.binary())}
    )


def _as_bytes(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=_COMPRESSED) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())


def unpack(batches: Batches) -> Iterator[tuple[int, pa.Table]]:
    """Yield each number and all its rows, from bundles sorted by number."""
    current = -1
    held: list[pa.Table] = []
    for batch in batches:
        for number, content in zip(batch.column(TO).to_pylist(), batch.column(BUNDLE), strict=True):
            if held and number != current:
                yield current, pa.concat_tables(held)
                held = []
            current = number
            held.append(pa.ipc.open_stream(content.as_buffer()).read_all())
    if held:
        yield current, pa.concat_tables(held)


def brought_together(bundles: Any, tasks: int) -> Any:
    """Return bundles such that those of one number come one after the other in one partition."""
    return bundles.repartition(tasks, TO).sortWithinPartitions(TO)
