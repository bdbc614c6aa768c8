"""The source, read once: each batch is learned and stored."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as papq

from shoal.arrays import AnyArray
from shoal.engines.columns import decide_columns
from shoal.engines.stream.order import Order
from shoal.errors import DataError
from shoal.frames import check_names
from shoal.frames.canonical import canonical
from shoal.io.files import open_batches, source_faults_told
from shoal.io.location import locate
from shoal.plan.coding import Learned, learn_batch, merge_learned
from shoal.treatments import Treated, treat_columns
from shoal.treatments.pseudonyms import pseudonymize_columns

_MERGED = 16
"""Learned batches that are merged at once."""


@dataclass(frozen=True)
class Spool:
    """The batches of a table on disk."""

    batches: tuple[Path, ...]
    learned: Learned
    schema: pa.Schema
    names: tuple[str, ...]
    """All columns of the source."""
    apart: pa.Table
    """The first rows of the columns that are not stored. They stay in memory, for the warnings before publishing."""


def private(path: Path) -> Path:
    """Make an empty file that only its owner may read, and return its path."""
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600))
    return path


def write_rows(table: pa.Table, path: Path) -> None:
    """Write rows as Arrow, to be read where they are."""
    with pa.OSFile(str(private(path)), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


def read_rows(path: Path) -> pa.Table:
    """Return rows where they are: they take memory only as far as they are looked at."""
    return pa.ipc.open_file(pa.memory_map(str(path))).read_all()


def write_codes(codes: AnyArray, path: Path) -> None:
    """Write an array of codes."""
    with private(path).open("wb") as stream:
        np.save(stream, codes)


def read_codes(path: Path) -> AnyArray:
    """Return an array of codes where it is."""
    found: AnyArray = np.load(path, mmap_mode="r")
    return found


def fill_spool(order: Order, folder: Path, rows: int) -> Spool:
    """Read a source once, put the columns that are needed by in batches of about ``rows`` rows, and learn those that are coded.

    Columns that are released as tokens are never stored as they are.
    """
    place, before = order.place, _state(order.place)
    learn = [name for name in (*order.quasi_identifiers, *order.attributes) if name not in order.request.treat]
    files: list[Path] = []
    parts: list[Learned] = []
    schema: pa.Schema | None = None
    with source_faults_told(place):
        _check_parts(place)
        reader = open_batches(place, order.options)
        names = tuple(reader.schema.names)
        check_names(reader.schema.names)
        decide_columns(order.request, reader.schema.names)
        _refuse_own_names(reader.schema.names)
        apart = _Apart([name for name in names if name not in order.needed], rows)
        for batch in _joined(apart.watch(reader), rows, order):
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
            order.request.progress(0.0, f"reading, {sum(part.records for part in parts):,} rows")
    if before != _state(place):
        raise DataError(
            "The table changed while it was read. Nothing was released.", hint="run again when nobody writes to it."
        )
    if not files or schema is None:
        raise DataError("The table has no rows. There is nothing to release.")
    return Spool(tuple(files), merge_learned(parts), schema, names, apart.table)


STAGED = "shoal:"
"""Columns of staged rows whose names begin so are for the count alone, never for the release."""


def _refuse_own_names(names: Sequence[str]) -> None:
    own = [name for name in names if name.startswith(STAGED)]
    if own:
        raise DataError(f"The table has a column {own[0]!r}, a name that shoal uses itself. Rename it.")


def treat_spool(spool: Spool, order: Order) -> tuple[Spool, dict[str, Treated]]:
    """Treat kept and sensitive columns, each as a whole in memory, and learn those that models look at."""
    if not order.request.treat:
        return spool, {}
    persons = [person for one in order.request.treat.values() if (person := getattr(one, "person", None))]
    names = list(dict.fromkeys([*order.request.treat, *persons]))
    whole = pa.concat_tables([read_rows(batch).select(names) for batch in spool.batches]).unify_dictionaries()
    treated, done = treat_columns(order.frame(whole), order.request.treat)
    begin, schema = 0, spool.schema
    for batch in spool.batches:
        rows = read_rows(batch)
        for name in order.request.treat:
            column = treated.table.column(name)[begin : begin + rows.num_rows]
            rows = rows.set_column(rows.column_names.index(name), name, column)
        begin, schema = begin + rows.num_rows, rows.schema
        write_rows(rows.combine_chunks(), batch.with_suffix(".treated"))
        batch.with_suffix(".treated").replace(batch)
    learned = learn_batch(treated.table, [name for name in order.attributes if name in order.request.treat])
    both = replace(spool.learned, columns=spool.learned.columns | learned.columns)
    return replace(spool, learned=both, schema=schema), done


class _Apart:
    """Remembers the first rows of some columns while batches go by."""

    def __init__(self, names: Sequence[str], rows: int) -> None:
        self.names, self.rows, self.seen = list(names), rows, 0
        self.parts: list[pa.Table] = []

    def watch(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield batches as they are."""
        for batch in batches:
            if self.names and self.seen < self.rows:
                some = pa.Table.from_batches([batch]).select(self.names)[: self.rows - self.seen]
                self.parts.append(pa.table({name: canonical(some.column(name)) for name in self.names}))
                self.seen += some.num_rows
            yield batch

    @property
    def table(self) -> pa.Table:
        """The rows."""
        return pa.concat_tables(self.parts) if self.parts else pa.table({})


def _joined(batches: Iterable[pa.RecordBatch], rows: int, order: Order) -> Iterator[pa.Table]:
    """Yield the columns of a source in canonical form, in larger batches."""
    waiting: list[pa.Table] = []
    for batch in batches:
        names = [name for name in batch.schema.names if name in order.needed]
        if batch.num_rows:
            waiting.append(pa.table({name: canonical(pa.chunked_array([batch.column(name)])) for name in names}))
        if sum(one.num_rows for one in waiting) >= rows:
            yield _with_tokens(_one(waiting), order)
            waiting = []
    if waiting:
        yield _with_tokens(_one(waiting), order)


def _with_tokens(rows: pa.Table, order: Order) -> pa.Table:
    """Return rows with tokens in the columns that are released as such."""
    if order.key is None:
        return rows
    return pseudonymize_columns(order.frame(rows), order.recipe.pseudonymize, order.key).table.combine_chunks()


def _one(tables: Sequence[pa.Table]) -> pa.Table:
    """Return tables as one, each column in one piece; dictionaries are the same for all rows."""
    return pa.concat_tables(tables).unify_dictionaries().combine_chunks()


def known_records(place: str | Path) -> int:
    """Return how many records the Parquet files of a source say they have; 0 if that is known only when it is read."""
    files = [one for one in locate(str(place)).files() if one.suffix in {".parquet", ".pq"} and one.name[0] not in "._"]
    with contextlib.suppress(OSError, pa.ArrowException):  # a damaged file is reported when it is read
        return sum(papq.read_metadata(one).num_rows for one in files)
    return 0


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


def _state(place: str | Path) -> list[tuple[str, int, int]]:
    """Return what changes when somebody writes to the files of a source; nothing for an address."""
    return [(str(one), one.stat().st_size, one.stat().st_mtime_ns) for one in locate(str(place)).files()]
