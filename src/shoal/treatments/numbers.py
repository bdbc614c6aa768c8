"""Treatments of numbers and of whatever has an order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import FloatArray
from shoal.errors import DataError, ParameterError
from shoal.kernels.microaggregation.univariate import split_path
from shoal.treatments.base import (
    Surroundings,
    Treatment,
    as_floats,
    back_to_type,
    fill_rows,
    need_numbers,
    need_order,
    present_rows,
)
from shoal.treatments.randomness import Randomness, draw_normal
from shoal.validation import check_choice, check_flag, check_float, check_int

_PERIODS = ("minute", "hour", "day", "week", "month", "quarter", "year")


@dataclass(frozen=True)
class Round(Treatment):
    """Round numbers to a multiple, or dates down to the beginning of a period.

    Parameters
    ----------
    to
        A number such as 100, or for dates ``"day"``, ``"week"``, ``"month"``, ``"quarter"``, ``"year"``.
    random
        Round up or down at random, the nearer multiple more often, so that sums stay right on average.

    Examples
    --------
    >>> import shoal
    >>> people = {"age": [20, 21, 40, 41], "cost": [103, 1_250, 487, 90_311]}
    >>> result = shoal.anonymize(people, k=2, quasi_identifiers=["age"], keep=["cost"], treat={"cost": shoal.Round(100)})
    >>> result.data["cost"]
    [100, 1200, 500, 90300]
    """

    to: float | str
    random: bool = False

    name: ClassVar[str] = "round"
    technique: ClassVar[str] = "generalization: rounding"
    remains: ClassVar[str] = "A rare value is still rare after rounding; unique ones are counted beside."

    def __post_init__(self) -> None:
        if isinstance(self.to, str):
            check_choice("Round", "to", self.to, _PERIODS)
        else:
            check_float("Round", "to", self.to, least=0.0, above=True)
        check_flag("Round", "random", self.random)

    def apply(self, name: str, column: pa.ChunkedArray, around: Surroundings) -> pa.ChunkedArray:
        """Return multiples, or beginnings of periods."""
        if isinstance(self.to, str):
            if not (pa.types.is_timestamp(column.type) or pa.types.is_date(column.type)):
                raise DataError(f"The treatment Round of {name!r} to a {self.to} needs dates. Got other values.")
            return pc.floor_temporal(column, unit=self.to).cast(column.type)
        need_numbers("Round", name, column)
        rows = present_rows(column)
        values = as_floats(column.take(pa.array(rows)))
        multiples = values / float(self.to)
        whole = np.floor(multiples + around.random.uniform(len(values))) if self.random else np.rint(multiples)
        return fill_rows(column, rows, back_to_type(_times(whole, float(self.to)), column.type))

    def describe(self) -> str:
        """Say what is done."""
        if isinstance(self.to, str):
            return f"shows only the {self.to} of its dates"
        return f"is rounded to multiples of {self.to:g}" + (", up or down at random" if self.random else "")


def _times(whole: FloatArray, step: float) -> FloatArray:
    """Return multiples of a step without stray digits: 3 times 0.1 is 0.3."""
    inverse = 1.0 / step
    if step < 1 and inverse == np.rint(inverse):
        return np.asarray(whole / inverse, np.float64)
    return np.asarray(whole * step, np.float64)


@dataclass(frozen=True)
class _Coded(Treatment):
    """Top or bottom coding: values beyond a limit are released as the limit."""

    value: float | None = None
    share: float | None = None
    replace: Literal["limit", "mean"] = "limit"

    top: ClassVar[bool]
    remains: ClassVar[str] = "Values within the limit are unchanged; those beyond it can no longer be told apart."

    def __post_init__(self) -> None:
        owner = type(self).__name__
        if (self.value is None) == (self.share is None):
            raise ParameterError(
                f"{owner} needs either 'value' or 'share'. Got {'neither' if self.value is None else 'both'}.",
                hint=f"such as {owner}(share={0.99 if self.top else 0.01}).",
            )
        if self.share is not None:
            check_float(owner, "share", self.share, least=0.0, most=1.0, above=True)
        if self.value is not None:
            check_float(owner, "value", self.value, least=-np.inf)
        check_choice(owner, "replace", self.replace, ("limit", "mean"))

    def apply(self, name: str, column: pa.ChunkedArray, around: Surroundings) -> pa.ChunkedArray:  # noqa: ARG002
        """Return the column with its far end cut."""
        need_numbers(type(self).__name__, name, column)
        rows = present_rows(column)
        values = as_floats(column.take(pa.array(rows)))
        if not len(values):
            return column
        limit = self._limit(values)
        beyond = values > limit if self.top else values < limit
        at_limit = values >= limit if self.top else values <= limit
        if not beyond.any():
            return column
        shown = float(values[at_limit].mean()) if self.replace == "mean" else limit
        coded = np.where(at_limit if self.replace == "mean" else beyond, shown, values)
        return fill_rows(column, rows, back_to_type(coded, column.type))

    def _limit(self, values: FloatArray) -> float:
        if self.value is not None:
            return float(self.value)
        assert self.share is not None  # noqa: S101
        return float(np.quantile(values, self.share, method="lower" if self.top else "higher"))

    def describe(self) -> str:
        """Say what is done; the limit itself is not told where it follows from the data."""
        side, part = ("above", 1 - (self.share or 0)) if self.top else ("below", self.share or 0)
        where = (
            f"{side} {self.value:g}"
            if self.value is not None
            else f"among the {part:.3g} share that is {'highest' if self.top else 'lowest'}"
        )
        return f"shows one number for all values {where}"


@dataclass(frozen=True)
class TopCode(_Coded):
    """Release values above a limit as the limit: ``TopCode(value=100_000)`` or ``TopCode(share=0.99)``.

    Parameters
    ----------
    value
        The limit.
    share
        The share of the values that stay: the limit is the value below which so many lie.
    replace
        ``"limit"``, or ``"mean"`` to release the mean of all values from the limit on, which keeps their sum.

    Examples
    --------
    >>> import shoal
    >>> people = {"age": [20, 21, 40, 41], "cost": [103, 1_250, 487, 90_311]}
    >>> result = shoal.anonymize(people, k=2, quasi_identifiers=["age"], keep=["cost"], treat={"cost": shoal.TopCode(value=1_000)})
    >>> result.data["cost"]
    [103, 1000, 487, 1000]
    """

    name: ClassVar[str] = "top-code"
    technique: ClassVar[str] = "generalization: top coding"
    top: ClassVar[bool] = True


@dataclass(frozen=True)
class BottomCode(_Coded):
    """Release values below a limit as the limit: ``BottomCode(value=0)`` or ``BottomCode(share=0.01)``.

    Parameters
    ----------
    value
        The limit.
    share
        The share of the values that is cut off.
    replace
        As in ``TopCode``.

    Examples
    --------
    >>> import shoal
    >>> people = {"age": [20, 21, 40, 41], "cost": [103, 1_250, 487, 90_311]}
    >>> result = shoal.anonymize(people, k=2, quasi_identifiers=["age"], keep=["cost"], treat={"cost": shoal.BottomCode(value=200)})
    >>> result.data["cost"]
    [200, 1250, 487, 90311]
    """

    name: ClassVar[str] = "bottom-code"
    technique: ClassVar[str] = "generalization: bottom coding"
    top: ClassVar[bool] = False


@dataclass(frozen=True)
class Microaggregate(Treatment):
    """Release the mean of groups of ``k`` or more neighbouring values, cut so that least is lost (Hansen and Mukherjee 2003).

    Parameters
    ----------
    k
        The least number of records that share a mean.

    Examples
    --------
    >>> import shoal
    >>> people = {"age": [20, 21, 40, 41], "cost": [103, 1_250, 487, 90_311]}
    >>> result = shoal.anonymize(people, k=2, quasi_identifiers=["age"], keep=["cost"], treat={"cost": shoal.Microaggregate(2)})
    >>> result.data["cost"]
    [295, 45780, 295, 45780]
    """

    k: int = 5

    name: ClassVar[str] = "microaggregate"
    technique: ClassVar[str] = "randomization: microaggregation"
    remains: ClassVar[str] = (
        "Each mean is shared by a group, but a value known nearly exactly still points at its group."
    )

    def __post_init__(self) -> None:
        check_int("Microaggregate", "k", self.k, least=2)

    def apply(self, name: str, column: pa.ChunkedArray, around: Surroundings) -> pa.ChunkedArray:  # noqa: ARG002
        """Return the means."""
        need_numbers("Microaggregate", name, column)
        rows = present_rows(column)
        if len(rows) < self.k:
            raise DataError(
                f"The treatment Microaggregate of {name!r} needs at least {self.k} values. Got {len(rows)}.",
                hint="leave the column out, or take a smaller k.",
            )
        values = as_floats(column.take(pa.array(rows)))
        order = np.argsort(values, kind="stable").astype(np.int64)
        labels = split_path(np.ascontiguousarray(values[:, None]), order, self.k)
        means = np.bincount(labels, values) / np.bincount(labels)
        return fill_rows(column, rows, back_to_type(means[labels], column.type))

    def describe(self) -> str:
        """Say what is done."""
        return f"shows the mean of groups of {self.k} or more neighbouring values"


@dataclass(frozen=True)
class RankSwap(Treatment):
    """Exchange values among records of similar rank; the values of the column as a whole stay as they are.

    Parameters
    ----------
    share
        How far a value may travel, as a share of all ranks (Moore 1996).

    Ranks are moved by secret random amounts and sorted anew, which permutes all records at once where Moore swaps pairs.

    Examples
    --------
    >>> import shoal
    >>> people = {"age": [20, 21, 40, 41], "cost": [103, 1_250, 487, 90_311]}
    >>> result = shoal.anonymize(people, k=2, quasi_identifiers=["age"], keep=["cost"], treat={"cost": shoal.RankSwap(0.5)})
    >>> sorted(result.data["cost"])
    [103, 487, 1250, 90311]
    """

    share: float = 0.05

    name: ClassVar[str] = "rank-swap"
    technique: ClassVar[str] = "randomization: permutation"
    remains: ClassVar[str] = (
        "Every value still occurs, so a unique one still tells that its owner is in the table, but no longer in which row."
    )

    def __post_init__(self) -> None:
        check_float("RankSwap", "share", self.share, least=0.0, most=1.0, above=True)

    def apply(self, name: str, column: pa.ChunkedArray, around: Surroundings) -> pa.ChunkedArray:
        """Return the permuted values."""
        need_order("RankSwap", name, column)
        rows = present_rows(column)
        values = column.take(pa.array(rows)).combine_chunks()
        order = np.asarray(pc.sort_indices(values))
        reach = max(self.share * len(rows), 1.0)
        moved = np.argsort(np.arange(len(rows)) + reach * around.random.uniform(len(rows)), kind="stable")
        taken = np.empty(len(rows), np.int64)
        taken[order] = order[moved]
        return fill_rows(column, rows, values.take(pa.array(taken)))

    def describe(self) -> str:
        """Say what is done."""
        return f"has its values exchanged among records whose ranks differ by at most {self.share:.3g} of all"


@dataclass(frozen=True)
class Noise(Treatment):
    """Add normal noise of a stated spread.

    Parameters
    ----------
    sd
        The standard deviation of the noise, in the units of the column.
    share
        The same as a share of the column's own standard deviation.

    Examples
    --------
    >>> import shoal
    >>> people = {"age": [20, 21, 40, 41], "cost": [103, 1_250, 487, 90_311]}
    >>> result = shoal.anonymize(people, k=2, quasi_identifiers=["age"], keep=["cost"], treat={"cost": shoal.Noise(0.1)})
    >>> len(result.data["cost"])
    4
    """

    sd: float | None = None
    share: float | None = None

    name: ClassVar[str] = "noise"
    technique: ClassVar[str] = "randomization: noise addition"
    remains: ClassVar[str] = (
        "Numbers that lie far from all others stay recognisable, and repeated releases average the noise away."
    )

    def __post_init__(self) -> None:
        if (self.sd is None) == (self.share is None):
            raise ParameterError(
                f"Noise needs either 'sd' or 'share'. Got {'neither' if self.sd is None else 'both'}.",
                hint="such as Noise(share=0.1).",
            )
        given = ("sd", self.sd) if self.sd is not None else ("share", self.share)
        check_float("Noise", given[0], given[1], least=0.0, above=True)

    def apply(self, name: str, column: pa.ChunkedArray, around: Surroundings) -> pa.ChunkedArray:
        """Return the numbers with noise."""
        need_numbers("Noise", name, column)
        rows = present_rows(column)
        values = as_floats(column.take(pa.array(rows)))
        noisy = values + self._spread(values) * draw_normal(around.random, len(values))
        return fill_rows(column, rows, back_to_type(noisy, column.type))

    def _spread(self, values: FloatArray) -> float:
        if self.sd is not None:
            return float(self.sd)
        return float(self.share or 0.0) * (float(values.std()) if len(values) else 0.0)

    def describe(self) -> str:
        """Say what is done."""
        spread = f"{self.sd:g}" if self.sd is not None else f"{self.share:.3g} of its own"
        return f"has noise added, with a standard deviation of {spread}"


__all__ = ["BottomCode", "Microaggregate", "Noise", "Randomness", "RankSwap", "Round", "TopCode"]
