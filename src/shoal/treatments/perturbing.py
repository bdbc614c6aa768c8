"""Numbers that are no longer each record's own: averaged over neighbours, exchanged, or with noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import FloatArray
from shoal.errors import DataError
from shoal.kernels.microaggregation.univariate import split_path
from shoal.treatments.base import (
    Surroundings,
    Treatment,
    check_either,
    fill_numbers,
    fill_rows,
    need_order,
    present_numbers,
    present_rows,
)
from shoal.treatments.randomness import draw_normal
from shoal.validation import check_float, check_int


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
        rows, values = present_numbers("Microaggregate", name, column)
        if len(rows) < self.k:
            raise DataError(
                f"The treatment Microaggregate of {name!r} needs at least {self.k} values. Got {len(rows)}.",
                hint="leave the column out, or take a smaller k.",
            )
        order = np.argsort(values, kind="stable").astype(np.int64)
        labels = split_path(np.ascontiguousarray(values[:, None]), order, self.k)
        means = np.bincount(labels, values) / np.bincount(labels)
        return fill_numbers(column, rows, means[labels])

    def describe(self) -> str:
        """Return what is done."""
        return f"shows the mean of groups of {self.k} or more neighbouring values"


@dataclass(frozen=True)
class RankSwap(Treatment):
    """Exchange values among records of similar rank; the values of the column as a whole stay as they are.

    Parameters
    ----------
    share
        How far a value may travel, as a share of all ranks (Moore 1996).

    Ranks are moved by secret random amounts and sorted again, which permutes all records at once while Moore swaps pairs.

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
        "Every value still occurs, so a unique value still reveals that its owner is in the table, but no longer in which row."
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
        """Return what is done."""
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
        "Numbers that are far from all others stay recognizable, and repeated releases average the noise away."
    )

    def __post_init__(self) -> None:
        check_either("Noise", "such as Noise(share=0.1).", sd=self.sd, share=self.share)
        given = ("sd", self.sd) if self.sd is not None else ("share", self.share)
        check_float("Noise", given[0], given[1], least=0.0, above=True)

    def apply(self, name: str, column: pa.ChunkedArray, around: Surroundings) -> pa.ChunkedArray:
        """Return the numbers with noise."""
        rows, values = present_numbers("Noise", name, column)
        noisy = values + self._spread(values) * draw_normal(around.random, len(values))
        return fill_numbers(column, rows, noisy)

    def _spread(self, values: FloatArray) -> float:
        if self.sd is not None:
            return float(self.sd)
        return float(self.share or 0.0) * (float(values.std()) if len(values) else 0.0)

    def describe(self) -> str:
        """Return what is done."""
        spread = f"{self.sd:g}" if self.sd is not None else f"{self.share:.3g} of its own"
        return f"has noise added, with a standard deviation of {spread}"
