"""A release in plain columns of numbers and short texts, for programs without a reader of cells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from shoal_reader.columns import Column
from shoal_reader.errors import ReleaseError

if TYPE_CHECKING:
    from shoal_reader.release import Release

Shape = Literal["columns", "midpoints"]
MOST_SHARES = 200
"""A column with more values than this is not spread over share columns: its cells stay text."""


class Shaped(NamedTuple):
    """One column of a shaped release."""

    name: str
    values: pd.Series[Any]
    of: str
    """The column of the release that it comes from."""
    part: str
    """``low``, ``high``, ``mid``, ``level 1`` …, ``share of courier``, or empty if the column is as it was."""


def shape(release: Release, how: Shape) -> list[Shaped]:
    """Return the columns of a release without ranges, sets or labels of mixed levels.

    ``columns`` gives the ends and the middle of each range (``age_low``, ``age_high``, ``age_mid``), the share of each value of a set
    (``job_courier``), and one column for each level of a tree (``zip_1``, ``zip_2``). ``midpoints`` replaces each range by its middle and
    leaves the rest. Columns in which every cell is exact stay as they are.
    """
    shaped: list[Shaped] = []
    for name in release.names:
        column = release.coarsened.get(name)
        if column is None:
            shaped.append(Shaped(name, release.kept[name], name, ""))
        elif column.exact.all():
            shaped.append(Shaped(name, _plain(column.typed()), name, ""))
        elif how == "midpoints":
            values = column.series(column.midpoints) if column.measured else _cells(release, name)
            shaped.append(Shaped(name, values, name, "mid" if column.measured else ""))
        else:
            shaped.extend(_spread(release, column))
    names = [one.name for one in shaped]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ReleaseError(f"Two columns would have the name {twice!r}. Rename one of the columns it comes from.")
    return shaped


def _spread(release: Release, column: Column) -> Iterator[Shaped]:
    name = column.name
    if column.measured:
        for part, ends in (("low", column.low), ("high", column.high), ("mid", column.midpoints)):
            yield Shaped(f"{name}_{part}", column.series(ends), name, part)
    elif column.tree is not None:
        for level in range(1, column.tree.depth + 1):
            labels: Any = release.level(name, level)
            yield Shaped(f"{name}_{level}", _plain(labels), name, f"level {level}")
    elif len(column.values) <= MOST_SHARES and column.told.form != "nodes":
        for place, value in enumerate(column.values):
            shares = np.where(column.missing, np.nan, column.shares[:, place])
            yield Shaped(f"{name}_{value}", pd.Series(shares[column.which]), name, f"share of {value}")
    else:
        yield Shaped(name, _cells(release, name), name, "")


def _cells(release: Release, name: str) -> pd.Series[Any]:
    column = release.coarsened[name]
    texts: Any = np.array(column.texts, object)
    return pd.Series(texts[column.which], name=name)


def _plain(values: pd.Series[Any]) -> pd.Series[Any]:
    """Return categories as text."""
    return values.astype(object) if isinstance(values.dtype, pd.CategoricalDtype) else values
