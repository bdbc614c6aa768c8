"""Excel workbooks: one sheet, its first row the names of the columns."""

from __future__ import annotations

import itertools
import json
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import ColumnError, DataError, ShoalError
from shoal.frames import Frame, require, to_frame
from shoal.frames.canonical import is_text, value_type
from shoal.io.column_names import name_first
from shoal.io.location import Location
from shoal.io.packed import refuse_archive_bomb
from shoal.io.source import CODEBOOK_KEY, ReadOptions, Source, rows_of

_MOST_ROWS = 1_048_575
"""What a sheet can hold below its header."""

_WIDEST = 60
"""Signs of the widest column."""
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that XML 1.0 does not have."""


class Excel(Source):
    """A sheet of an Excel workbook."""

    name = "Excel workbook"
    endings: ClassVar[tuple[str, ...]] = (".xlsx", ".xlsm")
    takes_table = True
    shows_codebook = True

    def read(self, location: Location, options: ReadOptions) -> Frame:
        """Return a sheet: the one named, or the first."""
        openpyxl = require("openpyxl", "excel", "Reading an Excel workbook")
        with location.open() as stream:
            try:
                with zipfile.ZipFile(stream) as archive:
                    refuse_archive_bomb(location.name, archive)
                book = openpyxl.load_workbook(stream, read_only=True, data_only=True)
                rows = [list(row) for row in _sheet(book, options.table, location.name).iter_rows(values_only=True)]
            except ShoalError:
                raise
            except Exception:  # noqa: BLE001  (what openpyxl raises of a damaged workbook has no common kind, and may hold cells)
                raise DataError(f"The file {location.name!r} is not an Excel workbook, or it is damaged.") from None
        return _frame(rows, location.name)

    def write(self, table: pa.Table, path: Path, like: Frame | None = None) -> None:  # noqa: ARG002
        """Write a table as a sheet, and a codebook as a second one if there is one; text is text, even if it begins with ``=``."""
        openpyxl = require("openpyxl", "excel", "Writing an Excel workbook")
        if table.num_rows > _MOST_ROWS:
            raise DataError(
                f"An Excel sheet holds at most {_MOST_ROWS:,} rows. Got {table.num_rows:,}.", hint="write .parquet."
            )
        _refuse_unwritable(table)
        book = openpyxl.Workbook(write_only=True)
        _add_sheet(openpyxl, book, "release", table.column_names, rows_of(table), _widths(openpyxl, table))
        codebook = (table.schema.metadata or {}).get(CODEBOOK_KEY)
        if codebook is not None:
            _add_sheet(openpyxl, book, "codebook", None, json.loads(codebook), dict.fromkeys("ABCDEFGHIJ", 24))
        book.save(path)


def _add_sheet(
    openpyxl: Any,
    book: Any,
    name: str,
    header: Sequence[str] | None,
    rows: Iterable[Sequence[Any]],
    widths: Mapping[str, int],
) -> None:
    """Write one sheet; a header stays in view, and text is text."""
    sheet = book.create_sheet(name)
    for letter, width in widths.items():
        sheet.column_dimensions[letter].width = width
    if header is not None:
        sheet.freeze_panes = "A2"

    def cell(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        made = openpyxl.cell.WriteOnlyCell(sheet, value)
        made.data_type = "s"
        return made

    for row in rows if header is None else itertools.chain([header], rows):
        sheet.append([cell(value) for value in row])


def _widths(openpyxl: Any, table: pa.Table) -> dict[str, int]:
    """Return the width of each column in signs, so that no date is shown as ``###``."""
    widths = {}
    for place, name in enumerate(table.column_names, 1):
        column = table.column(name)
        kind = value_type(column.type)
        longest = 20 if pa.types.is_timestamp(kind) else 11
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            longest = pc.max(pc.utf8_length(pc.unique(column).cast(pa.string()))).as_py() or 0
        widths[openpyxl.utils.get_column_letter(place)] = min(max(longest, len(name)) + 2, _WIDEST)
    return widths


def _refuse_unwritable(table: pa.Table) -> None:
    """Refuse what a sheet cannot hold: control characters, and cells that are not single values."""
    for name in table.column_names:
        column = table.column(name)
        kind = value_type(column.type)
        if pa.types.is_nested(kind) or pa.types.is_interval(kind):
            raise DataError(
                f"An Excel sheet cannot hold the cells of type {str(kind)[:40]} of {name!r}.", hint="write .parquet."
            )
        texts = (
            pc.unique(column).cast(pa.string())
            if pa.types.is_string(kind) or pa.types.is_large_string(kind)
            else pa.array([name])
        )
        if _CONTROL.search(name) or any(_CONTROL.search(text) for text in texts.to_pylist() if text):
            raise DataError(
                f"An Excel sheet cannot hold control characters. The column {name!a} has some.",
                hint="write .csv or .parquet.",
            )


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
    frame = to_frame(pa.table({name: column for name, (column, _) in columns.items()}))
    found = frozenset(name for name, (_, found) in columns.items() if found)
    return Frame(frame.table, notes=notes, types_found=found)


def _gap(row: Sequence[Any]) -> int:
    """Return the number of empty cells at the end of a row."""
    filled = [place for place, value in enumerate(row) if value is not None]
    return len(row) - (filled[-1] + 1 if filled else 0)


def _name(value: Any) -> str:
    return "" if value is None else str(value).strip()


def _column(values: list[Any]) -> tuple[pa.Array, bool]:
    """Return cells as the type they share, or as the text they show, and whether other cells could have another type: not if all are text."""
    try:
        column = pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if value is None else str(value) for value in values], pa.string()), True
    return column, not is_text(column.type)
