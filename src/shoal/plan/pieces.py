"""The result of one fragment: the released quasi-identifiers of its records, and sums over its groups that add up to the metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from shoal.arrays import IntArray
from shoal.audit import check_cover
from shoal.cells.recode import released_cover, render
from shoal.encoding import CodedTable
from shoal.ends import ColumnEnds, Ranges, ranges_of, released_boxes, values_shown
from shoal.frames import Frame
from shoal.kernels.space.space import Cover
from shoal.methods.base import Grouping
from shoal.metrics.base import Outcome
from shoal.metrics.loss import Statistics
from shoal.plan.coding import Coding


@dataclass(frozen=True)
class Piece:
    """What one fragment contributes to the release."""

    columns: dict[str, pa.Array]
    """The released quasi-identifiers of the records that are kept, in the order of the fragment's records."""
    kept: IntArray
    """Which of the fragment's records these are."""
    statistics: Statistics | None = None
    """Sums over its groups; None if these are not all of its own."""


def fragment_ranges(part: CodedTable, grouping: Grouping) -> dict[int, Ranges]:
    """Return the ranges that the groups of one fragment need.

    Those of all fragments, merged, decide where the ranges of the whole release end (``ends.choose_ends``). No model minds which cells
    become equal by that: those that are kept fragment by fragment hold for two groups together if they hold for each.
    """
    return ranges_of(part.columns, released_cover(part, grouping))


def release_fragment(
    part: CodedTable, grouping: Grouping, k: int, ends: Mapping[int, ColumnEnds] | None = None
) -> Piece:
    """Render the groups of one fragment and measure them; ``ends`` say where ranges end, if that is not at their own values."""
    cover, ends = released_cover(part, grouping), ends or {}
    piece = release_rows(part, grouping.labels, cover, ends, grouping.cuts)
    return replace(piece, statistics=measure_groups(part, grouping.labels, cover, k, ends))


def measure_groups(
    part: CodedTable, labels: IntArray, cover: Cover, k: int, ends: Mapping[int, ColumnEnds]
) -> Statistics:
    """Return the sums over the groups of some records."""
    boxes = released_boxes(part, cover, ends) if ends else None
    return Statistics.of(Outcome(part, labels, values_shown(cover, ends), k, boxes and (boxes.space, boxes.cover)))


def release_rows(
    part: CodedTable,
    labels: IntArray,
    cover: Cover,
    ends: Mapping[int, ColumnEnds],
    cuts: Sequence[IntArray] | None = None,
) -> Piece:
    """Render some records of groups whose boxes are known; other records of these groups may be elsewhere."""
    kept = np.flatnonzero(labels >= 0).astype(np.int32)
    here, number = np.unique(labels[kept], return_inverse=True)
    present = Cover(cover.low[:, here], cover.high[:, here], cover.words[here], cover.size[here])
    renumbered = np.full(len(labels), -1, np.int32)
    renumbered[kept] = number.reshape(-1)
    return Piece(render(part, renumbered, present, ends, cuts), kept)


def check_cells(coding: Coding, original: Frame, piece: Piece) -> None:
    """Read every distinct cell of a fragment again and ask whether it covers the values it stands for.

    ``original`` holds the records that are kept. How text is read as numbers or dates was learned from the whole table.
    """
    for column in coding.columns:
        own = (
            coding.typed_cells(column.name, original.table.column(column.name))
            if column.measured
            else original.cells(column.name)
        )
        check_cover(column, own, pa.chunked_array([piece.columns[column.name]]))
