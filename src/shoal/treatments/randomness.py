"""Random numbers that must stay secret: an intruder who could draw them again would undo the treatment.

They come from the system, never from the seed of a recipe. Tests use their own source.
"""

from __future__ import annotations

import secrets
from typing import Protocol

import numpy as np

from shoal.arrays import FloatArray, LongArray

_FRACTION = 2.0**-53


class Randomness(Protocol):
    """Where random numbers come from."""

    def uniform(self, number: int) -> FloatArray:
        """Return numbers from 0 up to 1, 1 not included."""


class SystemRandomness:
    """The system's own random bytes, fit for secrets."""

    def uniform(self, number: int) -> FloatArray:
        """Return numbers with all 53 bits drawn."""
        drawn = np.frombuffer(secrets.token_bytes(8 * number), np.uint64)
        return np.asarray((drawn >> np.uint64(11)) * _FRACTION, np.float64)


def draw_normal(random: Randomness, number: int) -> FloatArray:
    """Return normal numbers of mean 0 and standard deviation 1 (Box and Muller 1958)."""
    radius = np.sqrt(-2.0 * np.log(1.0 - random.uniform(number)))
    return np.asarray(radius * np.cos(2.0 * np.pi * random.uniform(number)), np.float64)


def draw_integers(random: Randomness, below: int, number: int) -> LongArray:
    """Return whole numbers from 0 to ``below`` - 1."""
    return np.minimum((random.uniform(number) * below).astype(np.int64), below - 1)
