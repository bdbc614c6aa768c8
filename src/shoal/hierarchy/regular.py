"""Read a hierarchy whose lines all have the same number of labels, column by column.

Most files are like that. One with quotes, with lines of other lengths, with a label on two levels, or with any error is left to
the reader that goes line by line, which also says what is wrong and where.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from shoal.arrays import IntArray, LongArray


class Numbered(NamedTuple):
    """The fields of a ``NumberedTree``."""

    labels: tuple[str, ...]
    parent: IntArray
    n_leaves: int


class Level(NamedTuple):
    """One column of the file: its distinct labels in the order they appear, and which of them each line has."""

    labels: list[str]
    codes: LongArray


def read_regular(text: str, separator: str) -> Numbered | None:
    """Return the tree in a regular file, or None for another."""
    levels = _read_levels(text, separator)
    if levels is None or len(levels) < 2 or len(levels[-1].labels) != 1 or not _labels_differ(levels):
        return None
    _, first = np.unique(levels[0].codes, return_index=True)
    chains = np.stack([level.codes[first] for level in levels])  # a column for each leaf
    if not _one_parent_each(levels, chains):
        return None
    return _number(levels, chains[:, np.lexsort(chains)])


def _read_levels(text: str, separator: str) -> list[Level] | None:
    import pyarrow as pa  # noqa: PLC0415  (a small hierarchy made in Python needs no pyarrow)
    from pyarrow import csv  # noqa: PLC0415

    width = text.partition("\n")[0].count(separator) + 1
    if '"' in text or "\0" in text:
        return None
    names = [str(number) for number in range(width)]
    kinds: Any = dict.fromkeys(names, pa.dictionary(pa.int32(), pa.string()))
    try:
        table = csv.read_csv(
            pa.py_buffer(text.encode()),
            csv.ReadOptions(column_names=names, use_threads=False, block_size=1 << 30),
            csv.ParseOptions(delimiter=separator, quote_char=False),
            csv.ConvertOptions(column_types=kinds, strings_can_be_null=False),
        )
    except (pa.ArrowInvalid, UnicodeEncodeError):  # lines of different lengths, or half a character
        return None
    columns = [column.combine_chunks() for column in table.columns]
    columns = [column.chunk(0) if isinstance(column, pa.ChunkedArray) else column for column in columns]
    return [Level(column.dictionary.to_pylist(), np.asarray(column.indices, np.int64)) for column in columns]


def _labels_differ(levels: list[Level]) -> bool:
    """Return whether no label is blank and none is on two levels."""
    every = [label for level in levels for label in level.labels]
    distinct = set(every)
    return len(distinct) == len(every) and all(map(str.strip, every))


def _one_parent_each(levels: list[Level], chains: LongArray) -> bool:
    """Return whether each label has the same label above it on every line; lines that repeat a leaf are compared too."""
    for below, above in pairwise(levels):
        parent = np.zeros(len(below.labels), np.int64)
        parent[below.codes] = above.codes
        if (parent[below.codes] != above.codes).any():
            return False
    return chains.size > 0


def _number(levels: list[Level], chains: LongArray) -> Numbered:
    """Number leaves depth first, then inner nodes each after its children; ``chains`` come depth first."""
    leaves = chains.shape[1]
    last = [np.zeros(len(level.labels), np.int64) for level in levels]
    for level, place in enumerate(last):
        place[chains[level]] = np.arange(leaves)  # the last leaf below each node: later ones win
    depth = np.concatenate([np.full(len(place), level) for level, place in enumerate(last[1:], 1)])
    order = np.lexsort((depth, np.concatenate(last[1:])))
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(leaves, leaves + len(order))
    return _assemble(levels, chains, number, order)


def _assemble(levels: list[Level], chains: LongArray, number: LongArray, order: LongArray) -> Numbered:
    leaves = chains.shape[1]
    starts = np.cumsum([0, *(len(level.labels) for level in levels[1:])])
    numbers = [number[start:end] for start, end in pairwise(starts)]
    parent = np.empty(leaves + len(order), np.int32)
    parent[:leaves] = numbers[0][chains[1]]
    for level in range(1, len(levels) - 1):
        parent[numbers[level - 1][chains[level]]] = numbers[level][chains[level + 1]]
    parent[-1] = len(parent) - 1
    inner = [label for level in levels[1:] for label in level.labels]
    names = levels[0].labels
    labels = (*(names[code] for code in chains[0].tolist()), *(inner[place] for place in order.tolist()))
    return Numbered(labels, parent, leaves)
