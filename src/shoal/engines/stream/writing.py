"""The piles of all fragments become one file, or a folder of parts."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.engines.stream.recounting import Recount
from shoal.engines.stream.spool import STAGED, private, read_rows
from shoal.errors import DataError, FileError
from shoal.io.files import open_batches
from shoal.io.registry import file_source
from shoal.publication import Declared, make_dictionary, with_dictionary
from shoal.results.columns import readable
from shoal.results.save import holds_dictionary


def is_folder(target: Path) -> bool:
    """Return whether a target is a folder of parts: a name without an ending."""
    return not target.suffix


def check_form(target: Path) -> None:
    """Refuse a form that cannot be written part by part."""
    if not is_folder(target) and not file_source(target.name).in_parts:
        raise FileError(
            f"A large release cannot be written as {target.suffix}.",
            hint="write .parquet, .csv or .csv.gz, or name a folder, which gets Parquet files.",
        )


def piles(pieces: Sequence[Path], number: int) -> Iterator[pa.Table]:
    """Yield the rows of each pile, of all fragments together and in a fresh order."""
    for pile in range(number):
        found = [pa.ipc.open_file(pa.memory_map(str(piece))).get_batch(pile) for piece in pieces]
        rows = pa.Table.from_batches(found)
        rows = rows.drop_columns([name for name in rows.column_names if name.startswith(STAGED)])
        order = np.random.default_rng(secrets.randbits(128)).permutation(rows.num_rows)
        yield rows.take(pa.array(order)).combine_chunks()


def write_file(rows: Iterator[pa.Table], path: Path, told: dict[str, Any] | None = None) -> None:
    """Write piles into one file, in the form of its name; a file that can holds its dictionary."""
    private(path)
    source = file_source(path.name)
    parts = (readable(pile) for pile in rows) if source.is_text else rows
    if told is not None and source.holds_metadata:
        parts = (with_dictionary(part, told) for part in parts)
    with contextlib.ExitStack() as stack:
        writer: Any = None
        for part in parts:
            if writer is None:
                writer = stack.enter_context(source.writer(path, part.schema))
            writer.write_table(part)


def dictionary_of(
    pieces: Sequence[Path], declared: Declared, target: Path, parts: Sequence[Path] = ()
) -> dict[str, Any]:
    """Return the dictionary of staged rows that go to a file or to the parts of a folder."""
    rows = staged_rows(pieces)
    text = not holds_dictionary(target)
    names = [f"{target.name}/{part.name}" for part in parts] if is_folder(target) else ()
    return make_dictionary(
        readable(rows) if text else rows, declared._replace(untyped=declared.untyped and text), target, names
    )


def staged_rows(pieces: Sequence[Path]) -> pa.Table:
    """Return the released columns of staged rows, where they lie on disk."""
    rows = pa.concat_tables([read_rows(piece) for piece in pieces])
    return rows.select([name for name in rows.column_names if not name.startswith(STAGED)])


def check_written(files: Sequence[Path], quasi_identifiers: Sequence[str], k: int, rows: int) -> None:
    """Read written files back and count all their rows again."""
    count = Recount(quasi_identifiers)
    for path in files:
        for batch in open_batches(path):
            count.add(batch)
    if count.rows != rows:
        raise DataError("The file read back differs from what was written. Nothing was released.")
    count.check(k)
