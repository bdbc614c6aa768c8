"""The cell that is asked about: its group, and what one step narrower would keep."""

from __future__ import annotations

import numpy as np

from shoal.arrays import AnyArray, BoolArray, LongArray
from shoal.cells.recode import range_form, set_text, value_text
from shoal.encoding import CodedColumn, CodedTable
from shoal.summary import Release


class Question:
    """The cell that is asked about, and its group."""

    def __init__(self, release: Release, row: int, column: str) -> None:
        self.release, self.row, self.name = release, row, column
        self.coded = release.coded
        self.place = self.coded.names.index(column)
        self.group = int(release.groups[row])
        self.members: LongArray = np.flatnonzero(release.groups == self.group)
        self.own = int(self.codes[row])
        self.present: LongArray = np.unique(self.codes[self.members]).astype(np.int64)

    @property
    def codes(self) -> AnyArray:
        """The column as integers, all records."""
        column: AnyArray = self.coded.codes[self.place]
        return column

    def people(self, records: LongArray) -> int:
        """Return how many people records belong to."""
        person = self.coded.units.get("person")
        return len(records) if person is None else len(np.unique(person[records]))

    def hiding(self, records: LongArray) -> int:
        """Return how many k counts in records: people, or households if they are fewer."""
        units = [len(np.unique(unit[records])) for unit in self.coded.units.values()]
        return min([self.people(records), *units])

    @property
    def coded_column(self) -> CodedColumn:
        """What the codes stand for."""
        return self.coded.columns[self.place]

    @property
    def text(self) -> str | None:
        """The cell as it is released."""
        shown = int((self.release.groups[: self.row] >= 0).sum())
        value = self.release.released.column(self.name)[shown].as_py()
        return None if value is None else str(value)


def codes_narrower(cell: Question) -> LongArray:
    """Return the codes of the group that one step narrower would keep, the person's own among them."""
    column, present = cell.coded_column, cell.present
    if column.missing in present:
        return _where(present, (present == column.missing) == (cell.own == column.missing))
    records = np.array([(cell.codes[cell.members] == code).sum() for code in present])
    return column.kind.narrower(column, present, records, cell.own)


def _where(codes: LongArray, chosen: BoolArray) -> LongArray:
    found: LongArray = codes[chosen]
    return found


def cells_text(coded: CodedTable, place: int, codes: LongArray) -> str:
    """Return codes as they would be released together."""
    column = coded.columns[place]
    if column.kind.by_members and column.missing not in codes:
        texts = [column.texts[code] for code in codes]
        return set_text(texts) if len(texts) > 1 else value_text(texts[0])
    return range_form(coded, place, column, int(codes[0]), int(codes[-1])) or "missing"
