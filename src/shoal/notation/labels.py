"""Value labels, and the codes that mean a missing value, as in SPSS, Stata and SAS files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

LETTERS = "abcdefghijklmnopqrstuvwxyz"
"""What follows the dot of Stata's extended missing values."""
_FIRST_LETTER = -999_999_926


def code_of_letter(letter: str) -> int:
    """Return the number that stands for one of Stata's missing values ``.a`` to ``.z`` if a column is a column of numbers."""
    return _FIRST_LETTER + LETTERS.index(letter)


def letter_of_code(code: Any) -> str | None:
    """Return the letter that a code stands for, None for any other code."""
    place = code - _FIRST_LETTER if isinstance(code, (int, float)) else -1
    return LETTERS[int(place)] if 0 <= place < len(LETTERS) and place == int(place) else None


@dataclass(frozen=True)
class ValueLabels:
    """The labels of one column."""

    labels: Mapping[Any, str] = field(default_factory=dict)
    missing: tuple[tuple[Any, Any], ...] = ()
    """Ranges of codes, ends included, that stand for a missing value."""
    title: str = ""
    """What the column is about, in words."""
    measure: str = ""
    """The level of measurement as SPSS names it: ``nominal``, ``ordinal`` or ``scale``."""
    form: str = ""
    """How the program shows values, in its own words: ``F8.3`` (SPSS), ``%td`` (Stata)."""

    def apply(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        """Return a column without codes for missing values; as text if every other code has a label."""
        return self.texts(self.without_missing(column))

    def texts(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        """Return a column with labels instead of codes if every code has one, else the column."""
        distinct = pc.unique(column).drop_null().to_pylist()
        if not self.labels or any(value not in self.labels for value in distinct):
            return column
        texts = pa.array([self.labels[value] for value in distinct], pa.string())
        places = pc.index_in(column, pa.array(distinct, column.type))
        return pa.chunked_array([texts.take(chunk) for chunk in places.chunks], pa.string())

    def of_values(self, values: pa.Array | pa.ChunkedArray) -> ValueLabels:
        """Return the labels of these codes alone, in the order of the codes; only a code of this kind shows that there are letters of Stata."""
        there = set(values.to_pylist())
        labels = {code: text for code, text in self.labels.items() if code in there}
        lettered = any(letter_of_code(code) for code in there)
        missing = tuple(pair for pair in self.missing if lettered or letter_of_code(pair[0]) is None)
        ordered = sorted(labels.items(), key=lambda one: (str(type(one[0])), one[0]))
        return replace(self, labels=dict(ordered), missing=missing)

    def of_cells(self, *, ordered: bool) -> ValueLabels:
        """Return what still holds once a column has been recoded: its title. A cell has no code, and an empty one is missing."""
        return ValueLabels(missing=(("", ""),), title=self.title, measure="ordinal" if ordered else "nominal")

    def codes_for_missing(self, column: pa.Array | pa.ChunkedArray) -> list[Any]:
        """Return the codes of a column that stand for a missing value, in order."""
        distinct = pc.unique(column).drop_null()
        values = self.without_missing(distinct)
        return sorted(distinct.filter(pc.is_null(values)).to_pylist())

    def without_missing(self, column: Any) -> Any:
        """Return a column with null instead of codes for missing values."""
        for low, high in self.missing:
            if not _comparable(low, column.type):
                continue
            inside = pc.and_(pc.greater_equal(column, low), pc.less_equal(column, high))
            column = pc.if_else(inside, pa.scalar(None, column.type), column)
        return column


def _comparable(code: Any, kind: pa.DataType) -> bool:
    """Return whether the values of a column can be codes of this kind; dates have none."""
    if isinstance(code, str):
        return bool(pa.types.is_string(kind))
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))
