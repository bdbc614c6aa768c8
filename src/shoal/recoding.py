"""From groups to released columns, and back from released text to what it covers.

The released forms, each readable by people and by ``parse_cell``:

=====================  ===========================================================================
``30``, ``nurse``      one value, or the label of a node of a hierarchy
``[24-30]``            a range of non-negative numbers, both ends included
``[-5 to 3]``          a range of anything else: negative numbers, dates, ordered categories
``{nurse, teacher}``   one of several values
``*``                  any value
(missing)              the value is missing for everyone in the group
``"*"``                quoted as in JSON: a value that would otherwise read as one of the forms above
=====================  ===========================================================================
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow as pa

from shoal.encoding import CodedColumn, CodedTable, value_texts
from shoal.errors import DataError
from shoal.typing import AnyArray, IntArray

if TYPE_CHECKING:
    from shoal.kernels.space import Cover
    from shoal.methods.base import Grouping

ANY = "*"
_PLAIN_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_NUMBER_RANGE = re.compile(r"\[(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)\]")
_TEXT_RANGE = re.compile(r'\[("(?:[^"\\]|\\.)*"|.+?) to ("(?:[^"\\]|\\.)*"|.+)\]', re.DOTALL)
_SET_ITEM = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[^,"{}]+?)\s*(,|$)', re.DOTALL)


# --- writing -----------------------------------------------------------------------------------------------------


def value_text(text: str, reserved: str = "") -> str:
    """Return a value as it is released, quoted where it could be taken for another form."""
    ambiguous = (
        not text
        or text == ANY
        or text[0] in '[{"'
        or text != text.strip()
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
    from shoal.kernels.space import cover_groups  # noqa: PLC0415  (numba is imported when first needed)

    groups = int(grouping.labels.max(initial=-1)) + 1
    cover = cover_groups(table.space, table.codes, grouping.labels, groups)
    if grouping.cuts is not None:
        for row, cut in enumerate(grouping.cuts):
            cover.low[row] = cut[0][cover.low[row]]
            cover.high[row] = cut[1][cover.high[row]]
    return cover


def render(table: CodedTable, labels: IntArray, cover: Cover) -> dict[str, pa.Array]:
    """Return the released columns of the records that are not suppressed, in input order."""
    kept = labels[labels >= 0]
    columns = {}
    for row, column in enumerate(table.columns):
        form, texts = _group_texts(table, cover, row, column)
        columns[column.name] = pa.array(texts, pa.string()).take(pa.array(form[kept]))
    return columns


def _group_texts(table: CodedTable, cover: Cover, row: int, column: CodedColumn) -> tuple[AnyArray, list[str | None]]:
    """Return the number of each group's released form, and the text of each form."""
    low, high = cover.low[row].astype(np.int64), cover.high[row].astype(np.int64)
    if column.kind == "set":
        first, last = table.space.word_start[row], table.space.word_start[row + 1]
        words = np.ascontiguousarray(cover.words[:, first:last])
        _, which, form = np.unique(words, axis=0, return_index=True, return_inverse=True)
        return form.reshape(-1), [_set_form(column, words[group]) for group in which]
    _, which, form = np.unique(low * (column.cardinality + 1) + high, return_index=True, return_inverse=True)
    return form, [range_form(table, row, column, int(low[group]), int(high[group])) for group in which]


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


def range_form(table: CodedTable, row: int, column: CodedColumn, low: int, high: int) -> str | None:
    """Return the text of the codes ``low..high`` of a column by ranges or nodes; None for a missing value."""
    if low == high:
        return None if low == column.missing else value_text(column.texts[low])
    if high == column.missing:
        return ANY
    if column.kind == "interval":
        return range_text(column.texts[low], column.texts[high])
    from shoal.kernels.space import find_node  # noqa: PLC0415

    label = column.node_labels[find_node(table.space, row, low, high)]
    return ANY if label == ANY else value_text(label)


# --- reading -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cell:
    """What a released text stands for."""

    form: Literal["value", "range", "set", "any", "missing"]
    values: tuple[str, ...] = ()
    """The value or label; both ends; the members."""


def parse_cell(text: str | None) -> Cell:
    """Read one released text."""
    if text is None:
        return Cell("missing")
    if text == ANY:
        return Cell("any")
    if text.startswith("["):
        return _parse_range(text)
    if text.startswith("{"):
        return _parse_set(text)
    return Cell("value", (_unquote(text),))


def _unquote(text: str) -> str:
    if not text.startswith('"'):
        return text
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        raise _unreadable("value") from None
    if not isinstance(value, str):
        raise _unreadable("value")
    return value


def _parse_range(text: str) -> Cell:
    match = _NUMBER_RANGE.fullmatch(text) or _TEXT_RANGE.fullmatch(text)
    if match is None:
        raise _unreadable("range")
    return Cell("range", (_unquote(match[1]), _unquote(match[2])))


def _parse_set(text: str) -> Cell:
    if not text.endswith("}"):
        raise _unreadable("set")
    body, members, place = text[1:-1], [], 0
    while True:
        match = _SET_ITEM.match(body, place)
        if match is None:
            raise _unreadable("set")
        members.append(_unquote(match[1]))
        place = match.end()
        if match[2] != ",":
            return Cell("set", tuple(members))


def _unreadable(form: str) -> DataError:
    return DataError(
        f"A released {form} is not well formed.",
        hint="released texts look like 30, [24-30], [-5 to 3], {a, b} or *; quote other text as in JSON.",
    )


def parse_column(column: pa.Array | pa.ChunkedArray) -> tuple[IntArray, list[Cell]]:
    """Read a released column: for each record the number of its form, and the forms."""
    from shoal.frames import encode_dictionary  # noqa: PLC0415

    encoded = encode_dictionary(column)
    cells = [parse_cell(text) for text in value_texts(encoded.dictionary).to_pylist()]
    if encoded.indices.null_count:
        cells.append(Cell("missing"))
    indices = encoded.indices.fill_null(len(cells) - 1) if encoded.indices.null_count else encoded.indices
    return np.asarray(indices).astype(np.int32), cells
