"""What role a column may have: guessed by three witnesses, its name, its values and how they repeat over the rows.

A wrong guess must not delete data: a column is an identifier only if its name says so *and* its values are as many as those of a key or
a name are. What a name counts (``num_phones``) or measures time by (``months_since_last_visit``) names nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from shoal.inspection.meanings import topic_of_values
from shoal.inspection.words import (
    ALONE,
    BETWEEN,
    COUNTING,
    HARMLESS,
    HOUSEHOLD_KEYS,
    HOUSEHOLDS,
    KEY_STEMS,
    KEYS,
    KNOWN,
    NAMES,
    NAMING,
    PERHAPS_KNOWN,
    PERSON_KEYS,
    PERSONS,
    POSTCODES,
    QUANTITIES,
    SENSITIVE,
    SPANS,
    SURVEYS,
    VOCABULARY,
    WEIGHT_STEMS,
    WEIGHT_WORDS,
    Role,
    Topic,
    parts_of,
    words_of,
)

UNSURE = "decide yourself"
"""The reason given if neither name nor type nor repetition says anything."""
REPEATS = "one person in several rows?"
FREE_TEXT = "free text"
NESTED = "lists, records or bytes: make text or numbers of them to release it"
Unit = Literal["", "person", "household", "weight"]
"""What a column counts, besides its role: people, households, or the people that a record stands for."""
_NEARLY_ALL = 0.95
_FEWEST_ROWS = 20
"""In a table with fewer rows, values that never repeat say little."""
_ROWS_EACH = 1.2
"""A key that is in so many rows on average names people with several rows."""
_FEWEST_NAMES = 0.05
"""Values of what names people (telephones, surnames) are at least this share of the records; services and flags are fewer."""
_GAPS = 1.5
"""Numbers that count rows span at most so many times their number."""
_DIGITS_OF_KEYS = 6
_FEWEST_OWN_NAMES = 5
"""Fewer different values than this are not names of people, whatever their column is called."""
_FEWEST_PEOPLE = 0.005
"""Different values of a key of people are at least this share of the records: nobody has more than 200 rows on average."""
_DATES = frozenset({"date", "time"})
_NUMBERS = frozenset({"number", "whole number"})
_MOST_CODES = 30
"""More whole numbers than this are a quantity, whatever the name says."""
_HEAVIEST = 650.0
"""Kilograms or pounds that no body weighs: larger weights count people."""


@dataclass(frozen=True)
class Numbers:
    """What is seen of the numbers in a column."""

    least: float
    mean: float
    most: float


@dataclass(frozen=True)
class Guess:
    """The likely role of a column, and what speaks for it."""

    role: Role
    reason: str
    unit: Unit = ""
    evidence: tuple[str, ...] = ()
    """What each witness says: name, values, behaviour."""


def guess_role(name: str, kind: str, distinct: int, records: int, numbers: Numbers | None = None) -> tuple[Role, str]:
    """Return the likely role of a column, and why."""
    found = guess(name, kind, distinct, records, numbers)
    return found.role, found.reason


def guess(
    name: str, kind: str, distinct: int, records: int, numbers: Numbers | None = None, texts: Sequence[str] = ()
) -> Guess:
    """Return the likely role of a column by its name, its type, how often its values repeat, and its distinct ``texts``."""
    found = _by_name(name, kind, distinct, records, numbers)
    told = topic_of_values(texts) if kind == "text" and found.role != "identifier" else None
    if told is None:
        return found
    topic, reason = told
    if found.reason == UNSURE:
        return Guess(topic.role, reason, evidence=(reason, *found.evidence[1:]))
    return replace(found, evidence=(*found.evidence, reason))


def _by_name(name: str, kind: str, distinct: int, records: int, numbers: Numbers | None) -> Guess:
    """Return the likely role of a column by its name, its type and how often its values repeat."""
    words = [part for word in words_of(name) for part in (word, *parts_of(word))]
    if len(words) > 1:
        words = [word for word in words if word not in ALONE]
    joined = "".join(words_of(name))
    naming = next((word for word in (*words, joined) if word in NAMES), None)
    enough = kind in {"text", "whole number", "yes/no"} and records >= _FEWEST_ROWS
    unique = enough and kind != "yes/no" and distinct >= _NEARLY_ALL * records
    behaviour = _behaviour(distinct, records)

    def told(role: Role, reason: str, unit: Unit = "") -> Guess:
        return Guess(role, reason, unit, (reason, behaviour) if behaviour else (reason,))

    weight = _weight_word(words, kind, numbers)
    if weight:
        return told("other", f"name: {weight} (survey weight)", "weight")
    turned = _turned(words)
    if words[-1:] in (["first"], ["last"]) and len(words) > 1 and _names_people(distinct, records):
        naming = words[-1]
    if naming and kind == "text" and distinct > _FEWEST_OWN_NAMES and not turned:
        return told("identifier", f"name: {naming} (name of a person)")
    household = None if turned else _household_word(words, joined, kind, distinct, records)
    if household and not unique:
        return told("identifier", f"name: {household} (household)", "household")
    key, found = (None if turned or kind == "number" else _key_of(words, joined)), _topic_of(words, kind, turned=turned)
    if found and found[0].role == "identifier" and (kind == "number" or not _names_people(distinct, records)):
        key, found = None, _topic_of(words, kind, turned=True)
    last = next(reversed(words_of(name)), "")
    if unique and not turned and last.endswith("id"):
        return told("identifier", f"name: {last}")
    if enough and last == "id" and not turned and distinct >= max(_FEWEST_ROWS, _FEWEST_NAMES * records):
        whose = bool(PERSONS & set(words)) or found is None
        return told("identifier", f"name: {last}", "person" if whose and _repeats(distinct, records) else "")
    if key and (found is None or unique or key in PERSON_KEYS):
        return _key_guess(key, distinct, records, told)
    if found:
        return told(found[0].role, f"name: {found[1]} ({found[0].name})", _unit_of(found[0], distinct, records))
    if HARMLESS & set(words):
        return told("other", "about the table, not the person")
    if unique and not turned and not SPANS & set(words) and _may_be_keys(kind, records, numbers):
        return told("identifier", "hardly repeats")
    if kind in _DATES:
        return told("quasi-identifier", "a date")
    return told("other", UNSURE)


def _key_guess(key: str, distinct: int, records: int, told: Callable[..., Guess]) -> Guess:
    """Return the role of a column whose name is that of a key: a key is unique, or repeats over the rows of a person."""
    if key in {"name", "names"}:  # several people share one
        return told("identifier", f"name: {key}")
    known = key in PERSON_KEYS and distinct >= _FEWEST_PEOPLE * records
    if _repeats(distinct, records) and (known or _names_people(distinct, records)):
        return told("identifier", f"name: {key}", "person")
    if records >= _FEWEST_ROWS and not _names_people(distinct, records) and not known:
        return told("other", UNSURE)
    return told("identifier", f"name: {key}")


def _unit_of(topic: Topic, distinct: int, records: int) -> Unit:
    return "person" if topic.name == "number of a person" and _repeats(distinct, records) else ""


def _repeats(distinct: int, records: int) -> bool:
    return distinct > 1 and records >= _ROWS_EACH * distinct


def _names_people(distinct: int, records: int) -> bool:
    """Return whether the values of a column are enough to name people."""
    return records < _FEWEST_ROWS or distinct >= _FEWEST_NAMES * records


def _may_be_keys(kind: str, records: int, numbers: Numbers | None) -> bool:
    """Return whether values that hardly repeat may be keys: numbers are only if they count the rows or have many digits, all as many."""
    if kind != "whole number" or numbers is None:
        return True
    digits = {len(str(int(end))) for end in (numbers.least, numbers.most)}
    counted = numbers.most - numbers.least < _GAPS * records
    return counted or (len(digits) == 1 and digits.pop() >= _DIGITS_OF_KEYS and numbers.least > 0)


def _behaviour(distinct: int, records: int) -> str:
    if not records or not distinct:
        return ""
    if distinct >= _NEARLY_ALL * records:
        return "values hardly repeat"
    return f"each value is in {records / distinct:.1f} rows"


def _turned(words: Sequence[str]) -> bool:
    """Return whether a name counts something or measures a span of time, so that what it names is not in the column."""
    return (len(words) > 1 and words[0] in COUNTING) or _is_span(words)


def _is_span(words: Sequence[str]) -> bool:
    return bool(SPANS & set(words)) and bool(BETWEEN & set(words))


def _weight_word(words: Sequence[str], kind: str, numbers: Numbers | None) -> str | None:
    """Return the word by which a column holds survey weights."""
    if kind not in _NUMBERS:
        return None
    word = next((word for word in words if _is_weight(word)), None)
    if word:
        return word
    plain = next((word for word in words if word in {"weight", "weights", "wt", "gewicht"}), None)
    if plain and (SURVEYS & set(words) or _weighs_people(numbers)):
        return plain
    return None


def _is_weight(word: str) -> bool:
    """Return whether a word is the name of a survey weight: one that is known, or one that ends in ``wt``."""
    ends = word.endswith("wt") and len(word) > len("hwt") and word not in VOCABULARY
    return word in WEIGHT_WORDS or ends or any(stem in word for stem in WEIGHT_STEMS)


def _weighs_people(numbers: Numbers | None) -> bool:
    """Return whether numbers called weights are those of records: about 1 on average, or more than anybody weighs."""
    if numbers is None or numbers.least < 0:
        return False
    return numbers.most > _HEAVIEST or (0.8 <= numbers.mean <= 1.25 and numbers.most < 20)


def _household_word(words: Sequence[str], joined: str, kind: str, distinct: int, records: int) -> str | None:
    """Return the words by which a column names households."""
    if joined in HOUSEHOLD_KEYS:
        return joined
    if kind == "text" and joined in HOUSEHOLDS and distinct >= max(_FEWEST_ROWS, _FEWEST_NAMES * records):
        return joined
    about, key = HOUSEHOLDS & set(words), {"id", "nr", "no", "number", "key", "num"} & set(words)
    return " ".join(words) if about and key and not _turned(words) else None


def _key_of(words: Sequence[str], joined: str) -> str | None:
    """Return the word by which a name says that it is a person's key."""
    if joined in PERSON_KEYS:
        return joined
    if joined in PERSONS:
        return joined
    own = [word for word in words if word in KEYS or any(stem in word for stem in KEY_STEMS)]
    return own[-1] if own else None


