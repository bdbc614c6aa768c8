"""Counts of the exact values behind released cells, which a release shows only if its publisher asks for them.

This is all that leaves a release next to its rows without being a function of them. ``release.counts`` makes it from the released
records, pooled and rounded; everything else gets it in this form and cannot look behind it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

CountsChoice = Literal["columns", "groups"]
COUNTS = ("columns", "groups")
PREFIX = "counts of "
"""How the columns of ``ExactCounts.groups`` are named that hold counts."""


class ColumnCounts(NamedTuple):
    """How often the values of one recoded column occur in the released records, in multiples of k."""

    values: tuple[tuple[str | None, int], ...]
    """Each value that at least k people have, None for a missing one, and its count."""
    rest: int
    """The records with any other value."""


@dataclass(frozen=True)
class ExactCounts:
    """Counts that are released next to the cells."""

    columns: Mapping[str, ColumnCounts]
    """Of each quasi-identifier; empty if counts of groups are released."""
    groups: pa.Table | None = None
    """One row for each combination of cells: the cells, and for each of them the counts of the values behind it as JSON,
    ``[["34", 2], ["35", 3]]``. The counts of two columns are not tied to one another."""

    @property
    def choice(self) -> CountsChoice:
        """What the publisher asked for."""
        return "columns" if self.groups is None else "groups"

    def texts(self, name: str) -> tuple[str, ...]:
        """Return the values that are counted in a column: they may be finer than the ends of its ranges."""
        if self.groups is None:
            found = {value for value, _ in self.columns[name].values}
        else:
            lines = pc.unique(self.groups.column(counts_of(name))).to_pylist()
            found = {value for line in lines for value, _ in json.loads(line)}
        return tuple(sorted(value for value in found if value is not None))


def counts_of(name: str) -> str:
    """Return the name of the column that holds the counts of a quasi-identifier."""
    return PREFIX + name


TOLD = {
    "columns": "How often each value of a quasi-identifier occurs is released too, in multiples of k. Every combination of cells still has "
    "at least k records, but counts tell more about blurred values than the cells alone.",
    "groups": "The values behind the cells of each group are released too, column by column. Every combination of cells still has at least k "
    "records, but the counts tell more about blurred values and about who is in the table: with k = 5, an intruder who knew all quasi-identifiers of a person "
    "named the right group in 98 % of the cases instead of 90 %, and a blurred age was guessed in 40 % instead of 20 %.",
}
"""What is said of them before anything is written."""
