"""Reading more out of a cell than it says, because a method that loses least makes no cell wider than it must.

A range that follows the data tightly has a record at each end, and a node of a hierarchy was only taken because no
child of it holds the whole group (Cohen 2022, "downcoding"; Wong et al. 2007, "minimality").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.arrays import FloatArray, IntArray, LongArray
from shoal.attacks.base import Finding, as_frame, rate, typed_table
from shoal.audit import count_tuples
from shoal.cells.parse import Cell, parse_column, read_number
from shoal.cells.recode import range_text
from shoal.encoding import is_ordered, value_texts
from shoal.errors import DataError
from shoal.frames import encode_dictionary
from shoal.hierarchy import Hierarchy
from shoal.kernels.space.tuples import Tuples
from shoal.validation import check_columns

_NEAR = 0.01
"""The share of a range's width within which an end reveals a member's value."""


@dataclass(frozen=True)
class _Column:
    """A column before and after: the value of each record, and the cell it was released as."""

    values: pa.Array
    value: LongArray
    """For each record its place among ``values``, -1 if missing."""
    cells: list[Cell]
    cell: IntArray
    """For each record its place among ``cells``."""
    tree: Hierarchy | None

    def node(self, cell: Cell) -> str | None:
        """Return the label of the node a cell is, if it is one."""
        label = range_text(*cell.values) if cell.form == "range" else "".join(cell.values[:1])
        if self.tree is None or cell.form not in {"range", "value"} or label not in self.tree.labels:
            return None
        return label


@dataclass(frozen=True)
class _Guesses:
    """Guesses in one column: how many, how many right, and how many right by guessing within the cell at random."""

    tried: int
    hits: float
    chance: float
    ends: int = 0
    """Ends of the groups' ranges."""
    exact: int = 0
    """Ends that are the value of somebody in the group."""
    near: int = 0
    """Ends that reveal such a value to within a hundredth of the range's width."""


def downcoding(
    original: Any, release: Any, on: Sequence[str], *, hierarchies: Mapping[str, Hierarchy] | None = None
) -> Finding:
    """Guess exact values from released ranges by assuming that a record is at an end of its range.

    The rows of ``release`` must be in the order of ``original`` (as in ``result.released``, if none was withheld),
    because the steward checks the guesses. The control guesses any value of the table within the range. The figures also
    give, for each column, which share of the cells that are not single value is as narrow as the group allows ("tight": an
    intruder who assumes so is right), and for nodes of a hierarchy in how many groups one record is apart: all others
    lie below one child, so that an intruder who knows these others knows that the last one does not. Releases made with
    ``widen`` have fewer tight cells; ranges that are nodes of a fixed hierarchy have ends that no record need have.

    Examples
    --------
    >>> import shoal
    >>> patients = shoal.datasets.hospital(n=300, seed=1).patients.select(["birth_date", "sex", "diagnosis"])
    >>> known = ["birth_date", "sex"]
    >>> result = shoal.anonymize(patients, k=5, quasi_identifiers=known, sensitive=["diagnosis"], method="mondrian", ends="exact")
    >>> found = shoal.attacks.downcoding(patients, result, known)
    >>> found.success.share > found.control.share
    True
    """
    own, published = as_frame(original), as_frame(release)
    names = check_columns("known to the intruder", [name for name in on if name in own.names], published.names)
    if own.records != published.records:
        raise DataError(
            "Downcoding is checked row by row, and the release has another number of rows than the original.",
            hint="give the release in the order of the input, with no record withheld.",
        )
    groups = count_tuples(published.table, names)
    known = typed_table(own, names)
    guesses: list[_Guesses] = []
    tight = np.zeros(2, np.int64)
    figures: dict[str, float] = {}
    for name in names:
        column = _pair(known.column(name), published.table.column(name), (hierarchies or {}).get(name))
        ends = _guess_ends(column, groups)
        guesses.append(ends)
        if ends.tried:
            figures |= {f"{name}: right": ends.hits / ends.tried, f"{name}: by chance": ends.chance / ends.tried}
            figures |= {
                f"{name}: ends at a member": ends.exact / ends.ends,
                f"{name}: ends near one": ends.near / ends.ends,
            }
        narrow = _count_tight(column, groups)
        tight += narrow
        if narrow[1]:
            figures[f"{name}: tight"] = float(narrow[0] / narrow[1])
        if column.tree is not None:
            figures[f"{name}: one stands apart"] = _stands_apart(column, groups)
    tried = sum(one.tried for one in guesses)
    hits, chance = sum(one.hits for one in guesses), sum(one.chance for one in guesses)
    return Finding(
        attack="downcoding",
        question="Which exact value hides behind this range?",
        success=rate(hits, tried),
        control=rate(chance, tried),
        verdict=_verdict(tried, hits, chance) + _narrowness(int(tight[0]), int(tight[1])),
        figures=figures | ({"tight": float(tight[0] / tight[1])} if tight[1] else {}),
    )


def _verdict(tried: int, hits: float, chance: float) -> str:
    if not tried:
        return "No range was released whose ends could be guessed."
    return (
        f"Guessing that the value is an end of its range is right for {100 * hits / tried:.1f} % of {tried:,} cells; "
        f"guessing any value in the range, for {100 * chance / tried:.1f} %."
    )


def _narrowness(tight: int, wide: int) -> str:
    if not wide:
        return ""
    return f" {100 * tight / wide:.1f} % of the {wide:,} cells that groups share are as narrow as their records allow."


def _pair(values: pa.ChunkedArray, cells: pa.ChunkedArray, tree: Hierarchy | None) -> _Column:
    encoded = encode_dictionary(values)
    form, forms = parse_column(cells)
    return _Column(encoded.dictionary, np.asarray(encoded.indices.fill_null(-1)).astype(np.int64), forms, form, tree)


