"""Names of columns that SPSS, Stata and SAS can hold."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_SPSS_WORDS = frozenset(["all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to", "with"])
_STATA_WORDS = frozenset(
    [
        "_all",
        "_b",
        "byte",
        "_coef",
        "_cons",
        "double",
        "float",
        "if",
        "in",
        "int",
        "long",
        "_n",
        "_pi",
        "_pred",
        "_rc",
        "_skip",
        "strl",
        "using",
        "with",
    ]
)
_STATA_TEXT = re.compile(r"str\d+")
_LETTERS = {"ß": "ss", "æ": "ae", "ø": "o", "Æ": "AE", "Ø": "O", "ł": "l", "Ł": "L"}


@dataclass(frozen=True)
class _Rule:
    """What a format allows."""

    signs: str
    """A class of a regular expression: the signs of a name."""
    longest: int
    measure: Callable[[str], int] = len
    words: frozenset[str] = frozenset()
    first: str = "_"
    """What a name may begin with, apart from a letter."""
    plain: bool = False
    """Only letters without accents."""


_RULES = {
    ".sav": _Rule(r"\w.$#@", 64, lambda name: len(name.encode()), _SPSS_WORDS, "@"),
    ".dta": _Rule(r"\w", 32, len, _STATA_WORDS),
    ".xpt": _Rule(r"\w", 8, len, plain=True),
    ".v8xpt": _Rule(r"\w", 32, len, plain=True),
}
_RULES[".zsav"] = _RULES[".sav"]


def fitting_names(names: Sequence[str], suffix: str) -> dict[str, str]:
    """Return a name that a format can hold for each that it cannot; no two are equal, whatever their capitals.

    Examples
    --------
    >>> fitting_names(["age", "Kosten €", "kosten"], ".sav")
    {'Kosten €': 'Kosten_2'}
    """
    rule = _RULES.get(suffix)
    if rule is None:
        return {}
    changed: dict[str, str] = {}
    taken = {name.casefold() for name in names if _fit(name, rule) == name}
    seen: set[str] = set()
    for name in names:
        fits = _fit(name, rule)
        if fits == name and name.casefold() not in seen:
            seen.add(name.casefold())
            continue
        number, chosen = 2, fits
        while chosen.casefold() in taken | seen:
            ending = f"_{number}"
            chosen, number = _cut(fits, rule, len(ending)) + ending, number + 1
        changed[name] = chosen
        seen.add(chosen.casefold())
    return changed


def _fit(name: str, rule: _Rule) -> str:
    """Return a name with nothing in it that the format cannot hold."""
    fits = name
    if rule.plain:
        spelled = "".join(_LETTERS.get(sign, sign) for sign in name)
        fits = unicodedata.normalize("NFKD", spelled).encode("ascii", "ignore").decode()
    fits = re.sub(rf"[^{rule.signs}]+", "_", fits)
    if fits != name:
        fits = fits.strip("_") or "column"
    if not (fits[0].isalpha() or fits[0] in rule.first):
        fits = f"v{fits}"
    fits = _cut(fits, rule).rstrip("." if "." in rule.signs else "")
    return (
        f"{fits}_"
        if fits.casefold() in rule.words or (rule.words is _STATA_WORDS and _STATA_TEXT.fullmatch(fits))
        else fits
    )


def _cut(name: str, rule: _Rule, room: int = 0) -> str:
    while rule.measure(name) > rule.longest - room:
        name = name[:-1]
    return name
