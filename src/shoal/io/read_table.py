"""The public way to read a table into a frame of the user's choice."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal

from shoal.frames import Frame
from shoal.io.files import open_table
from shoal.notation import make_notation
from shoal.validation import check_choice

FrameChoice = Literal["arrow", "pandas", "polars", "duckdb"]


def read_table(
    path: str | os.PathLike[str],
    *,
    into: FrameChoice = "arrow",
    table: str | None = None,
    query: str | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    date_format: str | Sequence[str] | None = None,
    missing: str | Sequence[str] | None = None,
) -> Any:
    r"""Read a table as shoal understands it, into a frame of your choice.

    Parameters
    ----------
    path
        A file, a folder of Parquet files, an address such as ``s3://bucket/people.parquet``, or a database such as
        ``postgresql://host/db``. The network is opened for an address that is named here, and for nothing else.
    into
        ``"arrow"``, ``"pandas"``, ``"polars"`` or ``"duckdb"``.
    table, query
        Which table of a database or sheet of a workbook is meant, or the rows of a database as SQL.
    separator, encoding
        Of a text file; detected if not given.
    decimal, thousands, date_format, missing
        How values in text are written, as for ``Anonymizer``; detected if not given. What could be read in two
        ways stays text. A ``NotationNotice`` says what was understood.

    Examples
    --------
    >>> import shoal
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "people.csv")
    ...     _ = file.write_text("age,zip\n30,00123\n40,00124\n")
    ...     table = shoal.read_table(file)
    >>> table.to_pydict()
    {'age': [30, 40], 'zip': ['00123', '00124']}
    """
    check_choice("read_table", "into", into, ("arrow", "pandas", "polars", "duckdb"))
    notation = make_notation("read_table", decimal, thousands, date_format, missing)
    frame = open_table(path, separator=separator, encoding=encoding, notation=notation, table=table, query=query)
    typed = frame.tell(frame.names).settle()
    return Frame(typed.table, into).restore(typed.table)
