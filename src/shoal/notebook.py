"""Small pictures for notebooks: plain HTML without scripts, styles that follow a dark page, nothing fetched."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any, TypeVar

_Shown = TypeVar("_Shown")

# colours of the page around it, so that it is readable on a dark page too
_CARD = "font:13px/1.5 system-ui,sans-serif;border:1px solid rgba(128,128,128,.4);border-radius:6px;padding:8px 12px;max-width:60em;overflow-x:auto"
_CELL = "text-align:left;padding:1px 14px 1px 0;background:transparent;color:inherit"
_QUIET = "opacity:.7;font-weight:normal"


def safely(picture: Callable[[_Shown], str]) -> Callable[[_Shown], str]:
    """Let a picture that cannot be made (a part is not installed, or came from a pickle) become the plain text."""

    @functools.wraps(picture)
    def made(shown: _Shown) -> str:
        try:
            return picture(shown)
        except Exception:  # noqa: BLE001 - a cell of a notebook must never end in an error because of its picture
            return text_card(repr(shown))

    return made


def card(title: str, *parts: str) -> str:
    """Return a box with a title."""
    return f'<div style="{_CARD}"><div><b>{escape(title)}</b></div>{"".join(parts)}</div>'


def text_card(text: str) -> str:
    """Return a box with text as it is."""
    return f'<div style="{_CARD}"><pre style="margin:0;background:transparent;color:inherit">{escape(text)}</pre></div>'


def facts(values: Mapping[str, Any]) -> str:
    """Return names and values, one pair a line."""
    rows = "".join(
        f'<tr style="background:transparent"><th style="{_CELL};{_QUIET}">{escape(name)}</th>'
        f'<td style="{_CELL}">{escape(str(value))}</td></tr>'
        for name, value in values.items()
    )
    return f'<table style="border:0;margin:4px 0">{rows}</table>'


def rows(headings: Sequence[str], cells: Sequence[Sequence[Any]], caption: str = "") -> str:
    """Return a table of plain values."""
    head = "".join(f'<th style="{_CELL};{_QUIET}">{escape(one)}</th>' for one in headings)
    body = "".join(
        '<tr style="background:transparent">'
        + "".join(f'<td style="{_CELL}">{escape(str(one))}</td>' for one in row)
        + "</tr>"
        for row in cells
    )
    told = f'<caption style="text-align:left;color:inherit;{_QUIET}">{escape(caption)}</caption>' if caption else ""
    return f'<table style="border:0;margin:6px 0">{told}<tr style="background:transparent">{head}</tr>{body}</table>'


def bar(share: float) -> str:
    """Return a share of 1 as a line of blocks and a percentage."""
    return f"{'█' * round(20 * share):20} {share:.1%}"
