"""Measure what another package released with shoal's own measures."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from benchmarks.measuring import Row
from shoal.encoding import CodedColumn, CodedTable
from shoal.kernels.space.space import NODE, Cover, cost_table

_RANGE = re.compile(r"(-?[\d.]+)-(-?[\d.]+)")
Codes = Sequence[int]


def loss_of_release(table: CodedTable, released: pa.Table) -> Row:
    """Return loss, groups and the smallest group of released texts; ``count`` says how many records a row stands for.

    A record that is not there any more counts as wholly lost.
    """
    names = [column.name for column in table.columns]
    groups = released.group_by(names).aggregate([("count", "sum")])
    cover = read_cover(table, groups.select(names), np.asarray(groups["count_sum"]))
    kept = int(cover.size.sum())
    lost = float((cost_table(table.space, cover) * cover.size).sum()) + (table.records - kept) * len(names)
    return {
        "loss": lost / (table.records * len(names)),
        "groups": len(cover.size),
        "smallest": int(cover.size.min()),
        "suppressed": table.records - kept,
    }


def read_cover(table: CodedTable, rows: pa.Table, size: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Cover:
    """Return the boxes that rows of released texts stand for."""
    shape = (len(table.columns), rows.num_rows)
    low, high = np.empty(shape, np.int32), np.empty(shape, np.int32)
    words = np.zeros((rows.num_rows, max(1, int(table.space.word_start[-1]))), np.uint64)
    for row, column in enumerate(table.columns):
        codes_of = reader(table, row, column)
        for group, text in enumerate(rows.column(column.name).cast(pa.string()).to_pylist()):
            codes = codes_of(text)
            low[row, group], high[row, group] = min(codes), max(codes)
            if column.kind.name == "set":
                for code in codes:
                    words[group, table.space.word_start[row] + (code >> 6)] |= np.uint64(1) << np.uint64(code & 63)
    return Cover(low, high, words, size.astype(np.int32))


def reader(table: CodedTable, row: int, column: CodedColumn) -> Callable[[str], Codes]:
    """Return a function from a released text of a column to the codes it may stand for (of ranges, the two ends)."""
    code = {text: number for number, text in enumerate(column.texts)}
    if column.kind.name == "set":
        return lambda text: [code[value] for value in text.split(",")]
    if column.kind.name == "node":
        leaves = leaves_below(table, row, column)
        return lambda text: leaves.get(text) or [code[value] for value in text.split(",")]

    def ends(text: str) -> Codes:
        found = _RANGE.fullmatch(text)
        return [code[end] for end in found.groups()] if found else [code[text]]

    return ends


def leaves_below(table: CodedTable, row: int, column: CodedColumn) -> dict[str, Codes]:
    """Return the smallest and the largest leaf below each node of a hierarchy, by the node's label."""
    space = table.space
    assert space.kind[row] == NODE  # noqa: S101
    found: dict[str, Codes] = {}
    for leaf in range(len(column.texts)):
        node = leaf
        while True:
            label = column.node_labels[node]
            first, last = found.get(label, (leaf, leaf))
            found[label] = (min(first, leaf), max(last, leaf))
            parent = int(space.node_parent[space.start[row] + node])
            if parent in {node, -1}:
                break
            node = parent
    return found
