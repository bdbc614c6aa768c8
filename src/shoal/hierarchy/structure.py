"""Texts that carry their groups in themselves: paths, codes, addresses, times of day, places on a map."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Sequence
from ipaddress import ip_address, ip_network

from shoal.knowledge.reading import Reading, enough, make_reading

Groups = tuple[str, ...]
_MARKS = ("/", "\\", ">", "::", "|")
"""What separates the parts of a path."""
_CODE = re.compile(r"[A-Za-z]{0,4}\d[0-9A-Za-z]*(?:[.\-/ ][0-9A-Za-z]+)*")
_SPAN = re.compile(r"\d{1,3}-\d{1,3}")
"""More likely from one number to another than a code."""
_MOST_LETTERS_OF_CODE = 16
_GEOHASH = re.compile(r"[0-9b-hjkmnp-z]{4,12}")
_MAIL = re.compile(r"[^@\s]+@((?:[\w\-]+\.)+[A-Za-z]{2,})")
_URL = re.compile(r"(?:[a-z][a-z0-9+.\-]*://|www\.)[^\s/?#]+[^\s]*", re.IGNORECASE)
_HOST = re.compile(r"^(?:[a-z][a-z0-9+.\-]*://)?(?:[^@/]*@)?([^/:?#]+)(?::\d+)?(/[^/?#]+)?", re.IGNORECASE)
_CLOCK = re.compile(
    r"(?P<hour>\d{1,2}):(?P<minute>[0-5]\d)(?::[0-5]\d(?:\.\d+)?)?(?:\s*(?P<half>[ap])\.?m\.?)?", re.IGNORECASE
)
_POINT = re.compile(r"\(?\s*(-?\d{1,2}\.\d+)\s*[,; ]\s*(-?\d{1,3}\.\d+)\s*\)?")
_PARTS_OF_DAY = ("00:00-05:59 (night)", "06:00-11:59 (morning)", "12:00-17:59 (afternoon)", "18:00-23:59 (evening)")


def read_structure(texts: Sequence[str]) -> Reading | None:
    """Return the groups that the texts of a column carry in themselves; None if they carry none."""
    for what, groups_of in _BY_TEXT.items():
        found = {text: groups for text in texts if (groups := groups_of(text.strip())) is not None}
        if enough(len(found), texts) and _useful(found):
            return _apart(what, texts, found)
    return _read_paths(texts) or _read_codes(texts)


def _useful(found: dict[str, Groups]) -> bool:
    """Return whether at least two texts share a group."""
    count = Counter(label for groups in found.values() for label in groups)
    return max(count.values(), default=0) > 1 or len(found) == 1


def _apart(what: str, texts: Sequence[str], groups: dict[str, Groups]) -> Reading:
    """Return the reading, with groups that are called like a value renamed."""
    values = set(texts)
    renamed = {
        text: tuple(f"{label} …" if label in values else label for label in labels) for text, labels in groups.items()
    }
    return make_reading(what, texts, renamed)


# --- each text by itself -----------------------------------------------------------------------------------------


def _mail(text: str) -> Groups | None:
    match = _MAIL.fullmatch(text)
    if match is None:
        return None
    domain = match[1].lower()
    return (f"@{domain}", f"@*.{domain.rpartition('.')[2]}")


def _url(text: str) -> Groups | None:
    if _URL.fullmatch(text) is None:
        return None
    match = _HOST.match(text)
    if match is None:
        return None
    host = match[1].lower().removeprefix("www.")
    site = ".".join(host.split(".")[-2:])
    folder = (f"{host}{match[2]}/*",) if match[2] else ()
    above = (f"{host}/*",) if host == site else (f"{host}/*", f"*.{site}")
    return (*folder, *above, f"*.{site.rpartition('.')[2]}")


def _ip(text: str) -> Groups | None:
    if text.count(".") != 3 and ":" not in text:
        return None
    try:
        address = ip_address(text)
    except ValueError:
        return None
    lengths = (24, 16, 8) if address.version == 4 else (64, 48, 32)
    return tuple(str(ip_network((address, length), strict=False)) for length in lengths)


def _clock(text: str) -> Groups | None:
    match = _CLOCK.fullmatch(text)
    if match is None:
        return None
    hour = int(match["hour"])
    if match["half"]:
        hour = hour % 12 + (12 if match["half"].lower() == "p" else 0)
    if hour > 23:
        return None
    half = "00-29" if int(match["minute"]) < 30 else "30-59"
    return (f"{hour:02d}:{half[:2]}-{hour:02d}:{half[3:]}", f"{hour:02d}:00-{hour:02d}:59", _PARTS_OF_DAY[hour // 6])


def _point(text: str) -> Groups | None:
    """Put a pair of coordinates into cells of a tenth of a degree, one degree and ten degrees."""
    match = _POINT.fullmatch(text)
    if match is None:
        return None
    latitude, longitude = float(match[1]), float(match[2])
    if abs(latitude) > 90 or abs(longitude) > 180:
        return None
    return tuple(f"cell {_cell(latitude, step)}, {_cell(longitude, step)}" for step in (1, 10, 100))


def _cell(degrees: float, tenths: int) -> str:
    """Return the interval of so many tenths of a degree that contains a coordinate."""
    start = int(degrees * 10 // tenths) * tenths
    return f"{start / 10:g} to {(start + tenths) / 10:g}"


_BY_TEXT: dict[str, Callable[[str], Groups | None]] = {
    "e-mail addresses by domain": _mail,
    "addresses of the web by site": _url,
    "addresses of networks by network": _ip,
    "times of day by hour": _clock,
    "coordinates by cell of a grid": _point,
}

# --- paths -------------------------------------------------------------------------------------------------------


def _read_paths(texts: Sequence[str]) -> Reading | None:
    """Read ``a/b/c``: everything below ``a/b`` is together, and everything below ``a``."""
    for mark in _MARKS:
        parts = {
            text: [part.strip() for part in text.strip().strip(mark).split(mark)] for text in texts if mark in text
        }
        words = all(any(sign.isalpha() for sign in "".join(path)) for path in parts.values())
        if parts and words and len(parts) >= 0.5 * len(texts) and _branch([*parts.values()]):
            for text in texts:
                parts.setdefault(text, [text.strip()])
            groups = {text: _prefixes(path, mark) for text, path in parts.items()}
            return _apart("paths", texts, groups)
    return None


def _branch(paths: Sequence[Sequence[str]]) -> bool:
    """Return whether paths begin alike: at least half of them share their first part with another."""
    first = Counter(path[0] for path in paths)
    shared = sum(count for count in first.values() if count > 1)
    return len(paths) > 2 and shared >= 0.5 * len(paths) and all(all(path) for path in paths)


def _prefixes(path: Sequence[str], mark: str) -> Groups:
    """Return the groups of a path; a path of one part is in its own group, which may hold longer paths too."""
    depth = max(len(path) - 1, 1)
    return tuple(f"{mark.join(path[:length])}{mark}*" for length in range(depth, 0, -1))


# --- codes -------------------------------------------------------------------------------------------------------


def _read_codes(texts: Sequence[str]) -> Reading | None:
    """Read codes of unequal length by the prefixes at which they branch: E11, E119, E12 by E11* and E1*."""
    zeros = any(
        text.strip().startswith("0") and len(text.strip()) > 1 for text in texts
    )  # digits that are not a number
    good = {text: text.strip() for text in texts if _is_code(text.strip(), digits=zeros)}
    if not enough(len(good), texts, 3):
        return None
    if len({code.upper() for code in good.values()}) == len(set(good.values())):
        good = {text: code.upper() for text, code in good.items()}
    branching = _branching(sorted(set(good.values())))
    groups = {
        text: tuple(f"{code[:length]}*" for length in range(len(code), 0, -1) if code[:length] in branching)
        for text, code in good.items()
    }
    return _apart("codes by their first characters", texts, groups) if _useful(groups) else None


def _is_code(text: str, *, digits: bool) -> bool:
    """Return whether a text looks like a code; one of digits alone only if such texts are not numbers."""
    if len(text) > _MOST_LETTERS_OF_CODE or (text.isdigit() and not digits) or _SPAN.fullmatch(text):
        return False
    if _CODE.fullmatch(text) is not None:
        return True
    return _GEOHASH.fullmatch(text) is not None and any(map(str.isdigit, text))


def _branching(codes: Sequence[str]) -> set[str]:
    """Return the prefixes at which at least two codes part, or at which one ends and another goes on."""
    found: set[str] = set()
    for one, two in itertools.pairwise(codes):  # sorted: neighbours share the longest prefixes
        length = next(
            (place for place, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two))
        )
        if prefix := one[:length].rstrip(".-/ "):
            found.add(prefix)
    return found
