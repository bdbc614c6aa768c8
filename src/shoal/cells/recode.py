"""From groups to released columns.

The released forms, each readable by people and by ``parsing.parse_cell``:

=====================  ===========================================================================
``30``, ``nurse``      one value, or the label of a node of a hierarchy
``[24-30]``            a range of non-negative numbers, both ends included; also a node with this label
``[-5 to 3]``          a range of anything else: negative numbers, dates, ordered categories
``{nurse, teacher}``   one of several values
``[20, 30)``           a value or label that is an interval as other tools write it
``*``                  any value
(missing)              the value is missing for everyone in the group
``"*"``                quoted as in JSON: a value that would otherwise read as one of the forms above
=====================  ===========================================================================
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pyarrow as pa

from shoal.arrays import AnyArray, IntArray
from shoal.encoding import CodedColumn, CodedTable
from shoal.kernels.space.space import cover_groups, find_node

if TYPE_CHECKING:
    from shoal.kernels.space.space import Cover
    from shoal.methods.base import Grouping

ANY = "*"
_PLAIN_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_FOREIGN_INTERVAL = re.compile(r'\[[^"]*[\[)]|\[(?!.* to )(?!\d+(?:[.,]\d+)?-\d)[^"]*,[^"]*\]')
"""Intervals as other tools write them, such as [20, 30[, [20, 30) and [20, 30]: never a range of shoal's own."""
_OTHER_RANGE = re.compile(r"\[(-?\d[\d.:T+-]*) to (-?\d[\d.:T+-]*)\]")
"""A range of numbers with a sign, or of dates."""
_NUMBER_RANGE = re.compile(rf"\[({_PLAIN_NUMBER.pattern})-({_PLAIN_NUMBER.pattern})\]")


# --- writing -----------------------------------------------------------------------------------------------------


def value_text(text: str, reserved: str = "") -> str:
    """Return a value as it is released, quoted if it could be taken for another form."""
    ambiguous = (
        not text
        or text == ANY
        or text[0] in '{"'
        or (text[0] == "[" and not _FOREIGN_INTERVAL.fullmatch(text))
        or not text.strip()
        or (reserved and text != text.strip())
        or not text.isprintable()
        or any(sign in text for sign in reserved)
    )
    return json.dumps(text, ensure_ascii=False) if ambiguous else text


def range_text(low: str, high: str) -> str:
    """Return the range from ``low`` to ``high``."""
    if _PLAIN_NUMBER.fullmatch(low) and _PLAIN_NUMBER.fullmatch(high):
        return f"[{low}-{high}]"
    return f"[{_end_text(low)} to {_end_text(high)}]"


def _end_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False) if " to " in text else value_text(text, '[]"')


def set_text(values: list[str]) -> str:
    """Return one of several values."""
    return "{" + ", ".join(value_text(value, ',{}"') for value in values) + "}"


def released_cover(table: CodedTable, grouping: Grouping) -> Cover:
    """Return the box each group is released as: its own bounds, or what a global recoding maps it to."""
    groups = int(grouping.labels.max(initial=-1)) + 1
    cover = cover_groups(table.space, table.codes, grouping.labels, groups)
    if grouping.cuts is not None:
        for row, cut in enumerate(grouping.cuts):
            cover.low[row] = cut[0][cover.low[row]]
            cover.high[row] = cut[1][cover.high[row]]
    for row, column in enumerate(table.columns):
        cover.low[row], cover.high[row] = column.kind.released(column, cover.low[row], cover.high[row])
    return cover


class EndTexts(Protocol):
    """Where the ranges of one column end, if that is not at their own values."""

    def texts(self, low: IntArray, high: IntArray) -> tuple[list[str], list[str]]:
        """Return both ends of ranges of codes as they are written."""


def render(
    table: CodedTable,
    labels: IntArray,
    cover: Cover,
    ends: Mapping[int, EndTexts] | None = None,
    cuts: Sequence[IntArray] | None = None,
) -> dict[str, pa.Array]:
    """Return the released columns of the records that are not suppressed, in input order.

    ``cuts`` are those of a global recoding: a cell shows the label of the node at the cut, though a node below it may have the same leaves.
    """
    kept = labels[labels >= 0]
    columns = {}
    for row, column in enumerate(table.columns):
        nodes = {} if cuts is None else nodes_at(cuts[row])
        form, texts = _group_texts(table, cover, row, column, (ends or {}).get(row), nodes)
        columns[column.name] = pa.array(texts, pa.string()).take(pa.array(form[kept]))
    return columns


def nodes_at(cut: IntArray) -> dict[tuple[int, int], int]:
    """Return the node that a cut releases for each range of codes."""
    low, high, node = cut.tolist()
    return dict(zip(zip(low, high, strict=True), node, strict=True))


def _group_texts(
    table: CodedTable,
    cover: Cover,
    row: int,
    column: CodedColumn,
    ends: EndTexts | None,
    nodes: Mapping[tuple[int, int], int],
) -> tuple[AnyArray, list[str | None]]:
    """Return the number of each group's released form, and the text of each form."""
    low, high = cover.low[row].astype(np.int64), cover.high[row].astype(np.int64)
    if column.kind.by_members:
        first, last = table.space.word_start[row], table.space.word_start[row + 1]
        words = np.ascontiguousarray(cover.words[:, first:last])
        _, which, form = np.unique(words, axis=0, return_index=True, return_inverse=True)
        return form.reshape(-1), [_set_form(column, words[group]) for group in which]
    _, which, form = np.unique(low * (column.cardinality + 1) + high, return_index=True, return_inverse=True)
    return form, range_forms(table, row, low[which], high[which], ends, nodes)


def range_forms(
    table: CodedTable,
    row: int,
    low: AnyArray,
    high: AnyArray,
    ends: EndTexts | None = None,
    nodes: Mapping[tuple[int, int], int] | None = None,
) -> list[str | None]:
    """Return the texts of several ranges of codes, which end where ``ends`` says; ``nodes`` are those of a cut."""
    column, known = table.columns[row], nodes or {}
    if ends is None:
        pairs = zip(low.tolist(), high.tolist(), strict=True)
        return [range_form(table, row, column, *pair, known.get(pair)) for pair in pairs]
    begins, lasts = ends.texts(low, high)
    return [
        range_text(begins[place], lasts[place])
        if low[place] < high[place] < len(column.values)
        else range_form(table, row, column, int(low[place]), int(high[place]))
        for place in range(len(low))
    ]


def _set_form(column: CodedColumn, words: AnyArray) -> str | None:
    bits = np.unpackbits(words.view(np.uint8), bitorder="little")
    codes = np.flatnonzero(bits).tolist()
    if codes == [column.missing]:
        return None
    if codes[-1] == column.missing:
        return ANY
    if len(codes) == 1:
        return value_text(column.texts[codes[0]])
    return set_text([column.texts[code] for code in codes])


def range_form(
    table: CodedTable, row: int, column: CodedColumn, low: int, high: int, node: int | None = None
) -> str | None:
    """Return the text of the codes ``low..high`` of a column by ranges or nodes; None for a missing value.

    ``node`` is the one a global recoding releases; without it, it is the lowest around the codes.
    """
    if high == column.missing:
        return None if low == high else ANY
    if column.hierarchy is None or node is None or node < column.cardinality:
        if low == high:
            return value_text(column.texts[low])
        if column.kind.ordered:
            return range_text(column.texts[low], column.texts[high])
        node = int(find_node(table.space, row, low, high))
    label = column.node_labels[node]
    return label if label == ANY or _is_interval(column, label) or _is_set(column, label) else value_text(label)


def _is_interval(column: CodedColumn, label: str) -> bool:
    """Return whether a node is named like the range that all its leaves lie in, such as [30-39] or [2020-01-01 to 2020-03-31]."""
    ends = _NUMBER_RANGE.fullmatch(label) or _OTHER_RANGE.fullmatch(label)
    if ends is None or column.hierarchy is None:
        return False
    return all(_is_between(ends[1], leaf, ends[2]) for leaf in column.hierarchy.leaves_below(label))


def _is_between(low: str, text: str, high: str) -> bool:
    """Return whether a number lies between two others, or a text in the order of the alphabet, which is that of dates."""
    try:
        return float(low) <= float(text) <= float(high)
    except ValueError:
        return low <= text <= high


def _is_set(column: CodedColumn, label: str) -> bool:
    """Return whether a node is named by the set of its leaves."""
    return (
        label.startswith("{")
        and column.hierarchy is not None
        and label == set_text(list(column.hierarchy.leaves_below(label)))
    )
