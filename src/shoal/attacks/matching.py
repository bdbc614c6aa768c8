"""Which released records cover what is known of a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import AnyArray, BoolArray, LongArray
from shoal.audit import column_codes, count_tuples
from shoal.cells.parse import Cell, parse_column, read_number
from shoal.cells.recode import range_text
from shoal.encoding import exact_numbers, is_ordered, value_texts
from shoal.hierarchy import Hierarchy
from shoal.kernels.space.tuples import Tuples, distinct_tuples

_CHUNK = 256
"""Groups compared with all known people at once."""


def exact_matches(records: pa.Table, known: pa.Table, on: Sequence[str]) -> LongArray:
    """Return for each record the row of ``known`` that it must be, or -1.

    A match counts if the values in the columns ``on`` occur exactly once in each of the two tables.
    """
    together = pa.concat_tables([records.select(list(on)), known.select(list(on))])
    tuples = distinct_tuples(column_codes(together, on))
    n = records.num_rows
    here = np.bincount(tuples.label[:n], minlength=len(tuples.size))
    there = np.bincount(tuples.label[n:], minlength=len(tuples.size))
    row_of = np.zeros(len(tuples.size), np.int64)
    row_of[tuples.label[n:]] = np.arange(known.num_rows)
    single = (here == 1) & (there == 1)
    return np.where(single[tuples.label[:n]], row_of[tuples.label[:n]], -1)


@dataclass(frozen=True)
class Candidates:
    """Which released records each known person could be."""

    count: LongArray
    """For each known person how many released records cover what is known."""

    @property
    def named(self) -> LongArray:
        """The known people with exactly one candidate."""
        return np.flatnonzero(self.count == 1)

    @property
    def certain(self) -> int:
        """How many known people have exactly one candidate."""
        return len(self.named)

    @property
    def fewest(self) -> int:
        """The fewest candidates of anyone who has some; 0 if nobody has."""
        found = self.count[self.count > 0]
        return int(found.min()) if len(found) else 0

    def right_guesses(self, present: LongArray | None = None) -> float:
        """Return how many of the known people ``present`` in the release, all by default, a blind pick among their candidates finds."""
        count = self.count if present is None else self.count[present]
        return float((1.0 / count[count > 0]).sum())


def find_candidates(
    released: pa.Table, known: pa.Table, on: Sequence[str], hierarchies: Mapping[str, Hierarchy] | None = None
) -> Candidates:
    """Count for each known person the released records whose cells cover all that is known of them.

    The released cells are read as anyone could read them; ``hierarchies`` contain the values below each label.
    """
    groups = count_tuples(released, on)
    count = np.zeros(known.num_rows, np.int64)
    for part, covered in covering_groups(released, groups, known, on, hierarchies):
        count += groups.size[part] @ covered
    return Candidates(count)


def covering_groups(
    released: pa.Table,
    groups: Tuples,
    known: pa.Table,
    on: Sequence[str],
    hierarchies: Mapping[str, Hierarchy] | None = None,
) -> Iterator[tuple[slice, BoolArray]]:
    """Yield, for some groups at a time, whether their cells (rows) cover what is known of each person (columns)."""
    trees = dict(hierarchies or {})
    for start in range(0, len(groups.size), _CHUNK):
        part = slice(start, start + _CHUNK)
        rows = released.take(pa.array(groups.first[part]))
        covered = np.ones((rows.num_rows, known.num_rows), np.bool_)
        for name in on:
            form, cells = parse_column(rows.column(name))
            covered &= _covering(cells, known.column(name), trees.get(name))[form]
        yield part, covered


def _covering(cells: Sequence[Cell], values: pa.ChunkedArray, tree: Hierarchy | None) -> BoolArray:
    """Return for each cell (rows) and each value (columns) whether the one covers the other."""
    if not len(values):
        return np.zeros((len(cells), 0), np.bool_)
    encoded = pc.unique(values)
    texts = np.array(value_texts(encoded).to_pylist(), dtype=object)
    found = np.stack([_covers(cell, encoded, texts, tree) for cell in cells])
    return found[:, np.asarray(pc.index_in(values, encoded))]


def _covers(cell: Cell, values: pa.Array, texts: AnyArray, tree: Hierarchy | None) -> BoolArray:
    if cell.form == "any":
        return np.ones(len(texts), np.bool_)
    if cell.form == "missing":
        return np.array([text is None for text in texts])
    if cell.form == "range" and tree is not None and range_text(*cell.values) in tree.labels:
        cell = Cell("value", (range_text(*cell.values),))  # a node that is named like a range
    if cell.form == "range" and is_ordered(values.type):
        low, high = (read_number(end, values.type) for end in cell.values)
        present = np.asarray(values.is_valid())
        inside = np.zeros(len(values), np.bool_)
        numbers = exact_numbers(values.drop_null())
        inside[present] = (low <= numbers) & (numbers <= high)
        return inside
    members = set(cell.values)
    if cell.form == "value" and tree is not None and cell.values[0] in tree.labels:
        members = set(tree.leaves_below(cell.values[0]))
    return np.array([text in members for text in texts])
