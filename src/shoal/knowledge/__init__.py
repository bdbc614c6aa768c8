"""What shoal knows about the world: countries and postcodes, diagnoses and medicines, occupations, languages, days.

``recognize`` says what the texts of a column are, and the groups above each of them. Packages that carry their data (extra ``knowledge``)
add what small tables cannot hold; nothing asks the network. ``hierarchy`` calls it; it knows neither tables nor hierarchies.
``data/SOURCES.md`` lists the sources of the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from shoal.knowledge.days import read_currencies, read_languages, read_month_names, read_weekdays
from shoal.knowledge.health import read_atc, read_icd9, read_icd10
from shoal.knowledge.people import holds_name, is_name
from shoal.knowledge.places import read_countries, read_nuts, read_postcodes, read_states
from shoal.knowledge.reading import Reading, fold
from shoal.knowledge.work import read_isco, read_job_titles, read_nace, read_soc

__all__ = ["Reading", "fold", "holds_name", "is_name", "recognize", "recognize_by_name"]

_PACKS: tuple[Callable[[Sequence[str]], Reading | None], ...] = (
    read_weekdays,
    read_month_names,
    read_countries,
    read_states,
    read_languages,
    read_currencies,
    read_soc,
    read_atc,
    read_nace,
    read_icd10,
    read_icd9,
    read_nuts,
    read_postcodes,
    read_job_titles,
)
"""In order of preference, if two recognize as many of the values."""


def recognize(texts: Sequence[str]) -> Reading | None:
    """Return what the texts of a column are; of several readings the one that recognizes most of them."""
    packs = _PACKS
    if texts and all(
        text.islower() and len(text) < 4 for text in texts
    ):  # de, fr, it: codes of countries are written large
        packs = (read_languages, *(pack for pack in _PACKS if pack is not read_languages))
    found = [reading for pack in packs if (reading := pack(texts)) is not None]
    return max(found, key=lambda reading: reading.share, default=None)


def recognize_by_name(name: str, texts: Sequence[str]) -> Reading | None:
    """Return what codes are that only the name of their column explains: 2221 in a column ``isco``."""
    words = fold(name).split()
    if any(word.startswith("isco") for word in words):
        return read_isco(texts)
    if any(word.startswith("nace") for word in words):
        return read_nace(texts, named=True)
    return None
