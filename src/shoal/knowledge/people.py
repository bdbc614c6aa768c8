"""Names of people, by public lists of frequent ones."""

from __future__ import annotations

import re
from functools import cache

from shoal.knowledge.reading import fold
from shoal.knowledge.tables import lines

_MOST_WORDS = 4
_CAPITAL = re.compile(r"[A-ZÀ-Þ][\w'’-]+")


@cache
def _listed(name: str) -> frozenset[str]:
    return frozenset(" ".join(lines(name)).split())


def is_name(text: str) -> bool:
    """Return whether a whole text is like a person's name: one listed word, or up to four with a given name and a surname."""
    words = [word for word in fold(text).split() if len(word) > 1]
    if not 0 < len(words) <= _MOST_WORDS:
        return False
    first, last = (sum(word in _listed(name) for word in words) for name in ("first_names.txt", "surnames.txt"))
    return bool(first or last) if len(words) == 1 else bool(first) and first + last >= 2


def holds_name(text: str) -> bool:
    """Return whether two capitalized words that follow each other are a listed given name and a listed surname."""
    one, other = (fold(word) for word in _CAPITAL.findall(text)[:2])
    return one in _listed("first_names.txt") and other in _listed("surnames.txt")