def _guess_ends(column: _Column, groups: Tuples) -> _Guesses:
    """Guess that records are exactly at an end of their range, as in a range that follows its group."""
    places = [number for number, cell in enumerate(column.cells) if cell.form == "range" and column.node(cell) is None]
    if not places or not is_ordered(column.values.type):
        return _Guesses(0, 0.0, 0.0)
    numbers = _numbers(column.values)
    known = np.sort(numbers)
    begin, end = _released_ends(column, places)
    of_cell = np.full(len(column.cells), -1)
    of_cell[places] = np.arange(len(places))
    rows = np.flatnonzero((of_cell[column.cell] >= 0) & (column.value >= 0))
    own, which = numbers[column.value[rows]], of_cell[column.cell[rows]]
    inside = np.searchsorted(known, end, side="right") - np.searchsorted(known, begin)
    wide = inside[which] > 1
    own, which, rows = own[wide], which[wide], rows[wide]
    at_end = (own == begin[which]).sum() + (own == end[which]).sum()
    chance = float((1.0 / inside[which]).sum())
    return _Guesses(
        len(own), float(at_end) / 2, chance, *_count_ends(groups.label[rows], own, begin[which], end[which])
    )


def _released_ends(column: _Column, places: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    """Return both ends of ranges as numbers; round ones may lie beyond the type's own values."""
    kind = column.values.type
    ends = [[float(read_number(text, kind)) for text in column.cells[number].values] for number in places]
    first, last = np.array(ends, np.float64).T
    return first, last


def _count_ends(label: IntArray, own: FloatArray, begin: FloatArray, end: FloatArray) -> tuple[int, int, int]:
    """Return how many ends the groups' ranges have, how many are a member's value, and how many nearly reveal one."""
    found, place = np.unique(label, return_inverse=True)
    least, most = np.full(len(found), np.inf), np.full(len(found), -np.inf)
    np.minimum.at(least, place, own)
    np.maximum.at(most, place, own)
    first, last = np.empty(len(found)), np.empty(len(found))
    first[place], last[place] = begin, end
    off, reach = np.concatenate([least - first, last - most]), np.tile(_NEAR * (last - first), 2)
    return 2 * len(found), int((off == 0).sum()), int((off <= reach).sum())


def _numbers(values: pa.Array) -> Any:
    """Return ordered values as numbers."""
    if pa.types.is_date32(values.type) or pa.types.is_time32(values.type):
        return np.asarray(values.cast(pa.int32()))
    if pa.types.is_temporal(values.type):
        return np.asarray(values.cast(pa.int64()))
    return np.asarray(values.cast(pa.float64(), safe=False))


def _parts(column: _Column) -> tuple[LongArray, IntArray]:
    """Return the part of its cell each record lies in, and for each cell how many parts must be taken if it is tight.

    Parts of a node are its children, of a set its values, of ``*`` all values, of a range its two ends; -1 for a
    record in none, 0 parts for a cell of one value.
    """
    texts = value_texts(column.values).to_pylist()
    own = np.full(len(column.cell), -1, np.int64)
    needed = np.zeros(len(column.cells), np.int32)
    order = np.argsort(column.cell, kind="stable")
    ends = np.searchsorted(column.cell[order], np.arange(len(column.cells) + 1))
    for number, cell in enumerate(column.cells):
        rows = order[ends[number] : ends[number + 1]]
        rows = rows[column.value[rows] >= 0]
        part_of, needed[number] = _parts_of_cell(column, cell)
        values = column.value[rows].tolist()
        own[rows] = values if part_of is None else [part_of.get(texts[value], -1) for value in values]
    return own, needed


def _parts_of_cell(column: _Column, cell: Cell) -> tuple[dict[str, int] | None, int]:
    """Return the part that each text lies in (None: each value is a part), and how many parts a tight cell needs."""
    label = column.node(cell)
    if label is not None and column.tree is not None:
        children = column.tree.children(label)
        part_of = {leaf: place for place, one in enumerate(children) for leaf in column.tree.leaves_below(one)}
        return part_of, 2 if len(children) > 1 else 0
    if cell.form in {"range", "set"}:
        return {text: number for number, text in enumerate(cell.values)}, len(cell.values)
    return None, 2 if cell.form == "any" else 0


def _count_tight(column: _Column, groups: Tuples) -> LongArray:
    """Return how many of the groups' cells are as narrow as they can be, and how many there are without the exact ones."""
    own, needed = _parts(column)
    wanted = needed[column.cell[groups.first]]
    rows = np.flatnonzero(own >= 0)
    span = int(own.max(initial=0)) + 1
    taken = np.bincount(
        np.unique(groups.label[rows].astype(np.int64) * span + own[rows]) // span, minlength=len(wanted)
    )
    missing = np.bincount(groups.label[column.value < 0], minlength=len(wanted)) > 0
    wide = (wanted > 0) & ~missing
    return np.array([(wide & (taken >= wanted)).sum(), wide.sum()])


def _stands_apart(column: _Column, groups: Tuples) -> float:
    """Return the share of the groups released as a node of which all records but one lie below the same child."""
    is_node = np.array([column.node(cell) is not None for cell in column.cells], np.bool_)
    own = np.where(is_node[column.cell], _parts(column)[0], -1)
    rows = np.flatnonzero(own >= 0)
    if not len(rows):
        return 0.0
    span = int(own.max()) + 1
    pair, count = np.unique(groups.label[rows].astype(np.int64) * span + own[rows], return_counts=True)
    most = np.zeros(len(groups.size), np.int64)
    np.maximum.at(most, pair // span, count)
    generalized = np.unique(groups.label[rows])
    return float((most[generalized] == groups.size[generalized] - 1).mean())
