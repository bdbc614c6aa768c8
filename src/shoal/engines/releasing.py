"""What one fragment gives: the released quasi-identifiers of its records, and sums over its groups that add up to the metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.arrays import FloatArray, IntArray
from shoal.audit import check_cover
from shoal.encoding import CodedTable
from shoal.ends import ColumnEnds, Ranges, ranges_of, released_boxes, values_shown
from shoal.engines.learning import Coding
from shoal.frames import Frame
from shoal.kernels.common.sums import sum_of_products
from shoal.kernels.space.space import Cover
from shoal.methods.base import Grouping
from shoal.metrics.base import Outcome
from shoal.metrics.loss import il_of_groups, iloss, md, ncp_columns, pg_of_groups
from shoal.recoding import released_cover, render


@dataclass(frozen=True)
class Statistics:
    """Sums over the groups of a fragment, or of several: all that the metrics need."""

    records: int
    groups: int
    suppressed: int
    penalty: FloatArray
    """The certainty penalty of each column, summed over records; a withheld one counts in full."""
    square_sizes: float
    iloss: float
    """The mean share of other values a cell may stand for, times records."""
    changed_cells: float
    il: float
    pg: float
    ipg: float
    """The measures of groups of the same names, summed over groups."""

    def __add__(self, other: Statistics) -> Statistics:
        return Statistics(**{name: value + vars(other)[name] for name, value in vars(self).items()})


def statistics_of(part: CodedTable, labels: IntArray, outcome: Outcome) -> Statistics:
    """Return the sums of one grouped fragment."""
    extent, gain = il_of_groups(outcome), pg_of_groups(outcome)
    return Statistics(
        records=part.records,
        groups=outcome.groups,
        suppressed=int((labels < 0).sum()),
        penalty=ncp_columns(outcome) * part.records,
        square_sizes=float((outcome.size**2).sum()),
        iloss=iloss(outcome) * part.records,
        changed_cells=md(outcome),
        il=float(extent.sum()),
        pg=float(gain.sum()),
        ipg=float(((1.0 - extent) * gain).sum()),
    )


def combine(parts: Sequence[Statistics]) -> Statistics:
    """Return the sums of several fragments, added in the order given: floats then add up to the same digits."""
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def metrics_of(total: Statistics, names: Sequence[str], weights: FloatArray, k: int) -> dict[str, Any]:
    """Return the metrics of a release from the sums of all its fragments.

    Those are left out that need all records at once: sums of squares, and the class metric.
    """
    by_column = total.penalty / max(total.records, 1)
    ncp, groups = sum_of_products(by_column, weights) / float(weights.sum()), max(total.groups, 1)
    kept = total.records - total.suppressed
    return {
        "ncp": ncp,
        "ncp_total": sum_of_products(total.penalty, weights),
        "utility": 1.0 - ncp,
        "dm": total.square_sizes + float(total.records) * total.suppressed,
        "c_avg": kept / (groups * k),
        "iloss": total.iloss / max(total.records, 1),
        "md": total.changed_cells,
        "il": total.il / groups,
        "pg": total.pg / groups,
        "ipg": total.ipg / groups,
        "ncp_by_column": dict(zip(names, by_column.tolist(), strict=True)),
        "groups": total.groups,
        "suppressed": total.suppressed,
    }


@dataclass(frozen=True)
class Piece:
    """What one fragment contributes to the release."""

    columns: dict[str, pa.Array]
    """The released quasi-identifiers of the records that are kept, in the order of the fragment's records."""
    kept: IntArray
    """Which of the fragment's records these are."""
    statistics: Statistics | None = None
    """Sums over its groups; None where these are not all of its own."""


def fragment_ranges(part: CodedTable, grouping: Grouping) -> dict[int, Ranges]:
    """Return the ranges that the groups of one fragment need.

    Those of all fragments, merged, decide where the ranges of the whole release end (``ends.choose_ends``). No model minds which cells
    become equal by that: those that are kept fragment by fragment hold for two groups together where they hold for each.
    """
    return ranges_of(part.columns, released_cover(part, grouping))


def release_fragment(
    part: CodedTable, grouping: Grouping, k: int, ends: Mapping[int, ColumnEnds] | None = None
) -> Piece:
    """Render the groups of one fragment and measure them; ``ends`` say where ranges end, where that is not at their own values."""
    cover, ends = released_cover(part, grouping), ends or {}
    piece = release_rows(part, grouping.labels, cover, ends)
    return replace(piece, statistics=measure_groups(part, grouping.labels, cover, k, ends))


def measure_groups(
    part: CodedTable, labels: IntArray, cover: Cover, k: int, ends: Mapping[int, ColumnEnds]
) -> Statistics:
    """Return the sums over the groups of some records."""
    boxes = released_boxes(part, cover, ends) if ends else None
    outcome = Outcome(part, labels, values_shown(cover, ends), k, boxes and (boxes.space, boxes.cover))
    return statistics_of(part, labels, outcome)


def release_rows(part: CodedTable, labels: IntArray, cover: Cover, ends: Mapping[int, ColumnEnds]) -> Piece:
    """Render some records of groups whose boxes are known; other records of these groups may lie elsewhere."""
    kept = np.flatnonzero(labels >= 0).astype(np.int32)
    here, number = np.unique(labels[kept], return_inverse=True)
    present = Cover(cover.low[:, here], cover.high[:, here], cover.words[here], cover.size[here])
    renumbered = np.full(len(labels), -1, np.int32)
    renumbered[kept] = number.reshape(-1)
    return Piece(render(part, renumbered, present, ends), kept)


def check_cells(coding: Coding, original: Frame, piece: Piece) -> None:
    """Read every distinct cell of a fragment anew and ask whether it covers the values it stands for.

    ``original`` holds the records that are kept. How text is read as numbers or dates was learned from the whole table.
    """
    for column in coding.columns:
        own = (
            coding.typed_cells(column.name, original.table.column(column.name))
            if column.measured
            else original.cells(column.name)
        )
        check_cover(column, own, pa.chunked_array([piece.columns[column.name]]))
