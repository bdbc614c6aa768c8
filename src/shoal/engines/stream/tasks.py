"""What workers do. Each task gets the place of its rows and writes its results next to them."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.arrays import AnyArray, FloatArray, IntArray, LongArray
from shoal.encoding import CodedTable
from shoal.ends import ColumnEnds, Ranges
from shoal.engines.stream.excerpts import Excerpt, choose_groups, take_excerpt
from shoal.engines.stream.spool import STAGED, private, read_codes, read_rows, write_codes, write_rows
from shoal.frames import Frame
from shoal.frames.canonical import decoded
from shoal.kernels.space.space import Cover
from shoal.methods.base import Grouping
from shoal.metrics.loss import Statistics
from shoal.plan.coding import Coding
from shoal.plan.contents import Sample, draw_sample
from shoal.plan.cuts import Tree
from shoal.plan.fragments import Counts
from shoal.plan.pieces import check_cells, fragment_ranges, release_fragment, release_rows
from shoal.plan.steps import Job, count_batch, run_fragment

OWNER = STAGED + "{}"
"""The number of the person or household a row belongs to."""
WEIGHT = STAGED + "weight"
"""The survey weight of a row."""


@dataclass(frozen=True)
class WorkerContext:
    """What all workers need to know; each reads it once."""

    coding: Coding
    job: Job
    share: float | None
    """The share of the table in the sample; None: the table is one fragment."""
    tree: Tree
    columns: tuple[str, ...]
    """The columns of the release, in the order of the input."""
    frame: Frame
    """Without rows: how text is to be read."""
    piles: int
    """To how many piles the rows of a fragment are dealt."""
    records: int
    shown: int | None = None
    """Up to which hash of a group a report looks at it; None if there is none."""
    ends: dict[int, ColumnEnds] = field(default_factory=dict)
    """How the ends of ranges move, once all groups are found."""
    cuts: tuple[IntArray, ...] | None = None
    """Those of a global recoding of the whole table."""
    cover: Cover | None = None
    """Of a table that is grouped as a whole: the box of each group."""
    mean_weight: tuple[str, FloatArray] | None = None
    """Of such a table: the column of survey weights that is released as the mean of each group, and these means."""


def code_batch(setting: WorkerContext, batch: Path) -> None:
    """Code a batch and keep its codes on disk."""
    write_codes(_stacked(setting.coding.code(read_rows(batch))), batch.with_suffix(".codes"))


def sample_batch(setting: WorkerContext, batch: Path, share: float) -> Sample:
    """Return what a coded batch adds to the sample."""
    part = as_part(setting, np.asarray(read_codes(batch.with_suffix(".codes"))))
    return draw_sample(part, setting.job.task.seed, share)


def _stacked(table: CodedTable) -> AnyArray:
    """Return all codes of a table as one array."""
    return np.vstack([table.codes, *(one.codes for one in table.attributes.values())])


def as_part(setting: WorkerContext, codes: AnyArray) -> CodedTable:
    """Return stacked codes as a part of the table."""
    width = len(setting.coding.columns)
    names = list(setting.coding.attributes)
    side = {name: np.ascontiguousarray(codes[width + row]) for row, name in enumerate(names)}
    return setting.coding.part(np.ascontiguousarray(codes[:width]), side)


def sort_batch(setting: WorkerContext, batch: Path) -> tuple[Counts, LongArray]:
    """Sort a batch by leaf on disk; return what was counted, and where the rows of each leaf end."""
    codes = np.asarray(read_codes(batch.with_suffix(".codes")))
    part = as_part(setting, codes)
    leaf = setting.tree.assign(part.codes)
    order = np.argsort(leaf, kind="stable")
    write_codes(codes[:, order], batch.with_suffix(".sorted"))
    write_rows(read_rows(batch).take(pa.array(order)), batch.with_suffix(".rows"))
    batch.unlink()
    batch.with_suffix(".codes").unlink()
    counts = count_batch(part, leaf, setting.tree.leaves)
    return counts, np.concatenate(([0], np.cumsum(counts.records)))


RowSlices = Sequence[tuple[Path, int, int]]
"""Where the rows of a fragment are: stretches of sorted batches."""


def group_fragment(
    setting: WorkerContext, stretches: RowSlices, target: Path
) -> tuple[dict[int, Ranges], int, Mapping[str, Any]]:
    """Group a fragment and put its groups by; return the ranges they need, how many they are, and what else the method reports of a whole table."""
    part = _read_part(setting, stretches)
    grouping = run_fragment(part, setting.job, setting.records)
    write_codes(grouping.labels, target.with_suffix(".labels"))
    details = grouping.details if setting.share is None else {}
    return fragment_ranges(part, grouping), int(grouping.labels.max(initial=-1)) + 1, details


def write_piece(setting: WorkerContext, stretches: RowSlices, target: Path) -> tuple[Statistics | None, Excerpt | None]:
    """Release the rows of a grouped fragment, or of a batch of a table grouped as a whole, and write them, dealt to piles.

    Return sums over its groups, and what a report needs of it.
    """
    part = _read_part(setting, stretches)
    labels = np.asarray(read_codes(target.with_suffix(".labels")))
    if setting.cover is None:
        piece = release_fragment(part, Grouping(labels), setting.job.task.k, setting.ends)
    else:
        piece = release_rows(part, labels, setting.cover, setting.ends, setting.cuts)
    rows = pa.concat_tables([read_rows(batch.with_suffix(".rows"))[begin:end] for batch, begin, end in stretches])
    kept = rows.take(pa.array(piece.kept))
    own = dict(piece.columns)
    if setting.mean_weight is not None:
        name, means = setting.mean_weight
        own[name] = pa.array(means[labels[piece.kept]])
    released = pa.table(
        {name: own[name] if name in own else decoded(kept.column(name)) for name in setting.columns}
        | _staged_beside(target, piece.kept)
    )
    check_cells(setting.coding, replace(setting.frame, table=kept), piece)
    _deal(released, setting.piles, target)
    target.with_suffix(".labels").unlink()
    if setting.shown is None:
        return piece.statistics, None
    number = (
        0 if setting.cover is not None else int(target.stem.rpartition("-")[2])
    )  # one group may be in several batches
    chosen = choose_groups(labels, number, setting.job.task.seed, setting.shown)
    return piece.statistics, take_excerpt(part, _stacked(part), labels, rows, released.select(setting.columns), chosen)


def _staged_beside(target: Path, kept: IntArray) -> dict[str, pa.ChunkedArray]:
    """Return the columns staged next to the released ones, which only the recount reads."""
    beside = target.with_suffix(".beside")
    if not beside.exists():
        return {}
    rows = read_rows(beside).take(pa.array(kept))
    return dict(zip(rows.column_names, rows.columns, strict=True))


def _read_part(setting: WorkerContext, stretches: RowSlices) -> CodedTable:
    codes = [read_codes(batch.with_suffix(".sorted"))[:, begin:end] for batch, begin, end in stretches]
    return as_part(setting, np.concatenate(codes, axis=1))


def _deal(released: pa.Table, piles: int, target: Path) -> None:
    """Write rows in a fresh order, dealt at random to piles, one record batch each."""
    draw = np.random.default_rng(secrets.randbits(128))
    order: IntArray = draw.permutation(released.num_rows).astype(np.int32)
    ends = np.cumsum(draw.multinomial(released.num_rows, np.full(piles, 1.0 / piles)))
    shuffled = released.take(pa.array(order)).combine_chunks()
    empty = released.schema.empty_table()
    with pa.OSFile(str(private(target)), "wb") as sink, pa.ipc.new_file(sink, released.schema) as writer:
        begin = 0
        for end in ends.tolist():
            pile = shuffled[begin:end] if end > begin else empty
            batches = pile.combine_chunks().to_batches() or [pa.RecordBatch.from_pylist([], schema=released.schema)]
            writer.write_batch(batches[0])
            begin = end
