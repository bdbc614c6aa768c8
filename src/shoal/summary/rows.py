"""Some records as they are released, and as they were before if asked for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from shoal.arrays import BoolArray, FloatArray, IntArray, LongArray
from shoal.cells.recode import value_text
from shoal.encoding import CodedTable, value_texts
from shoal.summary.schema import Examples, Row

_ROWS = 8


def example_rows(
    released: pa.Table,
    coded: CodedTable,
    labels: IntArray,
    cost: FloatArray | None,
    seed: int,
    *,
    originals: bool,
) -> Examples:
    """Return a few records drawn by ``seed``, with the cells marked that were changed.

    Unless ``originals`` is asked for, a cell counts as changed by what the release itself shows: if its cost
    is above 0, or, without ``cost`` (representatives), always. So nothing is shown that the release does not show.
    """
    kept = np.flatnonzero(labels >= 0)
    chosen = np.sort(np.random.default_rng(seed).permutation(len(kept))[:_ROWS])
    names = released.column_names
    texts = [value_texts(released.column(name).take(pa.array(chosen)).combine_chunks()).to_pylist() for name in names]
    before = _original_texts(coded, kept[chosen])
    changed = _changed(names, coded, labels[kept[chosen]], cost)
    rows = []
    for place in range(len(chosen)):
        shown = [column[place] for column in texts]
        original = [before[name][place] if name in before else text for name, text in zip(names, shown, strict=True)]
        rows.append(
            Row(
                released=shown,
                changed=[one != other for one, other in zip(original, shown, strict=True)]
                if originals
                else changed[:, place].tolist(),
                original=original if originals else None,
            )
        )
    return Examples(columns=list(names), rows=rows, holds_original=originals)


def _changed(names: Sequence[str], coded: CodedTable, groups: IntArray, cost: FloatArray | None) -> BoolArray:
    changed = np.zeros((len(names), len(groups)), bool)
    for row, name in enumerate(coded.names):
        changed[names.index(name)] = True if cost is None else cost[row, groups] > 0
    return changed


def _original_texts(coded: CodedTable, records: LongArray) -> dict[str, list[str | None]]:
    return {
        column.name: [
            None if code == column.missing else value_text(column.texts[code]) for code in codes[records].tolist()
        ]
        for codes, column in zip(coded.codes, coded.columns, strict=True)
    }
