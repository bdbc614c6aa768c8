"""The grammar of released cells: from text to what it stands for, and back.

=====================  ===========================================================================
``30``, ``nurse``      one value, or the label of a node of a hierarchy
``[24-30]``            a range of non-negative numbers, both ends included
``[-5 to 3]``          a range of anything else: negative numbers, dates, ordered categories
``{nurse, teacher}``   one of several values
``*``                  any value
(empty)                the value is missing for everyone in the group
``"*"``                quoted as in JSON: a value that would otherwise read as one of the forms above
=====================  ===========================================================================
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Literal

from shoal_reader.errors import ReleaseError

ANY = "*"
_NUMBER = r"\d+(?:[.,]\d+)?"
_NUMBER_RANGE = re.compile(rf"\[({_NUMBER})-({_NUMBER})\]", re.ASCII)
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_TEXT_RANGE = re.compile(rf"\[({_QUOTED}|.+?) to ({_QUOTED}|.+)\]", re.DOTALL)
_MEMBER = re.compile(rf'\s*({_QUOTED}|[^,"{{}}]+?)\s*(,|$)', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Cell:
    """What one released text stands for."""

    form: Literal["value", "range", "set", "any", "missing"]
    values: tuple[str, ...] = ()
    """The value or label; both ends; the members."""


def parse(text: str | None) -> Cell:
    """Read one released text; None is a missing value.

    Examples
    --------
    >>> parse("[24-30]")
    Cell(form='range', values=('24', '30'))
    >>> parse('{nurse, "smith, black"}').values
    ('nurse', 'smith, black')
    """
    if text is None:
        return Cell("missing")
    if text == ANY:
        return Cell("any")
    if text.startswith("["):
        return _range(text)
    if text.startswith("{"):
        return _set(text)
    return Cell("value", (_unquoted(text),))


def write(cell: Cell) -> str | None:
    """Return the text of a cell, which ``parse`` reads back.

    Examples
    --------
    >>> write(Cell("range", ("-5", "3")))
    '[-5 to 3]'
    """
    if cell.form == "missing":
        return None
    if cell.form == "any":
        return ANY
    if cell.form == "value":
        return _quoted(cell.values[0])
    if cell.form == "set":
        return "{" + ", ".join(_quoted(value, ',{}"') for value in cell.values) + "}"
    low, high = cell.values
    if re.fullmatch(_NUMBER, low, re.ASCII) and re.fullmatch(_NUMBER, high, re.ASCII):
        return f"[{low}-{high}]"
    return f"[{_end(low)} to {_end(high)}]"


def is_marked(text: str) -> bool:
    """Return whether a text is written in a form that only a coarsened cell has."""
    return text == ANY or (text[:1] in {"[", "{"} and parse(text).form in {"range", "set"})


def _quoted(text: str, reserved: str = "") -> str:
    ambiguous = (
        not text
        or text == ANY
        or text[0] in '[{"'
        or not text.strip()
        or (reserved and text != text.strip())
        or not text.isprintable()
        or any(sign in text for sign in reserved)
    )
    return json.dumps(text, ensure_ascii=False) if ambiguous else text


def _end(text: str) -> str:
    return json.dumps(text, ensure_ascii=False) if " to " in text else _quoted(text, '[]"')


def _unquoted(text: str) -> str:
    if not text.startswith('"'):
        return text
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        raise _unreadable("value") from None
    if not isinstance(value, str):
        raise _unreadable("value")
    return value


def _range(text: str) -> Cell:
    match = _NUMBER_RANGE.fullmatch(text) or _TEXT_RANGE.fullmatch(text)
    if match is None:
        raise _unreadable("range")
    return Cell("range", (_unquoted(match[1]), _unquoted(match[2])))


def _set(text: str) -> Cell:
    if not text.endswith("}"):
        raise _unreadable("set")
    body, members, place = text[1:-1], [], 0
    while True:  # ends: each round moves ``place`` forward or leaves
        match = _MEMBER.match(body, place)
        if match is None:
            raise _unreadable("set")
        members.append(_unquoted(match[1]))
        place = match.end()
        if match[2] != ",":
            return Cell("set", tuple(members))


def _unreadable(form: str) -> ReleaseError:
    return ReleaseError(
        f"A released {form} is not well formed. Cells look like 30, [24-30], [-5 to 3], {{a, b}} or *; "
        "read the file as shoal wrote it, without changes by another program."
    )
