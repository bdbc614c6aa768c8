"""What an attack reports: how often it works, how often a mere guess does, and how certain both figures are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from shoal.arrays import LongArray
from shoal.frames import Frame, to_frame
from shoal.frames.canonical import decoded
from shoal.validation import check_int

_SURE = 1.959964
"""Standard deviations on either side of a 95 % interval."""


@dataclass(frozen=True)
class Rate:
    """A share with its 95 % interval (Wilson 1927).

    Examples
    --------
    >>> import shoal
    >>> patients = shoal.datasets.hospital(n=300, seed=1).patients.select(["birth_date", "sex", "diagnosis"])
    >>> known = ["birth_date", "sex"]
    >>> result = shoal.anonymize(patients, k=5, quasi_identifiers=known, sensitive=["diagnosis"], method="mondrian")
    >>> found = shoal.attacks.linkage(patients, result, known).success
    >>> found.low <= found.share <= found.high
    True
    """

    share: float
    low: float
    high: float
    tried: int


def rate(hits: float, tried: int) -> Rate:
    """Return ``hits`` of ``tried`` as a rate; hits may be expected ones."""
    if tried == 0:
        return Rate(0.0, 0.0, 1.0, 0)
    share = min(max(hits / tried, 0.0), 1.0)
    spread = _SURE * _SURE / tried
    middle = (share + spread / 2) / (1 + spread)
    half = _SURE * math.sqrt(share * (1 - share) / tried + spread / (4 * tried)) / (1 + spread)
    return Rate(share, max(middle - half, 0.0), min(middle + half, 1.0), tried)


@dataclass(frozen=True)
class Finding:
    """What one attack found.

    Examples
    --------
    >>> import shoal
    >>> patients = shoal.datasets.hospital(n=300, seed=1).patients.select(["birth_date", "sex", "diagnosis"])
    >>> known = ["birth_date", "sex"]
    >>> result = shoal.anonymize(patients, k=5, quasi_identifiers=known, sensitive=["diagnosis"], method="mondrian")
    >>> shoal.attacks.linkage(patients, result, known).question
    'Which released row is this person?'
    """

    attack: str
    question: str
    """What the intruder wants, in one sentence."""
    success: Rate
    control: Rate | None
    """What a guesser without the release, or without the weakness, achieves."""
    verdict: str
    """What it means, in one sentence."""
    figures: Mapping[str, float] = field(default_factory=dict)
    examples: Sequence[int] = ()
    """Rows (counted from 0) for which the attack works; no values."""
    examples_in: Literal["original", "release", "known"] = "original"
    """The table whose rows the examples are."""

    @property
    def works(self) -> bool:
        """True if the attack does better than its control beyond chance."""
        return self.success.low > (self.control.high if self.control else 0.0)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self) | {"works": self.works, "examples": [int(row) for row in self.examples]}


def typed_table(frame: Frame, names: Sequence[str]) -> pa.Table:
    """Return columns with the types of their values, also if the columns come from a text file."""
    return pa.table({name: decoded(frame.typed(name)) for name in names})


def choose_targets(records: int, most: int, seed: int) -> LongArray:
    """Return the rows an attack is tried on: all, or a random sample of ``most``."""
    check_int("an attack", "targets", most, least=1)
    if records <= most:
        return np.arange(records)
    return np.sort(np.random.default_rng(seed).choice(records, most, replace=False))


def as_frame(data: Any) -> Frame:
    """Return a table; for a ``Result``, its released rows."""
    frame = to_frame(getattr(data, "released", data))
    return replace(frame, table=pa.table({name: decoded(frame.table.column(name)) for name in frame.names}))
