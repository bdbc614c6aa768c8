"""What workers do. Each task is told where its rows lie and writes what comes out beside them."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from shoal.arrays import AnyArray, IntArray, LongArray
from shoal.encoding import CodedTable
from shoal.ends import ColumnEnds, Ranges
from shoal.enforcement.keeping import group_records
from shoal.engines.contents import in_sample
from shoal.engines.cutting import Tree
from shoal.engines.fragments import Counts
from shoal.engines.learning import Coding
from shoal.engines.plan import Job, count_batch, run_fragment
from shoal.engines.releasing import Statistics, check_cells, fragment_ranges, release_fragment
from shoal.engines.stream.spool import private, read_codes, read_rows, write_codes, write_rows
from shoal.frames import Frame
from shoal.methods.base import Grouping
from shoal.notation import Notation
from shoal.privacy.base import bind_models


@dataclass(frozen=True)
class Setting:
    """What all workers need to know; each reads it once."""

    coding: Coding
    job: Job
    share: float | None
    """The share of the table in the sample; None: the table is one fragment."""
    tree: Tree | None
    columns: tuple[str, ...]
    """The columns of the release, in the order of the input."""
    untyped: bool
    notation: Notation
    piles: int
    """To how many piles the rows of a fragment are dealt."""
    records: int
    ends: dict[int, ColumnEnds] = field(default_factory=dict)
    """How the ends of ranges move, once all groups are found."""


def code_batch(setting: Setting, batch: Path) -> AnyArray:
    """Code a batch, keep its codes on disk, and return those of the records in the sample."""
    table = setting.coding.code(read_rows(batch))
    codes = np.vstack([table.codes, *(one.codes for one in table.attributes.values())])
    write_codes(codes, batch.with_suffix(".codes"))
    if setting.share is None:
        return codes[:, :0]
    return codes[:, in_sample(table, setting.job.task.seed, setting.share)]


def as_part(setting: Setting, codes: AnyArray) -> CodedTable:
    """Return stacked codes as a part of the table."""
    width = len(setting.coding.columns)
    names = list(setting.coding.attributes)
    side = {name: np.ascontiguousarray(codes[width + row]) for row, name in enumerate(names)}
    return setting.coding.part(np.ascontiguousarray(codes[:width]), side)


def sort_batch(setting: Setting, batch: Path) -> tuple[Counts, LongArray]:
    """Sort a batch by leaf on disk; return what was counted, and where the rows of each leaf end."""
    assert setting.tree is not None  # noqa: S101
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


Stretches = Sequence[tuple[Path, int, int]]
"""Where the rows of a fragment lie: stretches of sorted batches."""


def group_fragment(setting: Setting, stretches: Stretches, target: Path) -> dict[int, Ranges]:
    """Group a fragment and put its groups by; return the ranges they need."""
    part, job = _read_part(setting, stretches), setting.job
    grouping = _group_whole(part, job) if setting.share is None else run_fragment(part, job, setting.records)
    write_codes(grouping.labels, target.with_suffix(".labels"))
    return fragment_ranges(part, grouping)


def write_piece(setting: Setting, stretches: Stretches, target: Path) -> Statistics:
    """Release the rows of a grouped fragment and write them, dealt to piles."""
    part = _read_part(setting, stretches)
    labels = np.asarray(read_codes(target.with_suffix(".labels")))
    piece = release_fragment(part, Grouping(labels), setting.job.task.k, setting.ends)
    rows = pa.concat_tables([read_rows(batch.with_suffix(".rows"))[begin:end] for batch, begin, end in stretches])
    kept = rows.take(pa.array(piece.kept))
    released = pa.table(
        {name: piece.columns[name] if name in piece.columns else _plain(kept.column(name)) for name in setting.columns}
    )
    check_cells(setting.coding, Frame(kept, untyped=setting.untyped, notation=setting.notation), piece)
    _deal(released, setting.piles, target)
    target.with_suffix(".labels").unlink()
    return piece.statistics


def _read_part(setting: Setting, stretches: Stretches) -> CodedTable:
    codes = [read_codes(batch.with_suffix(".sorted"))[:, begin:end] for batch, begin, end in stretches]
    return as_part(setting, np.concatenate(codes, axis=1))


def _group_whole(part: CodedTable, job: Job) -> Grouping:
    """Group a table of one fragment as it is in memory: in the order of its rows."""
    return group_records(job.method, part, replace(job.task, requirements=bind_models(job.models, part, job.sensitive)))


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column without a dictionary: those of fragments differ."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


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
