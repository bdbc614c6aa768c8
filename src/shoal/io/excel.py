"""Excel workbooks: one sheet, its first row the names of the columns."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from shoal.errors import ColumnError, DataError
from shoal.frames import Frame, require, to_frame
from shoal.io.location import Location
from shoal.io.naming import name_first
from shoal.io.source import ReadOptions, Source, rows_of

_MOST_ROWS = 1_048_575
"""What a sheet can hold below its header."""


class Excel(Source):
    """A sheet of an Excel workbook."""

    name = "Excel workbook"
    endings: ClassVar[tuple[str, ...]] = (".xlsx", ".xlsm")
    takes_table = True

    def read(self, location: Location, options: ReadOptions) -> Frame:
        """Return a sheet: the one named, or the first."""
        openpyxl = require("openpyxl", "excel", "Reading an Excel workbook")
        with location.open() as stream:
            try:
                book = openpyxl.load_workbook(stream, read_only=True, data_only=True)
            except (zipfile.BadZipFile, KeyError, ValueError):
                raise DataError(f"The file {location.name!r} is no Excel workbook, or it is damaged.") from None
            rows = [list(row) for row in _sheet(book, options.table, location.name).iter_rows(values_only=True)]
        return _frame(rows, location.name)

    def write(self, table: pa.Table, path: Path, like: Frame | None = None) -> None:  # noqa: ARG002
        """Write a table as a workbook of one sheet; text is text, even where it begins with ``=``."""
        openpyxl = require("openpyxl", "excel", "Writing an Excel workbook")
        if table.num_rows > _MOST_ROWS:
            raise DataError(
                f"An Excel sheet holds at most {_MOST_ROWS:,} rows. Got {table.num_rows:,}.", hint="write .parquet."
            )
        book = openpyxl.Workbook(write_only=True)
        sheet = book.create_sheet("release")
        text = openpyxl.cell.WriteOnlyCell

        def cell(value: Any) -> Any:
            if not isinstance(value, str):
                return value
            made = text(sheet, value)
            made.data_type = "s"
            return made

        sheet.append([cell(name) for name in table.column_names])
        for row in rows_of(table):
            sheet.append([cell(value) for value in row])
        book.save(path)


def _sheet(book: Any, name: str | None, file: str) -> Any:
    if name is None:
        return book.worksheets[0]
    if name not in book.sheetnames:
        raise ColumnError(
            f"The workbook {file!r} has no sheet {name!r}.", hint=f"its sheets are: {', '.join(book.sheetnames)}."
        )
    return book[name]


def _frame(rows: Sequence[list[Any]], file: str) -> Frame:
    rows = [row for row in rows if any(value is not None for value in row)]
    if not rows:
        raise DataError(f"The file {file!r} is empty. A table needs a row of names and rows below it.")
    width = max(len(row) - _gap(row) for row in rows)
    names, notes = name_first([_name(value) for value in rows[0][:width]], width)
    columns = {
        name: _column([row[place] if place < len(row) else None for row in rows[1:]])
        for place, name in enumerate(names)
    }
    frame = to_frame(pa.table(columns))
    return Frame(frame.table, notes=notes)


def _gap(row: Sequence[Any]) -> int:
    """Return the number of empty cells at the end of a row."""
    filled = [place for place, value in enumerate(row) if value is not None]
    return len(row) - (filled[-1] + 1 if filled else 0)


def _name(value: Any) -> str:
    return "" if value is None else str(value).strip()


def _column(values: list[Any]) -> pa.Array:
    """Return cells as the type they share, or as the text they show."""
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if value is None else str(value) for value in values], pa.string())
