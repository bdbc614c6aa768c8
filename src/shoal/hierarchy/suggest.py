"""A hierarchy suggested for a column: by the type of its values, the order they have, what is known about them, or their structure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import date, time
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from shoal.hierarchy.derived import date_chains, prefix_chains
from shoal.hierarchy.intervals import interval_chains
from shoal.hierarchy.links import ROOT, Chain
from shoal.hierarchy.orders import read_order
from shoal.hierarchy.round_steps import skewed_chains
from shoal.hierarchy.structure import read_structure
from shoal.hierarchy.texts import is_missing, value_text
from shoal.knowledge import Reading, recognize, recognize_by_name

WORDS = frozenset({"flat", "set", "auto", "suggest"})
"""What may stand for a hierarchy: the value or ``*``, a set of values, what fits the column and the method, a suggested tree."""
_CODE = re.compile(r"[A-Z]{0,3}[0-9]+")
_FINEST_STEPS = 20
"""The smallest width of numbers cuts their span into about so many."""
_LARGEST = 1e300
"""Numbers beyond are left as they are: their span would overflow."""


class Suggested(NamedTuple):
    """The chains of a suggested hierarchy, and what its texts were recognized as."""

    chains: list[Chain]
    reading: Reading | None


def suggested(meanings: Mapping[str, Any], name: str = "") -> Suggested:
    """Return each text of a column and the groups above it; ``meanings`` says what value a text stands for.

    ``01.03.2024`` lies below ``2024-03``, and a text that stands for a missing value right below the root. The name of the column
    explains codes that nothing else explains.
    """
    texts: dict[str, list[str]] = {}
    for text, value in meanings.items():
        if not is_missing(value):
            texts.setdefault(value_text(value), []).append(text)
    values = [value for value in meanings.values() if not is_missing(value)]
    reading = read_texts(values, name)
    found = _chains(values) if reading is None else _chains_of(reading)
    chains: list[Chain] = []
    for own, *groups in (chain.labels for chain in found):
        # an interval of one number is labelled like that number, which may be a text of the column
        above = [label for label in groups if label == ROOT or label not in meanings]
        chains.extend(Chain((text, *above)) for text in texts.pop(own, ()))
    chains.extend(Chain((text, ROOT)) for text, value in meanings.items() if is_missing(value))
    return Suggested(chains, reading)


def read_texts(values: Sequence[Any], name: str = "") -> Reading | None:
    """Return what the values of a column are recognized as; None for numbers, dates, and texts that say nothing."""
    texts = list(dict.fromkeys(value_text(value) for value in values))
    if not texts:
        return None
    found = read_category(values, name)
    if found is not None or not all(isinstance(value, (str, time)) for value in values):
        return found
    return None if _are_codes(texts) else read_structure(texts)


def read_category(values: Sequence[Any], name: str = "") -> Reading | None:
    """Return the order of texts, or what is known about the world that explains them."""
    texts = list(dict.fromkeys(value_text(value) for value in values))
    found = recognize_by_name(name, texts) if name else None
    if found is not None or not all(isinstance(value, str) for value in values):
        return found
    return read_order(texts) or recognize(texts)


def is_category(values: Sequence[Any], name: str = "") -> bool:
    """Return whether values are categories: texts that are neither codes nor carry their groups in themselves."""
    texts = list(dict.fromkeys(value_text(value) for value in values))
    if name and recognize_by_name(name, texts) is not None:
        return True
    if not all(isinstance(value, str) for value in values):
        return False
    return read_category(values) is not None or not (_are_codes(texts) or read_structure(texts) is not None)


def _chains_of(reading: Reading) -> list[Chain]:
    """Return the chains of recognized texts, in their order if they have one; the others are directly below the root."""
    ordered = reading.order or sorted(reading.groups, key=lambda text: (*reversed(reading.groups[text]), text))
    known = [Chain((text, *reading.groups[text], ROOT)) for text in ordered]
    return [*known, *(Chain((text, ROOT)) for text in reading.unknown)]


def _chains(values: Sequence[Any]) -> list[Chain]:
    """Group by type: dates by month, year and decade, numbers in round widths, codes by prefix, all else flat."""
    if values and all(isinstance(value, (date, np.datetime64)) for value in values):
        return list(date_chains(values, ("month", "year", "decade")))
    if values and all(map(_is_measure, values)):
        return skewed_chains(values) or list(
            interval_chains(values, _round_widths([float(value) for value in values]), None, 0)
        )
    texts = [value_text(value) for value in values]
    if _are_codes(texts):
        return list(prefix_chains(texts, [*range(len(texts[0]) - 1, 0, -1), 0]))
    return [Chain((text, ROOT)) for text in texts]


def _is_measure(value: Any) -> bool:
    """Return whether a value is a number that has a width."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (Real, Decimal)):
        return False
    size: Any = abs(value)
    return bool(size < _LARGEST)


def _are_codes(values: Sequence[str]) -> bool:
    """Return whether all values are codes of one length, such as zip codes."""
    lengths = {len(value) for value in values}
    return len(lengths) == 1 and min(lengths) > 1 and all(_CODE.fullmatch(value) for value in values)


def _round_widths(numbers: Sequence[float]) -> list[Decimal]:
    """Return widths such as 5, 10, 20: the smallest of 1 or 5 times a power of ten that is fine enough, doubled twice.

    Whole numbers need no width up to 1, which would hold one of them only.
    """
    span = max(numbers) - min(numbers)
    least = span / _FINEST_STEPS if span else 1.0
    whole = all(number.is_integer() for number in numbers)
    if whole:
        least = max(least, 1.0)
    power = math.floor(math.log10(least))
    choices = (Decimal(digit).scaleb(power) for digit in (1, 5, 10))
    width = next(one for one in choices if float(one) >= least * (1 - 1e-9))
    return [one for one in (width, 2 * width, 4 * width) if one > 1 or not whole]
