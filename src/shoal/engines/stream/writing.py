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
from shoal.frames import Frame, encode_dictionary
from shoal.io.files import open_batches
from shoal.io.registry import file_source
from shoal.notation import Reading, in_plain_notation
from shoal.publication import Declared, make_dictionary, with_dictionary
from shoal.recipe import recipe_notation
from shoal.results.columns import readable


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


class TextRows:
    """How rows look in a text file: readable, and with numbers and dates of all columns in the plain notation."""

    def __init__(self, rows: pa.Table, declared: Declared | None) -> None:
        self.readings: dict[str, Reading] = {}
        if declared is None or not declared.untyped:
            return
        notation, left = recipe_notation(declared.recipe), {"quasi-identifier", "pseudonym"}
        for name in rows.column_names:
            if declared.role(name) not in left:  # by its own texts, as all columns of a stream are read
                reading = Frame(rows.select([name]), untyped=True, notation=notation).reading(name)
                self.readings |= {name: reading} if reading.form else {}

    def of(self, rows: pa.Table) -> pa.Table:
        """Return rows as the file holds them."""
        for name, reading in self.readings.items():
            encoded = encode_dictionary(rows.column(name))
            texts = in_plain_notation(encoded.dictionary.cast(pa.string()), reading)
            rows = rows.set_column(rows.column_names.index(name), name, texts.take(encoded.indices))
        return readable(rows)


def write_file(
    rows: Iterator[pa.Table], path: Path, told: dict[str, Any] | None = None, text: TextRows | None = None
) -> None:
    """Write piles into one file, in the form of its name; a file that can holds its dictionary."""
    private(path)
    source = file_source(path.name)
    parts = rows if text is None else map(text.of, rows)
    if told is not None and source.holds_metadata:
        parts = (with_dictionary(part, told) for part in parts)
    with contextlib.ExitStack() as stack:
        writer: Any = None
        for part in parts:
            if writer is None:
                writer = stack.enter_context(source.writer(path, part.schema))
            writer.write_table(part)


def dictionary_of(
    rows: pa.Table,
    declared: Declared,
    target: Path,
    parts: Sequence[Path] = (),
    text: TextRows | None = None,
) -> dict[str, Any]:
    """Return the dictionary of rows that go to a file or to the parts of a folder."""
    names = [f"{target.name}/{part.name}" for part in parts] if is_folder(target) else ()
    rows = rows if text is None else text.of(rows)
    return make_dictionary(rows, declared._replace(untyped=declared.untyped and text is not None), target, names)


def text_rows(rows: pa.Table, declared: Declared | None, target: Path) -> TextRows | None:
    """Return how rows look in a file of this name; None if it is not a text file."""
    return TextRows(rows, declared) if not is_folder(target) and file_source(target.name).is_text else None


def staged_rows(pieces: Sequence[Path]) -> pa.Table:
    """Return the released columns of staged rows, where they are on disk."""
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
