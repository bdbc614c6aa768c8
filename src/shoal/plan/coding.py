"""Columns learned from batches: first what values there are and how often, then the codes of any batch.

::

    part    = learn_batch(batch, names)              for each batch, anywhere
    learned = merge_learned(parts)                   in any order, also of what was merged before
    coding  = make_coding(learned, quasi_identifiers, attributes, kinds, hierarchies, weights)
    table   = coding.code(batch)                     for each batch, anywhere; coding can be pickled

The codes are those that the whole table would get in memory: they depend on which values there are, not on where they are. A table so coded
is a part: its attributes carry the totals of the whole. Of a text file the texts are learned, and read when all of them are known.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import FloatArray, IntArray, LongArray
from shoal.encoding import (
    CodedAttribute,
    CodedColumn,
    CodedTable,
    HierarchyChoice,
    KindChoice,
    Weight,
    check_weights,
    encode,
    encode_attribute,
)
from shoal.errors import DataError, HierarchyError
from shoal.frames import Frame
from shoal.frames.canonical import encode_dictionary, is_period
from shoal.kernels.space.space import Space
from shoal.notation import Notation


@dataclass(frozen=True)
class LearnedColumn:
    """The distinct values of a column and how often each occurs."""

    values: pa.Array
    """In canonical form, none missing, in any order."""
    counts: LongArray
    missing: int
    """Records without a value."""
    category: bool
    """The column came with a dictionary: its texts are categories, not numbers or dates written out."""


@dataclass(frozen=True)
class Learned:
    """What batches have taught about the columns of a table."""

    records: int
    columns: dict[str, LearnedColumn]


def learn_batch(batch: pa.RecordBatch | pa.Table, names: Sequence[str]) -> Learned:
    """Return the distinct values of the columns ``names`` in a batch."""
    return Learned(batch.num_rows, {name: _learn(batch.column(name)) for name in names})


def _learn(column: pa.Array | pa.ChunkedArray) -> LearnedColumn:
    encoded = encode_dictionary(column)
    present = np.asarray(encoded.indices.drop_null())
    counts = np.bincount(present, minlength=len(encoded.dictionary))
    return LearnedColumn(encoded.dictionary, counts, encoded.indices.null_count, pa.types.is_dictionary(column.type))


def merge_learned(parts: Sequence[Learned]) -> Learned:
    """Return what several batches have taught together."""
    if len(parts) == 1:
        return parts[0]
    names = parts[0].columns
    columns = {name: _merge(name, [part.columns[name] for part in parts]) for name in names}
    return Learned(sum(part.records for part in parts), columns)


def _merge(name: str, parts: Sequence[LearnedColumn]) -> LearnedColumn:
    kinds = {part.values.type for part in parts}
    if len(kinds) > 1:
        raise DataError(
            f"The column {name!r} has another type in other parts of the table: {', '.join(sorted(map(str, kinds)))}.",
            hint="write all parts with the same types.",
        )
    encoded = encode_dictionary(pa.chunked_array([part.values for part in parts]))
    counts = np.bincount(
        np.asarray(encoded.indices), np.concatenate([part.counts for part in parts]), len(encoded.dictionary)
    ).astype(np.int64)
    missing, category = sum(part.missing for part in parts), any(part.category for part in parts)
    return LearnedColumn(encoded.dictionary, counts, missing, category)


@dataclass(frozen=True)
class Codebook:
    """The code of each distinct value of one column."""

    values: pa.Array
    code: IntArray
    """The code of each value; the last one is that of a missing value."""

    @cached_property
    def _sorted(self) -> tuple[LongArray, LongArray] | None:
        """Integers in rising order, and where each is; None for other types."""
        if not pa.types.is_integer(self.values.type) or pa.types.is_uint64(self.values.type):
            return None
        numbers = np.asarray(self.values).astype(np.int64)
        order = np.argsort(numbers, kind="stable")
        return numbers[order], order

    def look_up(self, name: str, column: pa.Array | pa.ChunkedArray) -> IntArray:
        """Return the code of each cell of a column."""
        encoded = encode_dictionary(column)
        place = self.places(encoded.dictionary)
        if (place < 0).any():
            raise DataError(
                f"The column {name!r} holds values that were not there when the table was first read.",
                hint="the table changed while it was read; read it again when nobody writes to it.",
            )
        codes = self.code[np.append(place, len(self.values))]
        indices = encoded.indices.fill_null(len(place)) if encoded.indices.null_count else encoded.indices
        return np.asarray(codes[np.asarray(indices)], np.int32)

    def places(self, values: pa.Array) -> LongArray:
        """Return where values are among those that are known, -1 for one that is not."""
        if self._sorted is not None and pa.types.is_integer(values.type):
            known, order = self._sorted
            wanted = np.asarray(values).astype(np.int64)
            place = np.minimum(np.searchsorted(known, wanted), max(len(known) - 1, 0))
            found = known[place] == wanted if len(known) else np.zeros(len(wanted), np.bool_)
            return np.where(found, order[place] if len(known) else -1, -1)
        known_values = self.values
        if is_period(values.type):
            values, known_values = values.storage, known_values.storage
        return np.asarray(pc.index_in(values, value_set=known_values).fill_null(-1)).astype(np.int64)


@dataclass(frozen=True)
class Coding:
    """How a table is coded, once all its values are known. It holds values, but no rows; it can be pickled."""

    records: int
    """Those of the whole table."""
    columns: tuple[CodedColumn, ...]
    weights: FloatArray
    attributes: dict[str, CodedAttribute]
    """Sensitive and class columns with their totals; their codes are left empty."""
    books: dict[str, Codebook] = field(repr=False)
    typed: dict[str, pa.Array] = field(default_factory=dict, repr=False)
    """Columns of ranges: each distinct value in the type it has, in the order of the codebook."""
    understood: dict[str, str] = field(default_factory=dict)
    """How the text in columns is read, in words, if its type does not say it."""

    @cached_property
    def space(self) -> Space:
        """What a range of codes costs in each column."""
        return self.empty.space

    @cached_property
    def empty(self) -> CodedTable:
        """The table without its records."""
        return CodedTable(np.zeros((len(self.columns), 0), np.int32), self.columns, self.weights, self.attributes)

    def code(self, batch: pa.RecordBatch | pa.Table) -> CodedTable:
        """Return a batch as codes: a part of the table."""
        codes = np.empty((len(self.columns), batch.num_rows), np.int32)
        for row, column in enumerate(self.columns):
            codes[row] = self.books[column.name].look_up(column.name, batch.column(column.name))
        return self.part(codes, {name: self.books[name].look_up(name, batch.column(name)) for name in self.attributes})

    def typed_cells(self, name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
        """Return a column of ranges with the type its values have: what texts mean is decided by all texts of the table."""
        encoded = encode_dictionary(column)
        place = pa.array(np.asarray(self.books[name].places(encoded.dictionary)))
        return pa.chunked_array([self.typed[name].take(place).take(encoded.indices)])

    def part(self, codes: IntArray, attributes: Mapping[str, IntArray]) -> CodedTable:
        """Return codes as a part of the table."""
        side = {name: replace(one, codes=attributes[name]) for name, one in self.attributes.items()}
        made = CodedTable(codes, self.columns, self.weights, side)
        made.__dict__["space"] = self.space
        return made


def make_coding(
    learned: Learned,
    quasi_identifiers: Sequence[str],
    attributes: Sequence[str] = (),
    *,
    kinds: Mapping[str, KindChoice] | None = None,
    hierarchies: Mapping[str, HierarchyChoice] | None = None,
    weights: Mapping[str, Weight] | None = None,
    untyped: bool = False,
    notation: Notation | None = None,
) -> Coding:
    """Return how a table is coded whose values are known, with the parameters of ``encoding.encode``.

    ``untyped`` says that all columns are text because they come from a text file. A column is read by its own texts: one that only
    the columns next to it would explain counts as ambiguous.
    """
    columns: list[CodedColumn] = []
    books: dict[str, Codebook] = {}
    side: dict[str, CodedAttribute] = {}
    understood: dict[str, str] = {}
    typed: dict[str, pa.Array] = {}
    for name in quasi_identifiers:
        frame = _distinct_rows(name, learned.columns[name], untyped=untyped, notation=notation)
        with _distinct_counted(name):
            table = encode(
                frame,
                [name],
                kinds=_only(kinds, name),
                hierarchies=_only(hierarchies, name),
                weights=_only(weights, name),
            )
        columns.append(table.columns[0])
        books[name] = _codebook(learned.columns[name], table.codes[0])
        if table.columns[0].measured:
            typed[name] = _one_piece(frame.typed(name))
        understood |= frame.understood([name])
    for name in attributes:
        frame = _distinct_rows(name, learned.columns[name], untyped=untyped, notation=notation)
        with _distinct_counted(name):
            coded = encode_attribute(frame, name, (hierarchies or {}).get(name), (kinds or {}).get(name))
        books[name] = _codebook(learned.columns[name], coded.codes)
        side[name] = _with_totals(coded, learned.columns[name])
        understood |= frame.understood([name])
    checked = check_weights(weights, quasi_identifiers)
    return Coding(learned.records, tuple(columns), checked, side, books, typed, understood)


def _one_piece(column: pa.ChunkedArray) -> pa.Array:
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def _only(given: Mapping[str, Any] | None, name: str) -> dict[str, Any]:
    return {name: given[name]} if given and name in given else {}


def _distinct_rows(name: str, column: LearnedColumn, *, untyped: bool, notation: Notation | None) -> Frame:
    """Return a table of one column that holds each distinct value once, and a missing one if there is any."""
    values = column.values
    if column.category and not untyped:
        values = pa.DictionaryArray.from_arrays(pa.array(np.arange(len(values), dtype=np.int32)), values)
    rows = pa.chunked_array([values, pa.nulls(1, values.type)] if column.missing else [values])
    return Frame(pa.table({name: rows}), untyped=untyped, notation=notation or Notation())


@contextlib.contextmanager
def _distinct_counted(name: str) -> Iterator[None]:
    """Let an error about values that a hierarchy lacks give their number; their rows are not known here."""
    try:
        yield
    except HierarchyError as fault:
        if not fault.values:
            raise
        raise HierarchyError(
            f"The hierarchy or order for column {name!r} does not cover the data: it lacks some of its values.",
            hint="add the missing values to it, or correct them in the table.",
            values=fault.values,
        ) from None


def _codebook(column: LearnedColumn, codes: IntArray) -> Codebook:
    """Return the code of each value; the row behind them, if there is one, holds a missing value."""
    return Codebook(column.values, codes if column.missing else np.append(codes, np.int32(-1)))


def _with_totals(attribute: CodedAttribute, column: LearnedColumn) -> CodedAttribute:
    rows = np.append(column.counts, column.missing)[: len(attribute.codes)]
    total = np.bincount(attribute.codes, rows, attribute.cardinality).astype(np.int64)
    return replace(attribute, codes=np.zeros(0, np.int32), total=total)
