"""What the values of a column of text are about, whatever the column is called: the second witness of its role."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.inspection.words import KNOWN, PERHAPS_KNOWN, SENSITIVE, VALUES, Topic
from shoal.knowledge import fold, recognize
from shoal.knowledge.scales import read_schooling

_MOST = 300
"""Distinct values that are looked at, spread over all."""
_ENOUGH = 0.6
"""Share of the values that must be words of a topic."""
_TOPICS = {topic.name: topic for topic in (*KNOWN, *SENSITIVE, *PERHAPS_KNOWN)}
_READINGS = {
    "countries": "place",
    "states": "place",
    "NUTS": "place",
    "postcodes": "place",
    "languages": "origin",
    "occupations": "work",
    "branches": "work",
    "diagnoses": "health",
    "medicines": "health",
}
"""The topic of what the knowledge of the world recognizes, by the first word that says what it is."""


def topic_of_values(texts: Sequence[str]) -> tuple[Topic, str] | None:
    """Return what the distinct values of a column are about, and a phrase that says why; None if they do not show it."""
    step = max(len(texts) // _MOST, 1)
    seen = [text for text in texts[::step] if text.strip()]
    if len(seen) < 2:
        return None
    words = [frozenset(fold(text).split()) for text in seen]
    whole = [fold(text) for text in seen]
    for name, listed in VALUES.items():
        known = sum(text in listed or bool(parts & listed) for text, parts in zip(whole, words, strict=True))
        # of two values one may be the rest: married and other
        if known >= _ENOUGH * len(seen) and known >= 2:
            return _TOPICS[name], f"values: {name}"
    if read_schooling(seen):
        return _TOPICS["education"], "values: levels of schooling"
    reading = recognize(seen)
    name = _READINGS.get(reading.what.split(" ", 1)[0]) if reading is not None else None
    return (_TOPICS[name], f"values: {reading.what}") if name and reading else None
