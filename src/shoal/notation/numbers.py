"""Numbers as people write them: decimal point or comma, and marks between thousands."""

from __future__ import annotations

import re
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from shoal.notation.settings import Notation

_LONGEST_INTEGER = 18
"""Whole numbers with more digits do not fit 64 bits; they are codes and stay text."""
_MARK_WORDS = {".": "point", ",": "comma", " ": "space", "'": "apostrophe"}


class NumberForm(NamedTuple):
    """A way to write numbers."""

    decimal: str
    thousands: str

    def words(self, *, whole: bool) -> str:
        """Return the form in words; whole numbers have no decimal mark."""
        decimal = "" if whole else f"decimal {_MARK_WORDS[self.decimal]}"
        thousands = f"thousands {_MARK_WORDS[self.thousands]}" if self.thousands else ""
        return " and ".join(filter(None, (decimal, thousands)))


PLAIN = NumberForm(".", "")
_FORMS = (
    PLAIN,
    NumberForm(",", ""),
    *(NumberForm(decimal, thousands) for decimal in ".," for thousands in ".,' " if decimal != thousands),
)
_SAMPLE = 20
"""So many texts are looked at first; most forms are ruled out by them."""


def tidy(texts: pa.Array) -> pa.Array:
    """Return texts without blanks around them, and with plain blanks, apostrophes and minus signs inside."""
    texts = pc.utf8_trim_whitespace(texts)
    if pc.all(pc.string_is_ascii(texts)).as_py():
        return texts
    for pattern, plain in (("[\u00a0\u2009\u202f]", " "), ("[\u2019]", "'"), ("[\u2212]", "-")):
        texts = pc.replace_substring_regex(texts, pattern, plain)
    return texts


def number_forms(texts: pa.Array, notation: Notation) -> list[NumberForm]:
    """Return the forms in which every text can be read, of those the user allows."""
    return [form for form in _FORMS if _allowed(form, notation) and _fits(texts, form)]


def _allowed(form: NumberForm, notation: Notation) -> bool:
    decimal = notation.decimal in {None, form.decimal}
    return decimal and (
        notation.thousands is None
        or (form.thousands in {"", notation.thousands} and form.decimal != notation.thousands)
    )


def _fits(texts: pa.Array, form: NumberForm) -> bool:
    pattern = _pattern(form)
    first = texts[: min(len(texts), _SAMPLE)].to_pylist()
    return all(re.match(pattern, text) for text in first) and bool(
        pc.all(pc.match_substring_regex(texts, pattern)).as_py()
    )


def _pattern(form: NumberForm) -> str:
    """Return the pattern of numbers in this form; with a leading zero they are codes, not numbers."""
    point, comma = re.escape(form.decimal), re.escape(form.thousands)
    whole = "(0|[1-9][0-9]*" + (f"|[1-9][0-9]{{0,2}}({comma}[0-9]{{3}})+" if form.thousands else "") + ")"
    return f"^-?({whole}({point}[0-9]*)?|{point}[0-9]+)([eE][+-]?[0-9]{{1,3}})?$"


def read_numbers(texts: pa.Array, form: NumberForm) -> pa.Array | None:
    """Return texts that fit a form as whole numbers or decimals; None if a whole number is too long."""
    if form.thousands:
        texts = pc.replace_substring(texts, form.thousands, "")
    if form.decimal != ".":
        texts = pc.replace_substring(texts, form.decimal, ".")
    if pc.any(pc.match_substring_regex(texts, f"^-?[0-9]{{{_LONGEST_INTEGER + 1},}}$")).as_py():
        return None
    whole = not pc.any(pc.match_substring_regex(texts, "[.eE]")).as_py()
    return texts.cast(pa.int64() if whole else pa.float64())
