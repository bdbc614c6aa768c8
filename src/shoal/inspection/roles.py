"""What role a column may have: guessed from its name, its type and how often its values repeat."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shoal.inspection.words import (
    HARMLESS,
    HARMLESS_STEMS,
    KEY_STEMS,
    KEYS,
    KNOWN,
    NAMING,
    PERHAPS_KNOWN,
    PERSONS,
    QUANTITIES,
    SENSITIVE,
    Role,
    Topic,
    words_of,
)

UNSURE = "decide yourself"
"""The reason given where neither name nor type nor repetition says anything."""
REPEATS = "one person in several rows?"
FREE_TEXT = "free text"
NESTED = "lists, records or bytes: make text or numbers of them to release it"
_NEARLY_ALL = 0.95
_FEWEST_ROWS = 20
"""In a table with fewer rows, values that never repeat say little."""
_DATES = frozenset({"date", "time"})
_MOST_CODES = 30
"""More whole numbers than this are a quantity, whatever the name says."""


def guess_role(name: str, kind: str, distinct: int, records: int) -> tuple[Role, str]:
    """Return the likely role of a column, and why."""
    words = words_of(name)
    unique = kind in {"text", "whole number"} and records >= _FEWEST_ROWS and distinct >= _NEARLY_ALL * records
    found, key = _topic_of(words, kind), _key_of(words)
    if key and (found is None or unique):
        return "identifier", f"name: {key}"
    if found:
        return found[0].role, f"name: {found[1]} ({found[0].name})"
    if HARMLESS & set(words) or any(stem in word for stem in HARMLESS_STEMS for word in words):
        return "other", "about the table, not the person"
    if unique:
        return "identifier", "hardly repeats"
    if kind in _DATES:
        return "quasi-identifier", "a date"
    return "other", UNSURE


def _key_of(words: Sequence[str]) -> str | None:
    """Return the word by which a name says that it is a person's key."""
    if len(words) == 1 and words[0] in PERSONS:
        return words[0]
    return next((word for word in words if word in KEYS or any(stem in word for stem in KEY_STEMS)), None)


def _topic_of(words: Sequence[str], kind: str) -> tuple[Topic, str] | None:
    """Return the topic a name tells, with the word that tells it; a date is what others may have seen, whatever of."""
    tiers = (NAMING, KNOWN, PERHAPS_KNOWN, SENSITIVE) if kind in _DATES else (NAMING, KNOWN, SENSITIVE, PERHAPS_KNOWN)
    return next(_by_words(words, tiers), None) or next(_by_stems("".join(words), tiers), None)


def _by_words(words: Sequence[str], tiers: Sequence[Sequence[Topic]]) -> Iterator[tuple[Topic, str]]:
    return ((topic, word) for tier in tiers for topic in tier for word in words if word in topic.words)


def _by_stems(joined: str, tiers: Sequence[Sequence[Topic]]) -> Iterator[tuple[Topic, str]]:
    return ((topic, stem) for tier in tiers for topic in tier for stem in topic.stems if stem in joined)


def is_coded_category(name: str, kind: str, distinct: int) -> bool:
    """Tell whether whole numbers look like codes for categories, of which a range means nothing: religion 1 to 6, 0/1."""
    if kind != "whole number" or not 2 <= distinct <= _MOST_CODES:
        return False
    words = words_of(name)
    found = _topic_of(words, kind)
    return distinct == 2 or bool(found and found[0].category and not QUANTITIES & set(words))
