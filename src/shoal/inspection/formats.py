"""Identifiers by their values, wherever they occur: addresses, telephones and numbers with check digits, in whole cells and inside text.

Only counts leave this module. A number counts as one of a kind only if its check digit fits, and a column only if most of its values are of that
kind: of random digits one in ten to one in ninety-seven fits by chance.
"""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from shoal.frames import Frame, is_nested
from shoal.frames.canonical import encode_dictionary
from shoal.knowledge import holds_name, is_name

_LOOKED_AT = 3_000
"""Distinct values of a column that are looked at, spread over all."""
_MOST = 0.5
"""Share of the values that must be of a kind for a whole column to be."""
_FEWEST_INSIDE = 1
_FEWEST_UNCERTAIN = 3
UNCERTAIN = frozenset({"name of a person", "number plate", "telephone number", "street address"})
"""Kinds without a check digit, whose form other values may have: they do not overrule what the name of a column says."""
_FEWEST_FOR_ROLE = 10
"""Fewer different values than this do not decide the role of a column: two phone numbers may be those of a help line."""


@dataclass(frozen=True)
class Format:
    """One kind of identifier."""

    name: str
    pattern: re.Pattern[str]
    fits: Callable[[str], bool] = lambda _: True
    inside: bool = False
    """Whether it differs from other text enough to be looked for inside sentences."""


@dataclass(frozen=True)
class ValueFinding:
    """Identifiers found in a column; no value."""

    column: str
    format: str
    values: int
    """Distinct values, of those looked at, that are of the kind or hold one."""
    looked_at: int
    inside: bool
    """They are inside other text."""


def find_identifiers(frame: Frame) -> list[ValueFinding]:
    """Return the kinds of identifiers that the values of a table are, or hold."""
    found = []
    for name in frame.names:
        if not is_nested(frame.table.schema.field(name).type):
            found += _in_column(name, _texts(frame, name))
    return found


def _texts(frame: Frame, name: str) -> list[str]:
    """Return some distinct values of a column of text or whole numbers, as text."""
    values = encode_dictionary(frame.cells(name)).dictionary
    if not (pa.types.is_string(values.type) or pa.types.is_integer(values.type)):
        return []
    rows = np.unique(np.linspace(0, max(len(values) - 1, 0), min(len(values), _LOOKED_AT)).astype(np.int64))
    return [text.strip() for text in values.cast(pa.string()).take(pa.array(rows)).to_pylist() if text and text.strip()]


def kind_of_values(texts: list[str]) -> str:
    """Return the kind of identifier that most of the distinct values of a column are; blank if they are none."""
    seen = [text.strip() for text in texts if text.strip()]
    kinds = (one.name for one in FORMATS if sum(_is(one, text) for text in seen) >= _MOST * len(seen))
    return next(kinds, "") if len(seen) >= _FEWEST_FOR_ROLE else ""


def _in_column(name: str, texts: list[str]) -> list[ValueFinding]:
    for one in FORMATS:
        whole = sum(_is(one, text) for text in texts)
        if texts and whole >= _least(one, texts):
            return [ValueFinding(name, one.name, whole, len(texts), inside=False)]
    holding = Counter(kind for text in texts for kind in _kinds_inside(text))
    kinds = dict.fromkeys(one.name for one in FORMATS)
    return [
        ValueFinding(name, kind, holding[kind], len(texts), inside=True)
        for kind in kinds
        if holding[kind] >= _FEWEST_INSIDE
    ]


def _least(one: Format, texts: list[str]) -> float:
    """Return how many of the values must be of a kind: of few values all, at least three, unless a check digit confirms it; black and white are names too."""
    few = one.name in UNCERTAIN and len(texts) < _FEWEST_FOR_ROLE
    return max(len(texts), _FEWEST_UNCERTAIN) if few else _MOST * len(texts)


