"""Random draws that come out the same on every machine.

Only the bit stream of PCG64 is used, because numpy keeps that fixed for ever while its distributions may change, and
everything after the bits is integer arithmetic, because ``exp`` and friends may differ in the last digit. Each column
draws from a stream of its own, named after it, so that a new column leaves the others as they are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np

from shoal.arrays import AnyArray, LongArray
from shoal.validation import check_int

_WIDTH = 32
_LEVELS = 12
_MILLION = 1_000_000


class Draws:
    """A family of named random streams.

    Parameters
    ----------
    seed
        Any int of at least 0; equal seeds give equal streams.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def raw(self, stream: str, n: int) -> AnyArray:
        """Return ``n`` random 64-bit words of the named stream."""
        entropy = np.random.SeedSequence(self._seed, spawn_key=tuple(stream.encode()))
        return np.asarray(np.random.PCG64(entropy).random_raw(n), dtype=np.uint64)

    def bits(self, stream: str, n: int) -> LongArray:
        """Return ``n`` integers from 0 to 2³² − 1."""
        return (self.raw(stream, n) >> np.uint64(64 - _WIDTH)).astype(np.int64)

    def integers(self, stream: str, n: int, least: int, most: int) -> LongArray:
        """Return ``n`` integers from ``least`` to ``most``, all equally likely."""
        return least + scaled(self.bits(stream, n), most - least + 1)

    def choose(self, stream: str, n: int, weights: Sequence[int]) -> LongArray:
        """Return ``n`` codes, code ``c`` in proportion to ``weights[c]``."""
        return self.choose_by(stream, np.zeros(n, dtype=np.int64), [weights])

    def choose_by(self, stream: str, cells: LongArray, weights: Sequence[Sequence[int]] | LongArray) -> LongArray:
        """Return a code for every record, in proportion to the weights in the row ``cells`` names for it."""
        ladder = np.cumsum(np.asarray(weights, dtype=np.int64), axis=1)
        rows, choices = ladder.shape
        steps = [[(int(reached) << _WIDTH) // int(row[-1]) for reached in row] for row in ladder]
        floors = np.arange(rows, dtype=np.int64) << _WIDTH
        climbed = (np.array(steps, dtype=np.int64) + floors[:, None]).ravel()
        reached = np.searchsorted(climbed, floors[cells] + self.bits(stream, len(cells)), side="right")
        return np.asarray(reached - cells * choices, dtype=np.int64)

    def order(self, stream: str, n: int) -> LongArray:
        """Return a random order of ``0..n-1``."""
        return np.argsort(self.raw(stream, n), kind="stable").astype(np.int64)

    def lognormal_millionths(self, stream: str, n: int, sigma: float) -> LongArray:
        """Return ``n`` lognormal factors of median one, in millionths, read off a table of quantiles."""
        levels = 1 << _LEVELS
        normal = NormalDist(0.0, sigma)
        ladder = [math.exp(normal.inv_cdf((level + 0.5) / (levels + 1))) for level in range(levels + 1)]
        table: LongArray = np.array([round(factor * _MILLION) for factor in ladder], dtype=np.int64)
        bits = self.bits(stream, n)
        level, rest = bits >> (_WIDTH - _LEVELS), bits & ((1 << (_WIDTH - _LEVELS)) - 1)
        above = (table[level + 1] - table[level]) * rest >> (_WIDTH - _LEVELS)
        return np.asarray(table[level] + above, dtype=np.int64)


def scaled(bits: LongArray, span: int | LongArray) -> LongArray:
    """Spread 32-bit integers evenly over ``0..span-1``."""
    return bits * span >> _WIDTH


def ramp(knots: Mapping[int, int], places: range) -> list[int]:
    """Join the knots (place → weight) with straight lines and read the weight at every place, rounded down.

    Left of the first knot the weight is that of the first knot, right of the last one that of the last.
    """
    known = sorted(knots)
    return [_between(knots, known, place) for place in places]


def _between(knots: Mapping[int, int], known: Sequence[int], place: int) -> int:
    left = max((knot for knot in known if knot <= place), default=known[0])
    right = min((knot for knot in known if knot >= place), default=known[-1])
    if left >= right:
        return knots[left]
    return (knots[left] * (right - place) + knots[right] * (place - left)) // (right - left)


def check_size(owner: str, n: Any, seed: Any) -> tuple[int, int]:
    """Return the number of records and the seed if both are sensible, or raise."""
    return check_int(owner, "n", n, least=1), check_int(owner, "seed", seed, least=0)


def worded(codes: LongArray, words: Sequence[str]) -> Any:
    """Return the Arrow text column whose record ``i`` is ``words[codes[i]]``."""
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), pa.array(list(words))).dictionary_decode()
