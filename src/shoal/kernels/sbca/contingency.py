"""Contingency tables of category columns that lose records one at a time (Sarrafi Aghdam & Sonehara 2016, section 5.1).

Each table is counted once; taking a record out touches one cell of each, so no count is ever taken twice.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import IntArray, LongArray
from shoal.compiling.decorator import kernel
from shoal.kernels.space.kinds import ordered_columns
from shoal.kernels.space.space import Space
from shoal.kernels.space.tuples import distinct_tuples


class Contingency(NamedTuple):
    """Counts of the records not yet grouped, for every category column under every prefix of the columns before it.

    The category columns are taken by rising cardinality. Prefix q tells records apart by the first q of them; its
    *rows* are the combinations that occur. Table (p, q), q ≤ p, counts the values of column p in each row of prefix
    q. Rows that begin with fewer than k records can never be used and have no cells.
    """

    column: IntArray
    """The category columns by rising cardinality."""
    row: IntArray
    """The row of each record under each prefix, (prefixes, n)."""
    row_start: LongArray
    """Where a prefix's rows begin in ``row_count``."""
    row_count: LongArray
    """Records left in each row."""
    table_start: LongArray
    """Where a table's rows begin in ``cell_start``; table (p, q) has number p(p + 1)/2 + q."""
    cell_start: LongArray
    """Where a row's cells begin; the next entry ends them."""
    cell_code: IntArray
    """The value a cell counts, rising within a row."""
    cell_count: LongArray
    """Records left in each cell."""


def count_values(codes: IntArray, cardinality: IntArray) -> list[LongArray]:
    """Return for each column how often each of its codes occurs."""
    return [np.bincount(row, minlength=int(size)) for row, size in zip(codes, cardinality, strict=True)]


def build_contingency(space: Space, codes: IntArray, k: int) -> Contingency:
    """Count the values of each category column under each prefix of the columns of lower cardinality."""
    present = np.array([np.count_nonzero(count) for count in count_values(codes, space.cardinality)], np.int64)
    categories = np.flatnonzero(~ordered_columns(space))
    ordered = categories[np.argsort(present[categories], kind="stable")].astype(np.int32)
    prefixes = [distinct_tuples(codes[ordered[:q]]) for q in range(len(ordered))]
    starts, cells, counts = [], [], []
    cells_before = 0
    for p, column in enumerate(ordered):
        for prefix in prefixes[: p + 1]:
            start, cell, count = _table(prefix.label, prefix.size, codes[column], k)
            starts.append(start + cells_before)
            cells.append(cell)
            counts.append(count)
            cells_before += len(cell)
    return Contingency(
        column=ordered,
        row=np.array([prefix.label for prefix in prefixes], np.int32).reshape(len(ordered), codes.shape[1]),
        row_start=_offsets([len(prefix.size) for prefix in prefixes]),
        row_count=np.concatenate([np.zeros(0, np.int64), *(prefix.size for prefix in prefixes)]),
        table_start=_offsets([len(start) for start in starts]),
        cell_start=np.concatenate([np.zeros(0, np.int64), *starts]),
        cell_code=np.concatenate([np.zeros(0, np.int32), *cells]),
        cell_count=np.concatenate([np.zeros(0, np.int64), *counts]),
    )


def _offsets(lengths: list[int]) -> LongArray:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _table(row: IntArray, row_count: LongArray, codes: IntArray, k: int) -> tuple[LongArray, IntArray, LongArray]:
    """Return where each row's cells begin, and value and count of each cell."""
    usable = row_count[row] >= k
    span = int(codes.max(initial=0)) + 1
    key, count = np.unique(row[usable].astype(np.int64) * span + codes[usable], return_counts=True)
    start = np.searchsorted(key, np.arange(len(row_count) + 1) * span)
    return start.astype(np.int64), (key % span).astype(np.int32), count.astype(np.int64)


@kernel()
def count_row(table: Contingency, position: int, record: int, k: int, counts: LongArray) -> None:
    """Fill ``counts`` with how often each value of the column at ``position`` occurs in the record's row.

    The row is that of the longest prefix under which it still holds k records.
    """
    q = position
    while q > 0 and table.row_count[table.row_start[q] + table.row[q, record]] < k:
        q -= 1
    row = table.table_start[position * (position + 1) // 2 + q] + table.row[q, record]
    counts[:] = 0
    for cell in range(table.cell_start[row], table.cell_start[row + 1]):
        counts[table.cell_code[cell]] = table.cell_count[cell]


@kernel()
def forget(table: Contingency, codes: IntArray, record: int) -> None:
    """Take a grouped record out of all tables."""
    for q in range(table.column.shape[0]):
        row = table.row[q, record]
        table.row_count[table.row_start[q] + row] -= 1
        for p in range(q, table.column.shape[0]):
            begin = table.table_start[p * (p + 1) // 2 + q] + row
            low, high = table.cell_start[begin], table.cell_start[begin + 1]
            code = codes[record, table.column[p]]
            cell = low + np.searchsorted(table.cell_code[low:high], code)
            if low < high:
                table.cell_count[cell] -= 1
