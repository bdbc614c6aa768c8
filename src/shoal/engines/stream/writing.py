"""The piles of all fragments become one file, or a folder of parts."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as papq

from shoal.engines.stream.recounting import Recount
from shoal.engines.stream.spool import STAGED, private
from shoal.errors import DataError, FileError
from shoal.io.delimited import packing
from shoal.io.files import file_format, open_batches
from shoal.saving import readable


def is_folder(target: Path) -> bool:
    """Tell whether a target is a folder of parts: a name without an ending."""
    return not target.suffix


def check_form(target: Path) -> None:
    """Refuse a form that cannot be written part by part."""
    if not is_folder(target) and file_format(target) not in {"csv", "Parquet file"}:
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


def write_file(rows: Iterator[pa.Table], path: Path) -> None:
    """Write piles into one file, in the form of its name."""
    private(path)
    with contextlib.ExitStack() as stack:
        writer: Any = None
        for pile in rows:
            if file_format(path) == "csv":
                pile = readable(pile)  # noqa: PLW2901
                if writer is None:
                    options = pacsv.WriteOptions(delimiter="\t" if ".tsv" in path.name.lower() else ",")
                    stream = stack.enter_context(packing(path))
                    writer = stack.enter_context(pacsv.CSVWriter(stream, pile.schema, write_options=options))
            elif writer is None and path.suffix == ".arrow":
                sink = stack.enter_context(pa.OSFile(str(path), "wb"))
                writer = stack.enter_context(pa.ipc.new_file(sink, pile.schema))
            elif writer is None:
                writer = stack.enter_context(papq.ParquetWriter(path, pile.schema))
            writer.write_table(pile)


def check_written(files: Sequence[Path], quasi_identifiers: Sequence[str], k: int, rows: int) -> None:
    """Read written files back and count all their rows again."""
    count = Recount(quasi_identifiers)
    for path in files:
        for batch in open_batches(path):
            count.add(batch)
    if count.rows != rows:
        raise DataError("The file read back differs from what was written. Nothing was released.")
    count.check(k)
