"""The steps of a streamed release in their order."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.arrays import CancelToken, IntArray, LongArray, Progress
from shoal.audit import Audit, audit_of_sizes, measure_attribute
from shoal.encoding import CodedAttribute, HierarchyChoice, KindChoice, Weight
from shoal.ends import ColumnEnds, EndsChoice, Ranges, choose_ends, merge_ranges
from shoal.engines.learning import Coding, make_coding
from shoal.engines.plan import Job, cut_table, fragments_of, sample_share
from shoal.engines.releasing import Statistics, combine, fragment_ranges, metrics_of
from shoal.engines.stream.recounting import Recount
from shoal.engines.stream.spool import Spool, fill_spool
from shoal.engines.stream.tasks import Setting, Stretches, as_part, code_batch, group_fragment, sort_batch, write_piece
from shoal.engines.stream.workers import Workers
from shoal.engines.stream.writing import PART, check_form, check_written, is_folder, piles, write_file
from shoal.errors import DataError, ParameterError, PrivacyError
from shoal.io.files import gives_text
from shoal.io.source import ReadOptions
from shoal.io.transaction import Transaction
from shoal.io.workroom import Workroom
from shoal.methods.base import Grouping, most_withheld
from shoal.privacy.base import PrivacyModel, Requirement, bind_models

_ROWS = 1 << 18
"""Rows of a batch on disk, at most."""
_FEWEST_ROWS = 1 << 14
_MERGED = 64
"""Fragments whose ranges are merged at once."""
_BYTES_OF_ROW = 2048
"""What a row in work may take, with all that is made of it on the way."""


@dataclass(frozen=True)
class Order:
    """What is to be released, and where: all parameters of a streamed release."""

    place: str | Path
    target: Path
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    keep: tuple[str, ...]
    job: Job
    ends: EndsChoice = "exact"
    options: ReadOptions = field(default_factory=ReadOptions)
    kinds: dict[str, KindChoice] = field(default_factory=dict)
    hierarchies: dict[str, HierarchyChoice] = field(default_factory=dict)
    weights: dict[str, Weight] = field(default_factory=dict)
    memory: int = 1 << 32
    """Bytes that all processes together should stay within."""
    workers: int = 1
    scratch: Path | None = None
    """Where rows lie meanwhile; by default beside the target."""
    force: bool = False
    inputs: tuple[Path, ...] = ()
    check_columns: Callable[[Sequence[str]], None] = lambda _: None
    """Refuses a table without the columns that are named."""
    progress: Progress = lambda _fraction, _text: None
    cancel: CancelToken | None = None


@dataclass(frozen=True)
class StreamRelease:
    """What came out of a streamed release; its rows are in ``files``."""

    path: Path
    files: tuple[Path, ...]
    records: int
    """Records of the table."""
    fragments: int
    metrics: dict[str, Any]
    audit: Audit
    understood: dict[str, str]

    @property
    def suppressed(self) -> int:
        """The number of records withheld."""
        return int(self.metrics["suppressed"])


def free_memory() -> int:
    """Return half of the memory that is free, in bytes; 2 GiB where the system does not tell."""
    try:
        return int(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")) // 2
    except (ValueError, OSError, AttributeError):
        return 1 << 31


def stream(order: Order) -> StreamRelease:
    """Release a table that need not fit into memory; nothing appears under the target's name before all of it is counted again."""
    check_form(order.target)
    files = Transaction(force=order.force, inputs=order.inputs)
    if not is_folder(order.target):
        files.add(order.target, last=True)
    elif order.target.exists():
        raise ParameterError(
            f"The folder {order.target.name!r} exists and is left as it is.", hint="name a new folder."
        )
    with _workroom(order.scratch or order.target.absolute().parent) as room, files:
        return _Run(order, files, room).run()


@contextlib.contextmanager
def _workroom(folder: Path) -> Iterator[Path]:
    if not folder.is_dir():
        raise ParameterError(f"The folder {folder.name!r} for temporary rows does not exist.", hint="create it first.")
    room = Workroom(folder)
    try:
        yield room.path
    finally:
        room.close()


