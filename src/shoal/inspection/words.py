"""Words of column names, in the main European languages, and what they say about a column.

The words are in ``words.toml``, compared without accents and in small letters. A *word* must be separate in the name (``age`` is in
``age_years``, not in ``wage``), or be one of the known words that a name is put together of (``hhsize``). A *stem* may be anywhere inside
(``geburt`` in ``Geburtsdatum``), for languages that write words together.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

Role = Literal["identifier", "quasi-identifier", "sensitive", "other"]

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")


@dataclass(frozen=True)
class Topic:
    """What a column can be about, and the words that show it."""

    name: str
    role: Role
    words: frozenset[str] = frozenset()
    stems: tuple[str, ...] = ()
    category: bool = False
    """Numbers in such a column are codes for categories."""


@cache
def _read() -> dict[str, Any]:
    return tomllib.loads((files("shoal.inspection") / "words.toml").read_text(encoding="utf-8"))


def _topics(tier: str) -> tuple[Topic, ...]:
    return tuple(
        Topic(
            one["name"],
            one["role"],
            frozenset(one["words"].split()),
            tuple(one.get("stems", "").split()),
            one.get("category", False),
        )
        for one in _read()[tier]
    )


def _listed(name: str) -> frozenset[str]:
    return frozenset(_read()["lists"][name].split())


NAMING = _topics("naming")
"""What names a person on its own."""
KNOWN = _topics("known")
"""What an outsider may know, whatever else the name says: the age at a diagnosis is an age."""
SENSITIVE = _topics("sensitive")
PERHAPS_KNOWN = _topics("perhaps_known")
"""What an outsider may know, unless the name also says something sensitive: the size of a tumour is no size."""

KEYS = _listed("keys")
"""Words that often stand for a person's number or name, and often for something else."""
KEY_STEMS = tuple(_read()["lists"]["key_stems"].split())
PERSON_KEYS = _listed("person_keys")
"""Names of keys of people in surveys and registers, written as one word."""
PERSONS = _listed("persons")
"""Words that name a person's key if they are the whole name."""
POSTCODES = _listed("postcodes")
"""Names of postal codes."""
HOUSEHOLD_KEYS = _listed("household_keys")
"""Names of keys of households."""
HOUSEHOLDS = _listed("households")
COUNTING = _listed("counting")
"""Words that begin the name of a count, a summary or a flag: what follows is counted, not held."""
SPANS = _listed("spans")
BETWEEN = _listed("between")
"""Words that, with a unit of time, make a span: ``months_since_last_visit``."""
WEIGHT_WORDS = _listed("weight_words")
"""Names of survey weights."""
WEIGHT_STEMS = tuple(_read()["lists"]["weight_stems"].split())
SURVEYS = _listed("surveys")
"""Words that, together with ``weight``, say that records are weighted."""
QUANTITIES = _listed("quantities")
"""Words by which numbers are counted or have an order, so that ranges of them mean something, whatever else the name says."""
HARMLESS = _listed("harmless")
"""Words about how the table was made, not about the person."""
NAMES = _listed("names")
"""Words that mean the name of a person and nothing else, however often its values repeat."""
VALUES = {name: frozenset(words.split()) for name, words in _read()["values"].items()}
"""Words that are values of columns about a topic, whatever the columns are called."""
ALONE = _listed("alone")
"""Words that say something only as the whole name: ``exp`` is experience, ``housing_exp`` an expense."""
_SHORT, _BEFORE, _AFTER = _listed("short"), _listed("before"), _listed("after")


def plain(text: str) -> str:
    """Return text in ASCII without accents: ``Größe`` and ``Groesse`` differ still, ``Âge`` is ``Age``."""
    text = text.replace("ß", "ss").replace("ł", "l").replace("Ł", "L").replace("ø", "o").replace("æ", "ae")
    return "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))


def words_of(name: str) -> list[str]:
    """Return the words of a column name: ``birthDate``, ``birth_date`` and ``BIRTH-DATE`` have the same."""
    return [word.lower() for word in _WORD.findall(plain(name))]


# --- words written together ---------------------------------------------------------------------------------------


def vocabulary() -> frozenset[str]:
    """Return all words that name a topic and are long enough to be found in others."""
    topics = (*NAMING, *KNOWN, *SENSITIVE, *PERHAPS_KNOWN)
    return frozenset(word for topic in topics for word in topic.words if len(word) > 3) | _SHORT


VOCABULARY = vocabulary()


def parts_of(word: str) -> tuple[str, ...]:
    """Return the known words that a word is put together of: ``admissionheight``, ``agegrp``; none if it is not."""
    if word in VOCABULARY or len(word) < 5:
        return ()
    for cut in range(len(word) - 1, 0, -1):
        head, tail = word[:cut], word[cut:]
        known = head in VOCABULARY
        if known and tail in VOCABULARY:
            return (head, tail)
        if known and tail in _AFTER:
            return (head,)
        if head in _BEFORE and tail in VOCABULARY and len(tail) > 2:
            return (tail,)
        if known and (more := parts_of(tail)):
            return (head, *more)
        if head in _BEFORE and len(tail) > 4 and (more := parts_of(tail)):
            return more
    return ()
