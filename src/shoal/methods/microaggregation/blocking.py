"""What the methods of microaggregation share: scaled distances, and groups within the values of a column."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import IntArray, LongArray
from shoal.errors import ColumnError, ParameterError, PrivacyError
from shoal.methods.base import Grouping, Representing, Task, most_withheld
from shoal.methods.microaggregation.scaling import SCALES, Points, Scale, as_coordinates
from shoal.validation import check_choice, nearest_hint

if TYPE_CHECKING:
    from shoal.encoding import CodedTable


@dataclass(frozen=True)
class Microaggregation(Representing):
    """What the methods of the family share: the scale of distances, blocks, and what stands for a group."""

    scale: Scale = "z"
    within: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(type(self).__name__, "scale", self.scale, SCALES)
        if self.within is not None and not isinstance(self.within, str):
            raise ParameterError(
                f"The 'within' parameter of {type(self).__name__} must be the name of a column. "
                f"Got {type(self.within).__name__} instead."
            )

    def run(self, table: CodedTable, task: Task) -> Grouping:
        """Group the records of ``table``, block by block."""
        points = self._place(table)
        labels = np.full(table.records, -1, np.int32)
        groups = 0
        for block in self._blocks(table, task):
            part = points if len(block) == table.records else points.take(block)
            found = self._group(part, task)
            labels[block] = found + groups
            groups += int(found.max()) + 1
        return Grouping(labels, typical=self.typical)

    def _place(self, table: CodedTable) -> Points:
        numbers = as_coordinates(table, self.scale)
        return Points(numbers, np.zeros((0, table.records), np.int32), np.zeros(0, np.int64), np.zeros(0), table.space)

    @abstractmethod
    def _group(self, points: Points, task: Task) -> IntArray:
        """Return the labels of the points of one block."""

    def _blocks(self, table: CodedTable, task: Task) -> list[LongArray]:
        """Return the records of each block; blocks below k are withheld if ``max_suppression`` allows."""
        if self.within is None:
            return [np.arange(table.records)]
        codes = column_codes(table, self.within)
        order = np.argsort(codes, kind="stable")
        blocks = np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)
        small = sum(len(block) for block in blocks if len(block) < task.k)
        if small > most_withheld(task.max_suppression, table.records):
            raise PrivacyError(
                f"{small} records have a value of {self.within!r} that fewer than k = {task.k} records share, "
                "so they cannot be grouped within it. Nothing was released.",
                hint="join rare values of that column, allow suppression, or leave 'within' out.",
            )
        return [block for block in blocks if len(block) >= task.k]


def column_codes(table: CodedTable, name: str) -> IntArray:
    """Return the codes of a quasi-identifier or of a sensitive column."""
    if name in table.names:
        return np.asarray(table.codes[table.names.index(name)], np.int32)
    if name in table.attributes:
        return np.asarray(table.attributes[name].codes, np.int32)
    known = [*table.names, *table.attributes]
    raise ColumnError(
        f"The column {name!r} is neither a quasi-identifier nor a sensitive column.",
        hint=nearest_hint(name, known),
    )
