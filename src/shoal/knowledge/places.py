"""Places: countries, states of the United States, NUTS regions, postcodes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

from shoal.knowledge.reading import Reading, enough, fold, make_reading
from shoal.knowledge.tables import lines, rows

Groups = tuple[str, ...]

NUTS_COUNTRIES = frozenset(
    [
        "AT",
        "BE",
        "BG",
        "CH",
        "CY",
        "CZ",
        "DE",
        "DK",
        "EE",
        "EL",
        "ES",
        "FI",
        "FR",
        "HR",
        "HU",
        "IE",
        "IS",
        "IT",
        "LI",
        "LT",
        "LU",
        "LV",
        "ME",
        "MK",
        "MT",
        "NL",
        "NO",
        "PL",
        "PT",
        "RO",
        "RS",
        "SE",
        "SI",
        "SK",
        "TR",
        "UK",
        "AL",
    ]
)
_NUTS = re.compile(r"([A-Z]{2})[0-9A-Z]{1,3}")
_UK = re.compile(r"([A-Z]{1,2})(\d[0-9A-Z]?)(?:\s*(\d)[A-Z]{2})?")
_CANADA = re.compile(r"([ABCEGHJ-NPRSTVXY])(\d)([A-Z])(?:[ -]?\d[A-Z]\d)?")
_NETHERLANDS = re.compile(r"([1-9]\d)(\d\d) ?[A-Z]{2}")
_DIGITS = re.compile(r"(?:[A-Z]{1,2}-)?(?P<first>\d{2,5})[- ]?(?P<rest>\d{0,4})")


def read_countries(texts: Sequence[str]) -> Reading | None:
    """Read names and ISO codes of countries: their regions and continents, as the statistics of the United Nations have them (M49)."""
    known = _countries()
    found = {text: country for text in texts if (country := known.get(fold(text))) is not None}
    if not enough(len(found), texts):
        return None
    groups = {text: _distinct(text, (one["region"], one["continent"])) for text, one in found.items()}
    titles = {text: one["name"] for text, one in found.items() if fold(text) != fold(one["name"])}
    return make_reading("countries by region of the United Nations", texts, groups, titles=titles)


@cache
def _countries() -> dict[str, Mapping[str, str]]:
    """Return each country by its folded names and codes; numeric codes keep their zeros."""
    known: dict[str, Mapping[str, str]] = {}
    for row in reversed(rows("countries.csv")):
        for word in (*row["names"].split("|"), row["numeric"], row["alpha3"], row["alpha2"], row["name"]):
            if word:
                known[fold(word)] = row
    return known


def _distinct(text: str, labels: Groups) -> Groups:
    """Leave out labels that repeat, or that are called like the value below them."""
    return tuple(dict.fromkeys(label for label in labels if label != text))


def read_states(texts: Sequence[str]) -> Reading | None:
    """Read states of the United States by name or code: their divisions and regions, as the Census Bureau has them."""
    known = _states()
    found = {text: state for text in texts if (state := known.get(fold(text))) is not None}
    if not enough(len(found), texts):
        return None
    groups = {text: _distinct(text, (division, region)) for text, (_, division, region) in found.items()}
    titles = {text: name for text, (name, _, _) in found.items() if fold(name) != fold(text)}
    return make_reading("states of the United States by division", texts, groups, titles=titles)


@cache
def _states() -> dict[str, tuple[str, str, str]]:
    known: dict[str, tuple[str, str, str]] = {}
    for line in lines("states.txt"):
        region, division, states = (part.strip() for part in line.split(";"))
        for state in states.split("|"):
            code, name = state.split(" ", 1)
            known[fold(code)] = known[fold(name)] = (name, division, region)
    return known


def read_nuts(texts: Sequence[str]) -> Reading | None:
    """Read NUTS regions of the European Union by their code: each digit more is a smaller region."""
    found = {
        text: code
        for text in texts
        if (match := _NUTS.fullmatch(code := text.strip().upper())) and match[1] in NUTS_COUNTRIES
    }
    long = sum(len(code) > 3 for code in found.values())
    countries = {code[:2] for code in found.values()}
    if not enough(len(found), texts, 3) or not long or (len(countries) == 1 and len(found) < 5):
        return None
    depth = max(map(len, found.values()))
    groups = {
        text: tuple(f"{code[:length]}{'*' * (depth - length)}" for length in range(len(code) - 1, 1, -1))
        for text, code in found.items()
    }
    return make_reading("NUTS regions", texts, groups)


def read_postcodes(texts: Sequence[str]) -> Reading | None:
    """Read postcodes by the structure they have in their country; those of digits alone are plain codes."""
    for what, groups_of in _POSTCODES.items():
        found = {text: groups for text in texts if (groups := groups_of(text.strip().upper())) is not None}
        if enough(len(found), texts, 3):
            return make_reading(what, texts, found)
    return None


def _british(text: str) -> Groups | None:
    """From SW1A 1AA to the sector SW1A 1, the district SW1A and the area SW."""
    match = _UK.fullmatch(text)
    if match is None or not match[3]:
        return None
    district = match[1] + match[2]
    return (f"{district} {match[3]}**", f"{district} ***", f"{match[1]}*")


def _canadian(text: str) -> Groups | None:
    match = _CANADA.fullmatch(text)
    if match is None or len(text) < 6:
        return None
    return (f"{match[1]}{match[2]}{match[3]} ***", f"{match[1]}{match[2]}* ***", f"{match[1]}** ***")


def _dutch(text: str) -> Groups | None:
    match = _NETHERLANDS.fullmatch(text)
    return (f"{match[1]}{match[2]} **", f"{match[1]}** **", f"{match[1][0]}*** **") if match else None


def _of_digits(text: str) -> Groups | None:
    """Read 00-950, 1000-001, 100-0001, 01310-100, 12345-6789, 114 55, D-10115 and CH-8001: from the left, digit by digit."""
    match = _DIGITS.fullmatch(text)
    digits = match and match["first"] + match["rest"]
    if not match or not digits or text.isdigit() or not (4 if text[0].isalpha() else 5) <= len(digits) <= 9:
        return None
    return tuple(digits[:length].ljust(len(digits), "*") for length in _steps(len(digits)))


def _steps(length: int) -> Iterator[int]:
    """Return how many digits are left at each step; the last four of nine go together."""
    return iter(range(5 if length == 9 else length - 1, 0, -1))


_POSTCODES: dict[str, Callable[[str], Groups | None]] = {
    "postcodes of the United Kingdom": _british,
    "postcodes of Canada": _canadian,
    "postcodes of the Netherlands": _dutch,
    "postcodes": _of_digits,
}