class _Run:
    """One streamed release."""

    def __init__(self, order: Order, files: Transaction, room: Path) -> None:
        self.order, self.files, self.room = order, files, room
        self.rows = int(min(max(order.memory // _BYTES_OF_ROW // (order.workers + 1), _FEWEST_ROWS), _ROWS))

    def run(self) -> StreamRelease:
        """Take all steps."""
        order = self.order
        spool = self._read()
        coding = self._learn(spool)
        share = sample_share(coding.records, order.job, coding.columns)
        setting = Setting(
            coding=coding,
            job=order.job,
            share=share,
            tree=None,
            columns=tuple(name for name in spool.schema.names if name in self._released),
            untyped=gives_text(order.place),
            notation=order.options.notation,
            piles=-(-coding.records // (2 * self.rows)),
            records=coding.records,
        )
        number = 1 if share is None else order.workers  # a pool does not pay for one fragment
        with Workers(number, self.room, order.cancel) as workers:
            workers.tell(setting)
            sample = list(workers.run(code_batch, [(batch,) for batch in spool.batches]))
            pilot = as_part(setting, np.concatenate(sample, axis=1))
            order.progress(0.2, "cutting the table")
            setting = replace(setting, tree=cut_table(pilot, coding.records, order.job))
            workers.tell(setting)
            stretches = self._sort(workers, setting, spool)
            pieces = [self.room / f"piece-{number:06}.arrow" for number in range(len(stretches))]
            setting = replace(setting, ends=self._group(workers, coding, list(zip(stretches, pieces, strict=True))))
            workers.tell(setting)
            statistics = combine(list(workers.run(write_piece, list(zip(stretches, pieces, strict=True)))))
        audit = self._recount(pieces, coding, statistics)
        written = self._write(pieces, setting, statistics.records - statistics.suppressed)
        metrics = metrics_of(statistics, order.quasi_identifiers, coding.weights, order.job.task.k)
        order.progress(1.0, "done")
        return StreamRelease(order.target, written, coding.records, len(pieces), metrics, audit, coding.understood)

    @property
    def _released(self) -> set[str]:
        return {*self.order.quasi_identifiers, *self.order.sensitive, *self.order.keep}

    def _read(self) -> Spool:
        order = self.order
        coded = [*order.quasi_identifiers, *order.sensitive]
        names = [*coded, *order.keep]
        return fill_spool(
            order.place, order.options, names, coded, self.room, self.rows, order.progress, order.check_columns
        )

    def _learn(self, spool: Spool) -> Coding:
        order = self.order
        if order.job.task.k > spool.learned.records:
            raise ParameterError(
                f"The 'k' parameter of Anonymizer must be at most the number of records, {spool.learned.records}. "
                f"Got {order.job.task.k} instead.",
                hint="nobody can hide among more records than there are.",
            )
        coding = make_coding(
            spool.learned,
            order.quasi_identifiers,
            order.sensitive,
            kinds=order.kinds,
            hierarchies=order.hierarchies,
            weights=order.weights,
            untyped=gives_text(order.place),
            notation=order.options.notation,
        )
        nothing = fragment_ranges(coding.empty, Grouping(np.zeros(0, np.int32)))
        choose_ends(coding.columns, nothing, order.ends)  # a step that does not fit is said before any work
        for one in coding.attributes.values():  # what not even the whole table keeps is said before any work
            self._bind(coding, replace(one, codes=_expanded(one.total)))
        return coding

    def _bind(self, coding: Coding, attribute: CodedAttribute) -> list[tuple[PrivacyModel, Requirement]]:
        """Return the models that look at a sensitive column, bound to all its values."""
        name = attribute.name
        chosen = [model for model in self.order.job.models if getattr(model, "column", None) in {None, name}]
        table = replace(coding.empty, attributes={name: attribute})
        return list(zip(chosen, bind_models(chosen, table, [name]), strict=True))

    def _sort(self, workers: Workers, setting: Setting, spool: Spool) -> list[list[tuple[Path, int, int]]]:
        """Sort all batches by leaf; return where the rows of each fragment lie."""
        assert setting.tree is not None  # noqa: S101
        found = list(workers.run(sort_batch, [(batch,) for batch in spool.batches]))
        counts = found[0][0]
        for more, _ in found[1:]:
            counts = counts + more
        attributes = [setting.coding.attributes[name] for name in self.order.job.sensitive]
        fragment = (
            np.zeros(1, np.int32)
            if setting.share is None
            else fragments_of(setting.tree, counts, self.order.job, attributes)
        )
        return [
            _stretches(np.flatnonzero(fragment == number), spool.batches, [ends for _, ends in found])
            for number in range(int(fragment.max()) + 1)
        ]

    def _group(
        self, workers: Workers, coding: Coding, calls: Sequence[tuple[Stretches, Path]]
    ) -> dict[int, ColumnEnds]:
        """Group all fragments; return where the ranges of all of them end."""
        found: list[dict[int, Ranges]] = []
        for done, ranges in enumerate(workers.run(group_fragment, calls), 1):
            found.append(ranges)
            if len(found) == _MERGED:
                found = [merge_ranges(found)]
            self.order.progress(0.25 + 0.5 * done / len(calls), f"grouped {done:,} of {len(calls):,} fragments")
        return choose_ends(coding.columns, merge_ranges(found), self.order.ends)

    def _recount(self, pieces: Sequence[Path], coding: Coding, statistics: Statistics) -> Audit:
        """Count all staged rows anew and check every model on that count."""
        order, task = self.order, self.order.job.task
        order.progress(0.86, "counting again")
        if statistics.suppressed > most_withheld(task.max_suppression, coding.records):
            raise PrivacyError(
                f"{statistics.suppressed} records would have to be withheld, more than 'max_suppression' allows. Nothing was released.",
                hint="allow more suppression, lower k, or take another method.",
            )
        count = Recount(order.quasi_identifiers, order.sensitive)
        for piece in pieces:
            rows = pa.ipc.open_file(pa.memory_map(str(piece))).read_all()
            count.add(rows, {name: coding.books[name].look_up(name, rows.column(name)) for name in order.sensitive})
        if count.rows != statistics.records - statistics.suppressed or statistics.records != coding.records:
            raise DataError(
                "Rows were lost on the way. Nothing was released.", hint="this is a fault in shoal; please report it."
            )
        sizes = count.check(order.job.k)
        _, held = count.groups()
        return replace(
            audit_of_sizes(order.quasi_identifiers, sizes), sensitive=self._check_models(coding, held, len(sizes))
        )

    def _check_models(
        self, coding: Coding, held: dict[str, tuple[IntArray, IntArray, LongArray]], groups: int
    ) -> dict[str, dict[str, float]]:
        """Check every model on the counted groups; return what they promise of each sensitive column."""
        measures = {}
        for name, (label, code, rows) in held.items():
            labels, codes = np.repeat(label, rows), np.repeat(code, rows)
            attribute = replace(coding.attributes[name], codes=codes)
            bound = self._bind(coding, attribute)
            for model, requirement in bound:
                failing = int(requirement.failing(labels, groups).sum())
                if failing:
                    raise PrivacyError(
                        f"{type(model).__name__} does not hold in {failing} groups. Nothing was released.",
                        hint="relax the model, allow suppression, or take another method.",
                    )
            measures[name] = measure_attribute(attribute, labels, groups, [requirement for _, requirement in bound])
        return measures

    def _write(self, pieces: Sequence[Path], setting: Setting, rows: int) -> tuple[Path, ...]:
        """Write the release under temporary names and count it once more from disk."""
        order, target = self.order, self.order.target
        order.progress(0.92, "writing")
        needs = sum(piece.stat().st_size for piece in pieces)
        if is_folder(target):
            parts = [target / PART.format(number) for number in range(setting.piles)]
            for part in parts:
                self.files.add(part, make_folder=True)
            written = [self.files.temporary(part, needs) for part in parts]
            for path, pile in zip(written, piles(pieces, setting.piles), strict=True):
                write_file(iter([pile]), path)
        else:
            parts, written = [target], [self.files.temporary(target, needs)]
            write_file(piles(pieces, setting.piles), written[0])
        order.progress(0.97, "reading back")
        check_written(written, order.quasi_identifiers, order.job.task.k, rows)
        return tuple(parts)


def _stretches(leaves: LongArray, batches: Sequence[Path], ends: Sequence[LongArray]) -> list[tuple[Path, int, int]]:
    """Return where the rows of some leaves lie in the sorted batches."""
    return [
        (batch, int(end[leaf]), int(end[leaf + 1]))
        for batch, end in zip(batches, ends, strict=True)
        for leaf in leaves.tolist()
        if end[leaf + 1] > end[leaf]
    ]


def _expanded(total: LongArray | None) -> IntArray:
    """Return as many codes as were counted, in their order."""
    counts = np.zeros(0, np.int64) if total is None else total
    return np.repeat(np.arange(len(counts), dtype=np.int32), counts)
