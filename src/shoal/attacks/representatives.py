"""Distance linkage as a finding: the guess for a released representative is the nearest original record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import FloatArray
from shoal.attacks.base import Finding, as_frame, rate, typed_table
from shoal.attacks.distance import distance_linked
from shoal.cells.parse import parse_column
from shoal.errors import DataError
from shoal.frames import Frame
from shoal.validation import check_columns


def distance_linkage(original: Any, release: Any, on: Sequence[str]) -> Finding:
    """Guess for each released row that it is the nearest original record, in releases with representatives.

    The rows must be in the same order, because the steward checks the guesses; ``on`` are columns of numbers in
    both. The control picks an original record blindly.

    Examples
    --------
    >>> import shoal
    >>> bodies = {"height": [160, 161, 162, 180, 181, 182], "weight": [55, 57, 56, 80, 82, 81]}
    >>> result = shoal.anonymize(bodies, k=3, quasi_identifiers=["height", "weight"], method="mdav")
    >>> shoal.attacks.distance_linkage(bodies, result, ["height", "weight"]).verdict
    'The nearest original record is the right one for 33.3 % of 6 rows.'
    """
    own, published = as_frame(original), as_frame(release)
    names = check_columns("known to the intruder", on, [name for name in own.names if name in published.names])
    if own.records != published.records:
        raise DataError(
            "Distance linkage is checked row by row, and the release has another number of rows than the original.",
            hint="give the release in the order of the input, with no record withheld.",
        )
    before, after = as_numbers(typed_table(own, names)), as_numbers(typed_table(published, names))
    share = distance_linked(before, after)
    return Finding(
        attack="distance linkage",
        question="Which person is nearest to this row?",
        success=rate(share * own.records, own.records),
        control=rate(1.0, own.records),
        verdict=f"The nearest original record is the right one for {100 * share:.1f} % of {own.records:,} rows.",
        figures={"columns": len(names)},
    )


def representative_columns(own: Frame, published: Frame, on: Sequence[str]) -> list[str]:
    """Return the columns of numbers by which rows can be linked by distance; none if the release has ranges.

    A release with representatives shows one value in each cell, and at least one number that the original has not.
    """
    names = [name for name in on if name in own.names and name in published.names]
    columns = {name: (own.typed(name), published.typed(name)) for name in names}
    numbers = [name for name, pair in columns.items() if all(_is_number(one) for one in pair)]
    others = [published.table.column(name) for name in names if name not in numbers]
    if any(cell.form not in {"value", "missing"} for one in others for cell in parse_column(one)[1]):
        return []
    fresh = any(
        pc.any(pc.invert(pc.is_in(pc.unique(columns[name][1]), _alike(*columns[name])))).as_py() for name in numbers
    )
    return numbers if fresh else []


def _alike(values: pa.ChunkedArray, like: pa.ChunkedArray) -> pa.Array:
    """Return the distinct values in the type of another column."""
    return pc.unique(values).cast(like.type, safe=False)


def _is_number(column: pa.ChunkedArray) -> bool:
    return bool(pa.types.is_integer(column.type) or pa.types.is_floating(column.type)) and not column.null_count


def as_numbers(table: pa.Table) -> FloatArray:
    """Return columns as a matrix, one row a record."""
    for name in table.column_names:
        if not _is_number(table.column(name)):
            raise DataError(f"Distance linkage needs numbers without gaps, and the column {name!r} has others.")
    return np.column_stack([np.asarray(table.column(name), np.float64) for name in table.column_names])
