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
from shoal.engines.stream.spool import STAGED, private
from shoal.errors import DataError, FileError
from shoal.io.files import open_batches
from shoal.io.registry import file_source
from shoal.saving import readable


def is_folder(target: Path) -> bool:
    """Tell whether a target is a folder of parts: a name without an ending."""
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


def write_file(rows: Iterator[pa.Table], path: Path) -> None:
    """Write piles into one file, in the form of its name."""
    private(path)
    source = file_source(path.name)
    parts = (readable(pile) for pile in rows) if source.is_text else rows
    with contextlib.ExitStack() as stack:
        writer: Any = None
        for part in parts:
            if writer is None:
                writer = stack.enter_context(source.writer(path, part.schema))
            writer.write_table(part)


def check_written(files: Sequence[Path], quasi_identifiers: Sequence[str], k: int, rows: int) -> None:
    """Read written files back and count all their rows again."""
    count = Recount(quasi_identifiers)
    for path in files:
        for batch in open_batches(path):
            count.add(batch)
    if count.rows != rows:
        raise DataError("The file read back differs from what was written. Nothing was released.")
    count.check(k)
