"""The chance that somebody is found, for three kinds of intruders, and how many people are alone in the population."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from shoal.arrays import FloatArray, LongArray

AT_RISK = 0.2
"""A record counts as at risk if the chance to pick the right person is above this."""


@dataclass(frozen=True)
class Risk:
    """What three intruders can expect.

    The *prosecutor* knows that a person is in the table, the *journalist* only that they are in the population, the
    *marketer* wants as many as possible and does not mind errors.
    """

    prosecutor_highest: float
    """Chance to pick the right record for the person worst off: 1 ÷ smallest group."""
    prosecutor_mean: float
    """The same, over all records."""
    at_risk: float
    """Share of records of which that chance is above 0.2."""
    journalist_highest: float | None
    """The same chances if nobody knows who is in the table; None if the population is unknown."""
    journalist_mean: float | None
    marketer: float
    """Share of the records that a match of everybody would name rightly."""
    individual_highest: float | None = None
    """Expected chance to find the person worst off in the population, by survey weights; None without them."""
    individual_mean: float | None = None


def measure_risk(size: LongArray, people: LongArray | None = None) -> Risk:
    """Measure groups of ``size`` records; ``people`` of the population share each group's values."""
    records = max(int(size.sum()), 1)
    prosecutor = len(size) / records
    highest = mean = None
    if people is not None and len(size):
        highest, mean = float(1.0 / people.min()), float((size / people).sum() / records)
    return Risk(
        prosecutor_highest=float(1.0 / size.min()) if len(size) else 0.0,
        prosecutor_mean=prosecutor,
        at_risk=float(size[1.0 / size > AT_RISK].sum() / records),
        journalist_highest=highest,
        journalist_mean=mean,
        marketer=prosecutor if mean is None else mean,
    )


def individual_risk(size: LongArray, people: FloatArray) -> FloatArray:
    """Return for each group the expected value of 1 ÷ the people of the population who share its values.

    ``people`` is the sum of the survey weights of the group. Benedetti & Franconi (1998): given ``size`` records in the sample, the people of the
    population follow a negative binomial distribution with the probability size ÷ people. The expected value has a closed form for one
    and two records; for more its usual bound is taken.
    """
    share = np.minimum(size / np.maximum(people, size), 1.0)
    odds = share / np.maximum(1.0 - share, 1e-12)
    alone = odds * -np.log(share)
    risk = np.where(size == 1, alone, np.where(size == 2, odds - odds * alone, share / (size - (1.0 - share))))
    return np.asarray(np.where(share > 1.0 - 1e-6, 1.0 / size, np.clip(risk, 0.0, 1.0)), np.float64)


@dataclass(frozen=True)
class PopulationUniqueness:
    """How many people of the population are alone with their values, estimated from a sample."""

    model: Literal["pitman", "zayatz"]
    people: float
    """Estimated number of population uniques."""
    share_of_sample_uniques: float
    """Estimated share of the records alone in the table that are alone in the population too."""
    trust: str
    """When to trust the estimate."""


def estimate_uniqueness(size: LongArray, fraction: float) -> list[PopulationUniqueness]:
    """Estimate population uniqueness from group sizes of a simple random sample of share ``fraction``.

    Both estimates take the table for a simple random sample, one record a person.
    """
    alone, records = int((size == 1).sum()), int(size.sum())
    population = records / fraction
    pitman, converged = _pitman(size, population)
    zayatz = _zayatz(size, records, population)
    doubt = _doubt(alone, records)
    good = "Pitman is the better guess for small samples (up to about a tenth)"
    return [
        PopulationUniqueness(
            "pitman",
            min(pitman, population),
            min(pitman * fraction / alone, 1.0) if alone else 0.0,
            doubt
            or (
                f"{good}; it assumes that rare combinations go on appearing as the table grows."
                if converged
                else "Not to be trusted: the fit ended at the edge of its range."
            ),
        ),
        PopulationUniqueness(
            "zayatz",
            min(zayatz * alone / fraction, population),
            zayatz,
            doubt
            or "Zayatz is the better guess for large samples (above about a tenth); in small ones it is too high.",
        ),
    ]


def _doubt(alone: int, records: int) -> str:
    if alone == 0:
        return "Nobody is alone in the table, so the only possible estimate is 0."
    if alone == records:
        return "Not to be trusted: everybody is alone in the table, so it says nothing about how often values repeat."
    return ""


def _log_choose(n: float, k: float) -> float:
    if k < 0 or k > n:
        return -math.inf
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _zayatz(size: LongArray, records: int, population: float) -> float:
    """Return the share of sample uniques that are population uniques (Zayatz 1991).

    The sizes of groups in the sample stand for those in the population; the chance that a group of F people
    shows up with one record is hypergeometric.
    """
    sizes, groups = np.unique(size, return_counts=True)
    if not len(sizes) or sizes[0] != 1:
        return 0.0
    chances = [
        count * math.exp(math.log(F) + _log_choose(population - F, records - 1) - _log_choose(population, records))
        for F, count in zip(sizes.tolist(), groups.tolist(), strict=True)
    ]
    return float(chances[0] / sum(chances)) if sum(chances) > 0 else 1.0


def _pitman(size: LongArray, population: float) -> tuple[float, bool]:
    """Return the expected population uniques under Pitman's model (Hoshino 2001), and whether the fit is inside."""
    sizes, groups = np.unique(size, return_counts=True)
    records, classes = int(size.sum()), len(size)
    if classes < 2 or classes == records:
        return (population, False) if classes else (0.0, False)
    pairs = list(zip(sizes.tolist(), groups.tolist(), strict=True))

    def likelihood(alpha: float, theta: float) -> float:
        drawn = (classes - 1) * math.log(alpha) + math.lgamma(theta / alpha + classes) - math.lgamma(theta / alpha + 1)
        steps = math.lgamma(theta + records) - math.lgamma(theta + 1)
        within = sum(count * (math.lgamma(one - alpha) - math.lgamma(1 - alpha)) for one, count in pairs)
        return drawn - steps + float(within)

    def best_theta(alpha: float) -> float:
        return math.exp(_highest(lambda x: likelihood(alpha, math.exp(x)), math.log(1e-6), math.log(1e9)))

    alpha = _highest(lambda a: likelihood(a, best_theta(a)), 1e-6, 1 - 1e-6)
    theta = best_theta(alpha)
    uniques = math.exp(math.lgamma(theta + 1) - math.lgamma(theta + alpha) + alpha * math.log(population))
    return uniques, 1e-4 < alpha < 1 - 1e-4 and theta < 1e8


def _highest(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function with one peak is highest, by golden section."""
    ratio = (math.sqrt(5) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(60):
        if at_left < at_right:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = function(right)
        else:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = function(left)
    return (low + high) / 2
