"""The source, read once: each batch is learned and put by."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as papq

from shoal.arrays import AnyArray, Progress
from shoal.canonical import canonical
from shoal.engines.learning import Learned, learn_batch, merge_learned
from shoal.errors import DataError
from shoal.frames import check_names
from shoal.io.files import open_batches, source_faults_told
from shoal.io.source import ReadOptions

_MERGED = 16
"""Learned batches that are merged at once."""


@dataclass(frozen=True)
class Spool:
    """The batches of a table on disk."""

    batches: tuple[Path, ...]
    learned: Learned
    schema: pa.Schema


def private(path: Path) -> Path:
    """Make an empty file that only its owner may read, and return its path."""
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600))
    return path


def write_rows(table: pa.Table, path: Path) -> None:
    """Write rows as Arrow, to be read where they lie."""
    with pa.OSFile(str(private(path)), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


def read_rows(path: Path) -> pa.Table:
    """Return rows where they lie: they take memory only as far as they are looked at."""
    return pa.ipc.open_file(pa.memory_map(str(path))).read_all()


def write_codes(codes: AnyArray, path: Path) -> None:
    """Write an array of codes."""
    with private(path).open("wb") as stream:
        np.save(stream, codes)


def read_codes(path: Path) -> AnyArray:
    """Return an array of codes where it lies."""
    found: AnyArray = np.load(path, mmap_mode="r")
    return found


def fill_spool(
    place: str | Path,
    options: ReadOptions,
    names: Sequence[str],
    learn: Sequence[str],
    folder: Path,
    rows: int,
    progress: Progress,
    check_columns: Callable[[Sequence[str]], None],
) -> Spool:
    """Read a source once, put the columns ``names`` by in batches of about ``rows`` rows, and learn those in ``learn``."""
    before = _state(place)
    files: list[Path] = []
    parts: list[Learned] = []
    schema: pa.Schema | None = None
    with source_faults_told(place):
        _check_parts(place)
        reader = open_batches(place, options)
        check_names(reader.schema.names)
        check_columns(reader.schema.names)
        order = [name for name in reader.schema.names if name in set(names)]
        for batch in _joined(reader, rows, order):
            schema = schema or batch.schema
            if batch.schema != schema:
                raise DataError(
                    "The parts of the table have columns of different types.",
                    hint="write all parts with the same types.",
                )
            files.append(folder / f"batch-{len(files):06}.arrow")
            write_rows(batch, files[-1])
            parts.append(learn_batch(batch, learn))
            if len(parts) == _MERGED:
                parts = [merge_learned(parts)]
            progress(0.0, f"reading, {sum(part.records for part in parts):,} rows")
    if before != _state(place):
        raise DataError(
            "The table changed while it was read. Nothing was released.", hint="run again when nobody writes to it."
        )
    if not files or schema is None:
        raise DataError("The table has no rows. There is nothing to release.")
    return Spool(tuple(files), merge_learned(parts), schema)


def _joined(reader: pa.RecordBatchReader, rows: int, names: Sequence[str]) -> Iterator[pa.Table]:
    """Yield the columns of a source in canonical form, in larger batches."""
    waiting: list[pa.Table] = []
    for batch in reader:
        if batch.num_rows:
            waiting.append(pa.table({name: canonical(pa.chunked_array([batch.column(name)])) for name in names}))
        if sum(one.num_rows for one in waiting) >= rows:
            yield _one(waiting)
            waiting = []
    if waiting:
        yield _one(waiting)


def _one(tables: Sequence[pa.Table]) -> pa.Table:
    """Return tables as one, each column in one piece; dictionaries are the same for all rows."""
    return pa.concat_tables(tables).unify_dictionaries().combine_chunks()


def _check_parts(place: str | Path) -> None:
    """Refuse a folder of Parquet files with different columns: Arrow would fill in missing values."""
    path = Path(place)
    if "://" in str(place) or not path.is_dir():
        return
    files = sorted(one for one in path.rglob("*") if one.suffix in {".parquet", ".pq"} and one.name[0] not in "._")
    schemas = [papq.read_schema(one).remove_metadata() for one in files]
    if any(schema != schemas[0] for schema in schemas):
        raise DataError(
            "The parts of the table have different columns, or columns of different types.",
            hint="write all parts alike.",
        )


def _state(place: str | Path) -> Any:
    """Return what changes when somebody writes to the files of a source; None for an address."""
    path = Path(place)
    if "://" in str(place) or not path.exists():
        return None
    files = sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
    return [(str(one), one.stat().st_size, one.stat().st_mtime_ns) for one in files]