def _kinds_inside(text: str) -> set[str]:
    """Return the kinds of identifiers inside a text; a stretch of it is of the first kind that fits: an IP address is not a telephone number too."""
    kinds: set[str] = set()
    taken: list[tuple[int, int]] = []
    for one in FORMATS:
        hits = [match.span() for match in one.pattern.finditer(text) if one.fits(match[0])] if one.inside else []
        free = [(low, high) for low, high in hits if all(high <= start or end <= low for start, end in taken)]
        taken += free
        if free:
            kinds.add(one.name)
    return kinds


def _is(one: Format, text: str) -> bool:
    return bool(one.pattern.fullmatch(text)) and one.fits(text)


# --- check digits ------------------------------------------------------------------------------------------------


def _digits(text: str) -> list[int]:
    return [int(sign) for sign in text if sign.isdigit()]


def luhn(text: str) -> bool:
    """Return whether the check digit of ISO/IEC 7812 fits (credit cards, Swedish personal numbers)."""
    digits = _digits(text)[::-1]
    doubled = [digit if place % 2 == 0 else sum(divmod(2 * digit, 10)) for place, digit in enumerate(digits)]
    return sum(doubled) % 10 == 0 and any(digits)


def iban(text: str) -> bool:
    """Return whether the check digits of ISO 13616 fit."""
    plain = re.sub(r"[\s-]", "", text).upper()
    moved = plain[4:] + plain[:4]
    return int("".join(str(int(sign, 36)) for sign in moved)) % 97 == 1


def nhs(text: str) -> bool:
    """Return whether the check digit of a number of the British NHS fits (modulus 11)."""
    digits = _digits(text)
    check = 11 - sum(digit * weight for digit, weight in zip(digits, range(10, 1, -1), strict=False)) % 11
    return len(set(digits)) > 1 and check % 11 == digits[9]


def nir(text: str) -> bool:
    """Return whether the key of a French social security number fits (97 minus the number modulo 97)."""
    plain = re.sub(r"\s", "", text).upper().replace("2A", "19").replace("2B", "18")
    return int(plain[13:]) == 97 - int(plain[:13]) % 97


def tax_id(text: str) -> bool:
    """Return whether a German tax number fits (ISO 7064, modulus 11, 10; one digit occurs twice or three times in the first ten)."""
    digits = _digits(text)
    counts = sorted(digits[:10].count(digit) for digit in set(digits[:10]))
    product = 10
    for digit in digits[:10]:
        product = ((digit + product) % 10 or 10) * 2 % 11
    return digits[0] != 0 and counts[-1] in (2, 3) and (11 - product) % 10 == digits[10]


def bsn(text: str) -> bool:
    """Return whether a Dutch citizen service number passes the test of eleven."""
    digits = _digits(text)
    return (
        any(digits)
        and (sum(digit * weight for digit, weight in zip(digits, range(9, 1, -1), strict=False)) - digits[8]) % 11 == 0
    )


def pesel(text: str) -> bool:
    """Return whether the check digit of a Polish PESEL fits."""
    digits = _digits(text)
    total = sum(digit * weight for digit, weight in zip(digits, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3), strict=False))
    return (10 - total % 10) % 10 == digits[10] and 1 <= (digits[2] * 10 + digits[3]) % 20 <= 12


def cpf(text: str) -> bool:
    """Return whether the two check digits of a Brazilian CPF fit."""
    digits = _digits(text)

    def check(length: int) -> int:
        total = sum(digit * weight for digit, weight in zip(digits, range(length + 1, 1, -1), strict=False))
        return total * 10 % 11 % 10

    return len(set(digits)) > 1 and (check(9), check(10)) == (digits[9], digits[10])


def dni(text: str) -> bool:
    """Return whether the letter of a Spanish DNI or NIE fits."""
    plain = text.upper().replace("-", "").translate(str.maketrans("XYZ", "012"))
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(plain[:8]) % 23] == text.upper()[-1]


