"""Numbers and dates made coarser: rounded, or cut off at the top or the bottom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import FloatArray
from shoal.errors import DataError
from shoal.treatments.base import Surroundings, Treatment, check_either, fill_numbers, present_numbers
from shoal.validation import check_choice, check_flag, check_float

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
    remains: ClassVar[str] = "A rare value is still rare after rounding."

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
        rows, values = present_numbers("Round", name, column)
        multiples = values / float(self.to)
        whole = np.floor(multiples + around.random.uniform(len(values))) if self.random else np.rint(multiples)
        return fill_numbers(column, rows, _times(whole, float(self.to)))

    def describe(self) -> str:
        """Return what is done."""
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
        example = f"such as {owner}(share={0.99 if self.top else 0.01})."
        check_either(owner, example, value=self.value, share=self.share)
        if self.share is not None:
            check_float(owner, "share", self.share, least=0.0, most=1.0, above=True)
        if self.value is not None:
            check_float(owner, "value", self.value, least=-np.inf)
        check_choice(owner, "replace", self.replace, ("limit", "mean"))

    def apply(self, name: str, column: pa.ChunkedArray, around: Surroundings) -> pa.ChunkedArray:  # noqa: ARG002
        """Return the column with its far end cut."""
        rows, values = present_numbers(type(self).__name__, name, column)
        if not len(values):
            return column
        limit = self._limit(values)
        beyond = values > limit if self.top else values < limit
        at_limit = values >= limit if self.top else values <= limit
        if not beyond.any():
            return column
        shown = float(values[at_limit].mean()) if self.replace == "mean" else limit
        coded = np.where(at_limit if self.replace == "mean" else beyond, shown, values)
        return fill_numbers(column, rows, coded)

    def _limit(self, values: FloatArray) -> float:
        if self.value is not None:
            return float(self.value)
        assert self.share is not None  # noqa: S101
        return float(np.quantile(values, self.share, method="lower" if self.top else "higher"))

    def describe(self) -> str:
        """Return what is done; the limit itself is not shown if it follows from the data."""
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
        The share of the values that stay unchanged: the limit is the value with this share of all values below it.
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