def _topic_of(words: Sequence[str], kind: str, *, turned: bool = False) -> tuple[Topic, str] | None:
    """Return the topic of a name, with the word that shows it; any date is something that others may have seen."""
    tiers: list[Sequence[Topic]] = (
        [KNOWN, PERHAPS_KNOWN, SENSITIVE] if kind in _DATES else [KNOWN, SENSITIVE, PERHAPS_KNOWN]
    )
    if _is_span(words):
        tiers = [SENSITIVE]
    if not turned:
        tiers.insert(0, NAMING)
    return next(_by_words(words, tiers), None) or next(_by_stems("".join(words), tiers), None)


def _by_words(words: Sequence[str], tiers: Sequence[Sequence[Topic]]) -> Iterator[tuple[Topic, str]]:
    return ((topic, word) for tier in tiers for topic in tier for word in words if word in topic.words)


def _by_stems(joined: str, tiers: Sequence[Sequence[Topic]]) -> Iterator[tuple[Topic, str]]:
    return ((topic, stem) for tier in tiers for topic in tier for stem in topic.stems if stem in joined)


def is_coded_category(name: str, kind: str, distinct: int) -> bool:
    """Return whether whole numbers look like codes for categories, of which a range means nothing: religion 1 to 6, 0/1."""
    if kind != "whole number" or not 2 <= distinct <= _MOST_CODES:
        return False
    words = words_of(name)
    found = _topic_of(words, kind)
    return distinct == 2 or bool(found and found[0].category and not QUANTITIES & set(words))


def is_postcode(name: str) -> bool:
    """Return whether a name is that of postal codes, whose first digits group places: a range of them means nothing."""
    return bool(POSTCODES & {*words_of(name), "".join(words_of(name))})