def codice_fiscale(text: str) -> bool:
    """Return whether the last letter of an Italian codice fiscale fits."""
    odd = dict(
        zip(
            "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
            (
                1,
                0,
                5,
                7,
                9,
                13,
                15,
                17,
                19,
                21,
                1,
                0,
                5,
                7,
                9,
                13,
                15,
                17,
                19,
                21,
                2,
                4,
                18,
                20,
                11,
                3,
                6,
                8,
                12,
                14,
                16,
                10,
                22,
                25,
                24,
                23,
            ),
            strict=True,
        )
    )
    plain = text.upper()
    total = sum(
        odd[sign] if place % 2 == 0 else (int(sign) if sign.isdigit() else ord(sign) - 65)
        for place, sign in enumerate(plain[:15])
    )
    return chr(65 + total % 26) == plain[15]


def ahv(text: str) -> bool:
    """Return whether the check digit of a Swiss AHV number fits (EAN-13)."""
    digits = _digits(text)
    return (10 - sum(digit * (1, 3)[place % 2] for place, digit in enumerate(digits[:12])) % 10) % 10 == digits[12]


def vin(text: str) -> bool:
    """Return whether the check digit of a vehicle identification number fits."""
    values = dict(
        zip(
            "ABCDEFGHJKLMNPRSTUVWXYZ",
            (1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 7, 9, 2, 3, 4, 5, 6, 7, 8, 9),
            strict=True,
        )
    )
    weights = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
    rest = (
        sum(
            (int(sign) if sign.isdigit() else values[sign]) * weight
            for sign, weight in zip(text.upper(), weights, strict=True)
        )
        % 11
    )
    return text.upper()[8] == ("X" if rest == 10 else str(rest))


def us_ssn(text: str) -> bool:
    """Return whether an American social security number could have been issued."""
    area, group, serial = (int(part) for part in re.split(r"[- ]", text))
    return area not in (0, 666) and area < 900 and group > 0 and serial > 0


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _is_place(text: str) -> bool:
    latitude, longitude = (float(part) for part in re.split(r"\s*[,;]\s*", text.strip("()")))
    return abs(latitude) <= 90 and abs(longitude) <= 180


_DATE = re.compile(r"(0?[1-9]|[12]\d|3[01])([./ -])(0?[1-9]|[12]\d|3[01])\2(?:19|20)\d\d")
"""A day with a year of these two centuries: written like a telephone number, and far more often a date."""


def _is_phone(text: str) -> bool:
    number = re.split("e?x", text, maxsplit=1, flags=re.IGNORECASE)[0]  # without an extension
    return 8 <= len(_digits(number)) <= 15 and not _DATE.fullmatch(text)


def _format(name: str, pattern: str, fits: Callable[[str], bool] = lambda _: True, *, inside: bool = False) -> Format:
    return Format(name, re.compile(pattern, re.IGNORECASE), fits, inside)


