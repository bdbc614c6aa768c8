"""Who of a list of people fits the released cells: counted by the cells alone.

Cells are read by ``shoal.cells.parse``, and values of the list by what they mean. Nothing here knows codes, boxes or where the search
placed people, so that this count can disagree with it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shoal.arrays import BoolArray, FloatArray, IntArray, LongArray
from shoal.cells.parse import Cell, parse_cell
from shoal.encoding import CodedColumn, value_texts
from shoal.errors import HierarchyError, PrivacyError
from shoal.frames import Frame
from shoal.frames.canonical import encode_dictionary
from shoal.hierarchy.texts import match_texts
from shoal.privacy.base import PeoplePromise
from shoal.recount.cover import cell_ends, own_numbers
from shoal.recount.rows import recount


class Found(NamedTuple):
    """What the released cells hold of one promise."""

    promise: PeoplePromise
    size: LongArray
    """Records of each released combination."""
    fits: LongArray
    """People who fit it."""
    left_out: int
    """People who fit no combination."""

    @property
    def share(self) -> FloatArray:
        """The share of the people who fit each combination that is in the table."""
        with np.errstate(divide="ignore"):
            return np.asarray(self.size / self.fits, np.float64)

    def failing(self) -> int:
        """Return in how many combinations the promise does not hold."""
        few = self.fits < self.promise.fewest
        if self.promise.shares:
            few |= (self.share < self.promise.low) | (self.share > self.promise.high)
        return int(few.sum())

    def figures(self) -> dict[str, float]:
        """Return the figures of the worst combination, by their names in an audit."""
        if not len(self.fits):
            return {}
        if not self.promise.shares:
            return {"k_map": float(self.fits.min())}
        least = 0.0 if self.promise.everyone and self.left_out else float(self.share.min())
        return {
            "presence_least": least,
            "presence_most": float(self.share.max()),
            "left_out": float(self.left_out),
        }


def find_people(promise: PeoplePromise, columns: Sequence[CodedColumn], released: pa.Table, label: IntArray) -> Found:
    """Count the people who fit each released combination; ``label`` is the combination of each row."""
    first, size = (part.astype(np.int64) for part in np.unique(label, return_index=True, return_counts=True)[1:])
    read = [
        _Ranges(column, promise.people, released.column(column.name))
        if column.kind.ordered
        else _Lists(column, promise.people, released.column(column.name))
        for column in columns
    ]
    alike = pa.table({str(number): pa.array(one.value) for number, one in enumerate(read)})
    person = recount(alike, alike.column_names)
    one_of, weight = np.unique(person, return_index=True, return_counts=True)[1:]
    sides = [one.over(one_of) for one in read]
    fits, reached = np.zeros(len(size), np.int64), np.zeros(len(weight), np.bool_)
    for number, row in enumerate(first.tolist()):
        inside = _who_fits(sides, row)
        fits[number] = weight[inside].sum()
        reached[inside] = True
    return Found(promise, size, fits, int(weight[~reached].sum()))


def refuse_broken_promise(name: str, found: Found) -> None:
    """Raise if the released cells do not hold what a model promises of a list of people."""
    failing = found.failing()
    if failing:
        raise PrivacyError(
            f"{name} does not hold in {failing} groups, by the people who fit their released cells. Nothing was released.",
            hint="relax the model, allow suppression, or take another method.",
        )
    if found.promise.everyone and found.left_out:
        raise PrivacyError(
            f"{name} does not hold: {found.left_out:,} people of the population fit no released group, so that it is known that they are "
            "not in the table. Nothing was released.",
            hint="take a method of global recoding such as 'incognito' with a hierarchy for every column, or promise less with everyone=False.",
        )


def _who_fits(sides: Sequence[_Side], row: int) -> LongArray:
    """Return the people who fit all cells of a row: those of the column that leaves fewest, and of them those who fit the others."""
    best = min(sides, key=lambda side: side.count(row))
    inside = best.people(row)
    for side in sides:
        if side is not best and len(inside):
            inside = inside[side.covers(row, inside)]
    return inside


# --- one column --------------------------------------------------------------------------------------------------


class _Column(ABC):
    """One column: which of its distinct cells cover which distinct values of a list. The value after the last is the missing one."""

    def __init__(self, column: CodedColumn, people: Frame, released: pa.ChunkedArray) -> None:
        self.column = column
        own = encode_dictionary(self._values(people))
        self.known = len(own.dictionary)
        self.value: LongArray = np.asarray(own.indices.fill_null(self.known)).astype(np.int64)
        cells = encode_dictionary(released)
        self.texts = cells.dictionary.to_pylist()
        self.cell: LongArray = np.asarray(cells.indices.fill_null(len(self.texts))).astype(np.int64)
        self._read(own.dictionary)

    @abstractmethod
    def _values(self, people: Frame) -> pa.ChunkedArray:
        """Return the column of the list, as its cells are compared with."""

    @abstractmethod
    def _read(self, values: pa.Array) -> None:
        """Read values and cells."""

    @abstractmethod
    def places(self, cell: int) -> tuple[int, int] | LongArray:
        """Return the places of the values that a cell covers, as a range of places or one by one, in rising order."""

    def over(self, people: LongArray) -> _Side:
        """Return the column of these people only."""
        return _Side(self, self.value[people])


class _Side:
    """One column of distinct people, sorted by their values."""

    def __init__(self, column: _Column, value: LongArray) -> None:
        self.column, self.value = column, value
        self.order: LongArray = np.argsort(value, kind="stable").astype(np.int64)
        self.sorted = value[self.order]

    def _slices(self, row: int) -> tuple[LongArray, LongArray]:
        places = self.column.places(int(self.column.cell[row]))
        if isinstance(places, tuple):
            ends = np.searchsorted(self.sorted, np.array(places, np.int64))
            return ends[:1], ends[1:]
        return np.searchsorted(self.sorted, places), np.searchsorted(self.sorted, places, side="right")

    def count(self, row: int) -> int:
        """Return how many people the cell of a row covers."""
        begin, end = self._slices(row)
        return int((end - begin).sum())

    def people(self, row: int) -> LongArray:
        """Return the people whom the cell of a row covers."""
        pairs = zip(*(part.tolist() for part in self._slices(row)), strict=True)
        return np.concatenate([self.order[:0], *(self.order[begin:end] for begin, end in pairs)])

    def covers(self, row: int, people: LongArray) -> BoolArray:
        """Return which of some people the cell of a row covers."""
        places, value = self.column.places(int(self.column.cell[row])), self.value[people]
        if isinstance(places, tuple):
            return np.asarray((places[0] <= value) & (value < places[1]), np.bool_)
        return np.isin(value, places)


class _Ranges(_Column):
    """Numbers, dates, and words in an order: values by rank, then the missing one, then words that the order does not know."""

    def _values(self, people: Frame) -> pa.ChunkedArray:
        if not self.column.measured:
            return people.cells(self.column.name)
        values, kind = people.typed(self.column.name), self.column.original_type
        both_dated = pa.types.is_temporal(kind) and pa.types.is_temporal(values.type)
        return values.cast(kind, safe=False) if both_dated else values

    def _read(self, values: pa.Array) -> None:
        own = own_numbers(self.column, values).tolist()
        known = sorted({one for one in own if self.column.measured or one >= 0})
        place = {one: number for number, one in enumerate(known)}
        self.numbers: list[Any] = known
        ranks = np.array([place.get(one, len(known) + 1) for one in own] + [len(known)], np.int64)
        self.value = ranks[self.value]
        self.ends = [self._places(text) for text in self.texts] + [(len(known), len(known) + 1)]

    def _places(self, text: str) -> tuple[int, int]:
        if parse_cell(text).form == "any":
            return 0, len(self.numbers) + 2
        ends = cell_ends(self.column, text)
        if ends is None:
            return 0, 0
        return bisect_left(self.numbers, ends[0]), bisect_right(self.numbers, ends[1])

    def places(self, cell: int) -> tuple[int, int]:
        """Return the places from the first to behind the last."""
        return self.ends[cell]


class _Lists(_Column):
    """Nodes of a hierarchy, and sets: each cell lists its values."""

    def _values(self, people: Frame) -> pa.ChunkedArray:
        return people.cells(self.column.name)

    def _read(self, values: pa.Array) -> None:
        own = value_texts(values).to_pylist()
        if self.column.hierarchy is None:
            self.lists = self._members(own)
        else:
            below: dict[str, list[int]] = {}
            for place, text in enumerate(own):
                for label in self._path(text):
                    below.setdefault(label, []).append(place)
            self.lists = [np.array(below.get(_label(text), []), np.int64) for text in self.texts]
        everybody: LongArray = np.arange(self.known + 1)
        self.lists = [everybody if text == "*" else one for text, one in zip(self.texts, self.lists, strict=True)]
        self.lists.append(everybody[self.known :])

    def _path(self, text: str) -> tuple[str, ...]:
        try:
            return self.column.tree.path(text)
        except HierarchyError:
            return ()

    def _members(self, own: list[str]) -> list[LongArray]:
        """Return the values that sets of values and single ones hold; numbers match by number."""
        members = [parse_cell(text).values for text in self.texts]
        named = sorted({one for values in members for one in values})
        holders: dict[str, list[int]] = {one: [] for one in named}
        for place, found in enumerate(match_texts(named, own)):
            if found >= 0:
                holders[named[found]].append(place)
        return [
            np.array(sorted(place for one in set(values) for place in holders[one]), np.int64) for values in members
        ]

    def places(self, cell: int) -> LongArray:
        """Return the places as single integers."""
        return self.lists[cell]


def _label(text: str) -> str:
    """Return the label of the node that a cell names; labels such as [30-39] and {a, b} are released as they are."""
    cell: Cell = parse_cell(text)
    return text if cell.form in {"range", "set"} else "".join(cell.values)
