"""Hierarchies that follow from the values: prefixes of codes, intervals of numbers, parts of dates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime
from typing import Any

from shoal.errors import ParameterError
from shoal.hierarchy.links import ROOT, Chain
from shoal.hierarchy.texts import refuse_unreadable, value_text
from shoal.validation import check_choice, check_int


def prefix_chains(values: Sequence[Any], lengths: Iterable[int] | int) -> Iterator[Chain]:
    """Yield, in order of the texts, each text and its prefixes, filled up with ``*`` to the longest text."""
    owner = "Hierarchy.from_prefixes"
    given = lengths if isinstance(lengths, Iterable) else [lengths]
    kept = sorted({check_int(owner, "lengths", length, least=0) for length in given}, reverse=True)
    if not kept:
        raise ParameterError(f"The 'lengths' parameter of {owner} must hold at least one length. Got none instead.")
    texts = sorted({value_text(value) for value in values})
    longest = max(map(len, texts), default=0)
    for text in texts:
        # a prefix as long as the longest text is the text itself; a shorter one may be shared with longer texts
        groups = [text if longest <= length else text[:length].ljust(longest, "*") for length in kept if length]
        yield Chain((text, *groups, ROOT))


DATE_PARTS: dict[str, Callable[[date], str]] = {
    "day": date.isoformat,
    "month": lambda day: f"{day.year:04d}-{day.month:02d}",
    "quarter": lambda day: f"{day.year:04d}-Q{(day.month + 2) // 3}",
    "year": lambda day: f"{day.year:04d}",
    "decade": lambda day: f"{day.year // 10 * 10:04d}s",
}
"""From the smallest part to the largest; each lies within the next."""


def date_chains(values: Sequence[Any], levels: Iterable[str]) -> Iterator[Chain]:
    """Yield, in order of time, each date and the larger parts of time that contain it."""
    given = [levels] if isinstance(levels, str) else levels
    chosen = {check_choice("Hierarchy.from_dates", "levels", level, tuple(DATE_PARTS)) for level in given}
    parts = [part for name, part in DATE_PARTS.items() if name in chosen]
    days = {text: _day_of(text) for text in map(value_text, values)}
    refuse_unreadable([text for text, day in days.items() if day is None], len(days), "no ISO dates", "from_dates")
    for day, text in sorted((day, text) for text, day in days.items() if day is not None):
        yield Chain((text, *(part(day) for part in parts), ROOT))


def _day_of(text: str) -> date | None:
    try:
        return datetime.fromisoformat(text).date()
    except ValueError:
        return None
