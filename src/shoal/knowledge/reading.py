"""What the texts of a column were recognized as."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

LEAST_SHARE = 0.8
"""Share of the different texts that must be recognized; the others are placed directly below the root, and listed."""


@dataclass(frozen=True)
class Reading:
    """Groups above the texts of a column, and what is known about them besides."""

    what: str
    """What the texts are, as in "countries by region of the United Nations"."""
    groups: Mapping[str, tuple[str, ...]]
    """The groups above each recognized text, from the smallest to the largest, the root left out."""
    order: tuple[str, ...] = ()
    """All recognized texts from the least to the greatest, if they have an order."""
    titles: Mapping[str, str] = field(default_factory=dict)
    """What codes and groups stand for in words: E11 is type 2 diabetes mellitus."""
    unknown: tuple[str, ...] = ()
    """Texts that were not recognized."""
    learned: bool = False
    """Whether groups were learned from the data."""

    @property
    def share(self) -> float:
        """The share of the texts that were recognized."""
        return len(self.groups) / max(len(self.groups) + len(self.unknown), 1)


def fold(text: str) -> str:
    """Return a text without case, accents, dots, and with one space wherever other signs are."""
    plain = unicodedata.normalize("NFKD", text.casefold().replace("ß", "ss"))
    letters = "".join(sign for sign in plain if not unicodedata.combining(sign)).replace(".", "").replace("'", "")
    return re.sub(r"[\W_]+", " ", letters).strip()


def enough(found: int, texts: Sequence[str], least: int = 2) -> bool:
    """Return whether so many recognized texts of a column make what was recognized believable."""
    return found >= min(least, len(texts)) and found >= LEAST_SHARE * len(texts)


def make_reading(
    what: str,
    texts: Iterable[str],
    groups: Mapping[str, tuple[str, ...]],
    *,
    order: Sequence[str] = (),
    titles: Mapping[str, str] | None = None,
) -> Reading:
    """Return the reading of ``texts`` of which those in ``groups`` are recognized."""
    unknown = tuple(text for text in texts if text not in groups)
    return Reading(what, groups, () if unknown else tuple(order), dict(titles or {}), unknown)