FORMATS = (
    _format("e-mail address", r"[\w.+-]+@[\w-]+(\.[\w-]+)+", inside=True),
    _format("web address", r"(https?://|www\.)[^\s\"<>]+", inside=True),
    _format("IP address", r"\b\d{1,3}(\.\d{1,3}){3}\b|[0-9a-f]{1,4}(:[0-9a-f]{0,4}){3,7}", _is_ip, inside=True),
    _format("MAC address", r"\b[0-9a-f]{2}([:-][0-9a-f]{2}){5}\b", inside=True),
    _format("IBAN", r"\b[A-Z]{2}\d{2}( ?[A-Z0-9]{4}){2,7}( ?[A-Z0-9]{1,3})?\b", iban, inside=True),
    _format("social security number (US)", r"\b\d{3}-\d{2}-\d{4}\b", us_ssn, inside=True),
    _format("credit card number", r"\b(?:4\d{3}|5[1-5]\d{2}|2[2-7]\d{2}|3[47]\d{2}|35(?:2[89]|[3-8]\d)|6011|65\d{2})[ -]?\d{4}[ -]?\d{4}[ -]?\d{3,4}\b|\b3[47]\d{2}[ -]?\d{6}[ -]?\d{5}\b|\b3(?:0[0-5]|[68]\d)\d[ -]?\d{6}[ -]?\d{4}\b", luhn, inside=True),
    _format("number of the NHS (GB)", r"\d{3}[ -]?\d{3}[ -]?\d{4}", nhs),
    _format("social security number (FR)", r"[12] ?\d{2} ?\d{2} ?(?:\d{2}|2[AB]) ?\d{3} ?\d{3} ?\d{2}", nir, inside=True),
    _format("tax number (DE)", r"\d{2} ?\d{3} ?\d{3} ?\d{3}", tax_id),
    _format("AHV number (CH)", r"756\.?\d{4}\.?\d{4}\.?\d{2}", ahv, inside=True),
    _format("codice fiscale (IT)", r"\b[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]\b", codice_fiscale, inside=True),
    _format("DNI or NIE (ES)", r"\b(?:\d{8}|[XYZ]\d{7})-?[A-Z]\b", dni, inside=True),
    _format("CPF (BR)", r"\d{3}\.?\d{3}\.?\d{3}-?\d{2}", cpf),
    _format("PESEL (PL)", r"\d{11}", pesel),
    _format("personal number (SE)", r"(?:19|20)?\d{6}[-+]\d{4}", lambda text: luhn(text[-11:])),
    _format("citizen service number (NL)", r"\d{9}", bsn),
    _format("vehicle identification number", r"\b[A-HJ-NPR-Z0-9]{17}\b", vin, inside=True),
    _format("pair of coordinates", r"\(?-?\d{1,3}\.\d{3,}\s*[,;]\s*-?\d{1,3}\.\d{3,}\)?", _is_place, inside=True),
    _format("number plate", r"[A-ZÄÖÜ]{1,3}-[A-Z]{1,2} ?\d{1,4}[EH]?|[A-Z]{2}\d{2} ?[A-Z]{3}|[A-Z]{2}-\d{3}-[A-Z]{2}|\d{4} ?[BCDFGHJ-NPR-TV-Z]{3}"),
    _format("record number", r"\b(?:MRN|medical record(?: number| no\.?)?|record (?:number|no\.?)|patient (?:id|number|no\.?)|case (?:number|no\.?))[:# ]*[A-Z]{0,3}\d{4,}\b", inside=True),
    _format("date of birth", r"\b(?:born|DOB|D\.O\.B\.|date of birth|birth ?date|geb(?:oren)?\.?(?: am)?|née?(?: le)?|nacid[oa](?: el)?|nat[oa] il)[: ]+(?:on )?(?:\d{1,4}[./-]\d{1,2}[./-]\d{1,4}|\d{1,2}\.? \w+ \d{4}|\w+ \d{1,2}, \d{4})", inside=True),
    _format("age over 89", r"\b(?:aged?|age:|is|was)\s+(?:9\d|1[01]\d)(?= years?\b| yrs?\b|[,.;]|$)|\b(?:9\d|1[01]\d)[- ](?:years?|yrs?|y/?o)(?:[- ]old)?\b", inside=True),
    _format("telephone number", r"(?<![\w.])(?:(?:\+\d{1,3}[ .-]?)?(?:\(\d{1,5}\)[ .-]?|0\d{1,4}[ /.-]|\d{3}[ .-])\d{2,4}(?:[ .-]?\d{2,5}){1,3}|\+\d{1,3}(?: ?\(0\))?(?:[ .-]?\d){6,13})(?: ?(?:x|ext\.?) ?\d{1,6})?(?![\w.])", _is_phone, inside=True),
    _format("street address", r"\b\d{1,5} [\w .'-]+ (?:street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|court|ct)\b\.?|\b[\w.'-]+(?:straße|strasse|str\.|weg|platz|gasse|allee) \d{1,4}\w?\b|\b\d{1,4},? (?:rue|avenue|boulevard|place) [\w '-]+", inside=True),
    _format("name of a person", r"[^\W\d_]+(?:[ ,.'’-]+[^\W\d_]+){0,4}\.?", is_name),
    Format("name of a person", re.compile(r"\b[A-ZÀ-Þ][a-zß-ÿ'’-]+ (?:[A-Z]\. )?[A-ZÀ-Þ][a-zß-ÿ'’-]+\b"), holds_name, inside=True),
)  # fmt: skip
"""From those that say most by their form to those that say least; a column is of the first kind that most of its values are."""
