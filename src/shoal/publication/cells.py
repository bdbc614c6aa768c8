"""What the released cells of a column show: their forms, their ends, their values."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from shoal.cells.parse import Cell, parse_cell
from shoal.errors import DataError

Kind = Literal["integer", "number", "date", "datetime", "text", "boolean"]
_PATTERNS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("integer", re.compile(r"[+-]?(0|[1-9]\d*)")),
    ("number", re.compile(r"[+-]?(\d+(\.\d+)?|\.\d+)([eE][+-]?\d+)?")),
    ("date", re.compile(r"\d{4}-\d\d-\d\d")),
    ("datetime", re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?")),
    ("boolean", re.compile(r"(?i)true|false")),
)


@dataclass(frozen=True)
class ColumnCells:
    """The distinct cells of a recoded column, sorted by their text, and how many rows have each."""

    cells: tuple[Cell, ...]
    texts: tuple[str | None, ...]
    rows: tuple[int, ...]

    @property
    def records(self) -> int:
        """The number of rows."""
        return sum(self.rows)

    def share(self, *forms: str) -> float:
        """Return the share of the rows whose cells have one of these forms."""
        found = sum(rows for cell, rows in zip(self.cells, self.rows, strict=True) if cell.form in forms)
        return found / max(self.records, 1)

    def has(self, form: str) -> bool:
        """Return whether some cell has this form."""
        return any(cell.form == form for cell in self.cells)

    @cached_property
    def values(self) -> tuple[str, ...]:
        """All values, labels, members and ends that cells name, sorted."""
        return tuple(sorted({value for cell in self.cells for value in cell.values}))


def read_cells(column: pa.ChunkedArray) -> ColumnCells:
    """Return the distinct cells of a column of text; a text that is not a cell counts as a value."""
    plain = column.cast(pa.string())
    counts = pc.value_counts(plain)
    pairs = [(one["values"].as_py(), one["counts"].as_py()) for one in counts]
    pairs.sort(key=lambda pair: (pair[0] is not None, pair[0] or ""))
    texts, rows = zip(*pairs, strict=True) if pairs else ((), ())
    return ColumnCells(tuple(map(_cell, texts)), texts, rows)


def _cell(text: str | None) -> Cell:
    try:
        return parse_cell(text)
    except DataError:
        return Cell("value", (str(text),))


def kind_of(texts: tuple[str, ...]) -> Kind:
    """Return what all these texts can be read as; integers are numbers too."""
    for kind, pattern in _PATTERNS:
        if texts and all(pattern.fullmatch(text) for text in texts):
            return kind
    return "text"


def as_json(text: str, kind: Kind) -> Any:
    """Return a value as JSON holds it: numbers as numbers, all else as text."""
    if kind == "integer":
        return int(text)
    if kind == "number":
        number = float(text)
        return number if math.isfinite(number) else None
    return text


def extremes(texts: tuple[str, ...], kind: Kind) -> tuple[Any, Any]:
    """Return the lowest and the highest of some values; two missing ones for kinds without an order."""
    if kind in {"text", "boolean"} or not texts:
        return None, None
    values = [one for one in (as_json(text, kind) for text in texts) if one is not None]
    return (min(values), max(values)) if values else (None, None)


def few_digits(number: float) -> float:
    """Return a measure with three digits, which is what cells can carry."""
    return float(f"{number:.3g}")
