"""Counts of exact values that a publisher may release next to the cells: shares of values are calibrated by them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from shoal_reader.errors import ReleaseError

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Histogram = tuple[tuple[str | None, int], ...]
"""Values and how often each occurs."""

PREFIX = "counts of "
_STEPS = 80


def counts_of_groups(groups: pd.DataFrame, table: pd.DataFrame) -> dict[str, pd.Series[Any]]:
    """Return for each record of a table the counts of its group, as text, by column.

    Each combination of cells must be there once, and its counts must add up to the records that have it: rows of another release, or a
    part of them, are refused.
    """
    names = [name for name in groups.columns if PREFIX + name in groups.columns]
    if not names or any(name not in table.columns for name in names):
        raise _of_another_release()
    both = pd.concat([_texts(table, names), _texts(groups, names)], ignore_index=True)
    number = both.groupby(names, sort=False).ngroup().to_numpy()
    records, lines = number[: len(table)], number[len(table) :]
    if len(np.unique(lines)) < len(lines) or set(records.tolist()) != set(lines.tolist()):
        raise _of_another_release()
    line = np.empty(len(lines), np.intp)
    line[lines] = np.arange(len(lines))
    sizes = np.bincount(records, minlength=len(lines))[lines]
    for name in names:
        sums = [sum(count for _, count in histogram(text)) for text in groups[PREFIX + name]]
        if not np.array_equal(sums, sizes):
            raise _of_another_release()
    return {name: groups[PREFIX + name].iloc[line[records]].reset_index(drop=True) for name in names}


def _texts(table: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Return cells as text; a missing one is empty."""
    cells = table[names].astype(object)
    return cells.where(cells.notna(), "").astype(str)


def histogram(text: str) -> Histogram:
    """Return the counts that a text tells."""
    try:
        found = tuple((None if value is None else str(value), int(count)) for value, count in json.loads(text))
    except (TypeError, ValueError):
        raise _of_another_release() from None
    if not found or min(count for _, count in found) < 1:
        raise _of_another_release()
    return found


def _of_another_release() -> ReleaseError:
    return ReleaseError(
        "The counts of groups do not add up to the rows. Read the release as it was published, with all its rows and files."
    )


class Weights(NamedTuple):
    """How often each value occurs in each cell."""

    values: Sequence[Any]
    counts: Floats
    """By cell and value."""


def weights_of(histograms: Sequence[Mapping[Any, int]], first: Sequence[Any]) -> Weights:
    """Return the counts of several cells as a table: the values of ``first`` that occur in their order, then all others."""
    seen = {value for one in histograms for value in one}
    values = [value for value in first if value in seen]
    values += sorted(seen.difference(values))
    place = {value: number for number, value in enumerate(values)}
    counts = np.zeros((len(histograms), len(values)))
    for row, one in enumerate(histograms):
        counts[row, [place[value] for value in one]] = list(one.values())
    return Weights(values, counts)


def calibrated(
    inside: Bools, records: Floats, target: Floats, start: Floats | None = None, steps: int = _STEPS
) -> Floats:
    """Return weights of values in cells by which the expected counts come near the told ones: iterative proportional fitting (Deming, Stephan 1940).

    ``start`` are weights of values to begin with; without them all values are alike.
    """
    often = np.ones(inside.shape[1]) if start is None else start
    for _ in range(steps):
        reached = inside @ often
        expected = often * (inside.T @ (records / np.maximum(reached, 1e-300)))
        often = np.clip(often * (target + 1e-6) / (expected + 1e-6), 1e-12, 1e6)
        often /= often.sum()
    return np.asarray(inside * np.maximum(often, 1e-12), np.float64)
