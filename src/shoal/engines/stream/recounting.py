"""The count of a whole release that does not fit into memory: its rows are read again, value by value.

Nothing here knows how shoal codes quasi-identifiers. Each distinct cell of a column gets a number, the numbers of a row are packed into a few words, and
Arrow groups the words; counts of batches are added up. Sensitive values are numbered as the models number them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from shoal.arrays import IntArray, LongArray
from shoal.errors import DataError
from shoal.recount.rows import refuse_small_group

_BITS = 21
_COLUMNS_OF_WORD = 3
_MERGED = 1 << 21
"""Rows of counts that wait before they are added up, at least."""


class Recount:
    """Counts combinations of cells, and sensitive values within them, batch by batch."""

    def __init__(self, quasi_identifiers: Sequence[str], sensitive: Sequence[str] = ()) -> None:
        self.names, self.sensitive = list(quasi_identifiers), list(sensitive)
        self.numbers: dict[str, dict[str | None, int]] = {name: {} for name in self.names}
        self.waiting: list[pa.Table] = []
        self.rows = 0

    def add(self, batch: pa.Table | pa.RecordBatch, codes: dict[str, IntArray] | None = None) -> None:
        """Count the rows of a batch; ``codes`` are those of the sensitive columns."""
        columns = {f"w{place}": word for place, word in enumerate(self._words(batch))}
        columns |= {f"s{place}": np.asarray((codes or {})[name], np.int64) for place, name in enumerate(self.sensitive)}
        counted = pa.table({name: pa.array(values) for name, values in columns.items()})
        self.waiting.append(_grouped(counted.append_column("rows", pa.array(np.ones(batch.num_rows, np.int64)))))
        self.rows += batch.num_rows
        # as many again as the first ones, which were added up, must have come: or very many groups would be added up again for every batch
        if sum(one.num_rows for one in self.waiting) > max(_MERGED, 2 * self.waiting[0].num_rows):
            self.waiting = [_grouped(pa.concat_tables(self.waiting))]

    def _words(self, batch: pa.Table | pa.RecordBatch) -> Iterable[LongArray]:
        for begin in range(0, len(self.names), _COLUMNS_OF_WORD):
            word = np.zeros(batch.num_rows, np.int64)
            for name in self.names[begin : begin + _COLUMNS_OF_WORD]:
                word = (word << _BITS) + self._number(name, batch.column(name))
            yield word

    def _number(self, name: str, column: pa.Array | pa.ChunkedArray) -> LongArray:
        """Return a number for each cell, equal where cells read the same."""
        encoded = column.dictionary_encode()
        encoded = encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded
        known = self.numbers[name]
        table = [
            known.setdefault(None if cell is None else str(cell), len(known)) for cell in encoded.dictionary.to_pylist()
        ]
        missing = known.setdefault(None, len(known))
        if len(known) >= 1 << _BITS:
            raise DataError(
                f"The column {name!r} has too many different released cells to be counted. Nothing was released."
            )
        place = np.asarray(encoded.indices.fill_null(len(table)))
        return np.asarray(np.array([*table, missing], np.int64)[place], np.int64)

    def groups(self) -> tuple[LongArray, dict[str, tuple[IntArray, IntArray, LongArray]]]:
        """Return the size of each group, and for each sensitive column group, code and count of what occurs."""
        if not self.waiting:
            return np.zeros(0, np.int64), {}
        whole = _grouped(pa.concat_tables(self.waiting))
        words = [name for name in whole.column_names if name.startswith("w")]
        label = np.zeros(whole.num_rows, np.int64)
        for name in words:
            word = np.asarray(whole.column(name).combine_chunks().dictionary_encode().indices).astype(np.int64)
            key = pa.array(label * (int(word.max(initial=0)) + 1) + word)
            label = np.asarray(key.dictionary_encode().indices).astype(np.int64)
        rows = np.asarray(whole.column("rows")).astype(np.int64)
        sizes = np.bincount(label, rows).astype(np.int64)
        held = {
            name: (label.astype(np.int32), np.asarray(whole.column(f"s{place}")).astype(np.int32), rows)
            for place, name in enumerate(self.sensitive)
        }
        return sizes, held

    def check(self, k: int) -> None:
        """Raise unless each group has at least ``k`` rows."""
        refuse_small_group(int(self.groups()[0].min(initial=k)), k)


def _grouped(table: pa.Table) -> pa.Table:
    """Return the distinct rows of all columns but ``rows``, which is added up."""
    keys = [name for name in table.column_names if name != "rows"]
    found = table.group_by(keys).aggregate([("rows", "sum")])
    return found.rename_columns(
        [name.removesuffix("_sum") if name == "rows_sum" else name for name in found.column_names]
    )
