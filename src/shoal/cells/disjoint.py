"""Columns whose released cells do not overlap: two cells are equal, or have no value in common.

Such a column can be a factor in a model. It is coded by a hierarchy of two levels: the parts, and the values below them. The search sees one
code for each part, so that records of one part cost nothing; every cell is a part, or ``*`` if its group has values of several parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shoal.arrays import IntArray
from shoal.encoding import CodedColumn, CodedTable
from shoal.errors import ParameterError
from shoal.kernels.space.space import Cover
from shoal.validation import check_int, check_mapping

WORD = "disjoint"


@dataclass(frozen=True)
class Disjoint:
    """The released cells of a column are one partition of its values, or ``*``.

    Parameters
    ----------
    most
        The largest number of parts. Without it, as many as lose least.

    Examples
    --------
    >>> import shoal
    >>> people = {"age": list(range(20, 80)) * 2, "sex": ["f", "m"] * 60}
    >>> result = shoal.anonymize(people, k=5, quasi_identifiers=["age", "sex"], cells={"age": shoal.Disjoint(most=3)})
    >>> len(set(result.data["age"]))
    3
    """

    most: int | None = None

    def __post_init__(self) -> None:
        if self.most is not None:
            check_int("Disjoint", "most", self.most, least=2)

    @property
    def plain(self) -> str | dict[str, int]:
        """What a recipe holds."""
        return WORD if self.most is None else {"most": self.most}


CellsChoice = Disjoint | str


def check_cells(owner: str, cells: Mapping[str, Any] | None) -> dict[str, Disjoint]:
    """Return what is asked of the cells of columns, or say what is wrong with it."""
    return {name: _checked(owner, name, choice) for name, choice in check_mapping(owner, "cells", cells).items()}


def _checked(owner: str, name: str, choice: Any) -> Disjoint:
    if isinstance(choice, Disjoint):
        return choice
    if isinstance(choice, str) and choice == WORD:
        return Disjoint()
    if isinstance(choice, Mapping) and set(choice) == {"most"}:
        return Disjoint(choice["most"])
    raise ParameterError(
        f"The 'cells' parameter of {owner} must be 'disjoint' or shoal.Disjoint(most=...) for each column. "
        f"Got {type(choice).__name__} for {name!r}.",
        hint='cells={"education": "disjoint", "age": shoal.Disjoint(most=8)}',
    )


def parts_of(column: CodedColumn) -> tuple[IntArray, IntArray]:
    """Return the lowest and the highest code of the part that each code belongs to; a missing value is a part of its own."""
    low, high = np.arange(column.cardinality, dtype=np.int32), np.arange(column.cardinality, dtype=np.int32)
    tree = column.tree
    for label in tree.children(tree.labels[tree.root]):
        node = tree.node(label)
        first, last = int(tree.low[node]), int(tree.high[node])
        low[first : last + 1], high[first : last + 1] = first, last
    return low, high


def rows_in_parts(coded: CodedTable, names: Sequence[str] | Mapping[str, Any]) -> list[int]:
    """Return the places of these columns."""
    return [row for row, column in enumerate(coded.columns) if column.name in names]


def as_searched(coded: CodedTable, names: Sequence[str] | Mapping[str, Any]) -> CodedTable:
    """Return a table for the search, in which all values of a part have one code."""
    if not names:
        return coded
    codes = coded.codes.copy()
    for row in rows_in_parts(coded, names):
        codes[row] = parts_of(coded.columns[row])[0][codes[row]]
    made = replace(coded, codes=codes)
    made.__dict__["space"] = coded.space
    return made


def in_parts(coded: CodedTable, cover: Cover, names: Sequence[str] | Mapping[str, Any]) -> Cover:
    """Return boxes whose cells in these columns are whole parts, or all values."""
    if not names:
        return cover
    low, high = cover.low.copy(), cover.high.copy()
    for row in rows_in_parts(coded, names):
        column = coded.columns[row]
        first, last = parts_of(column)
        crossing = last[low[row]] != last[high[row]]
        top = np.where(high[row] == column.missing, column.missing, len(column.values) - 1)
        low[row], high[row] = (
            np.where(crossing, 0, first[low[row]]),
            np.where(crossing, top, last[high[row]]),
        )
    return cover._replace(low=low, high=high)
