"""The steps of a streamed release in their order."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from shoal.arrays import LongArray
from shoal.ends import ColumnEnds, Ranges, choose_ends, merge_ranges
from shoal.engines.contents import Sample, merge_samples
from shoal.engines.counting import bind_column
from shoal.engines.cutting import build_tree
from shoal.engines.learning import Coding, make_coding
from shoal.engines.plan import cut_table, fragments_of, sample_share, take_sample
from shoal.engines.releasing import Statistics, combine, fragment_ranges, metrics_of
from shoal.engines.stream.checking import expanded, recount_pieces
from shoal.engines.stream.excerpts import shown_up_to
from shoal.engines.stream.order import Order, StreamRelease
from shoal.engines.stream.reporting import look_twice, sample_release
from shoal.engines.stream.spool import Spool, fill_spool, known_records, treat_spool
from shoal.engines.stream.tasks import (
    Setting,
    Stretches,
    code_batch,
    group_fragment,
    sample_batch,
    sort_batch,
    write_piece,
)
from shoal.engines.stream.whole import check_memory, group_whole
from shoal.engines.stream.workers import Workers
from shoal.engines.stream.writing import check_form, check_written, is_folder, piles, write_file
from shoal.errors import ParameterError
from shoal.io.files import gives_text
from shoal.io.transaction import Transaction
from shoal.io.workroom import Workroom
from shoal.methods.base import Grouping
from shoal.report import Report, report_form
from shoal.saving import sidecar_path, write_provenance
from shoal.summary import Release
from shoal.summary.finding import merge_sizes
from shoal.summary.summarising import Whole, summarise

_ROWS = 1 << 18
"""Rows of a batch on disk, at most."""
_FEWEST_ROWS = 1 << 14
_MERGED = 64
"""Fragments whose ranges are merged at once."""
_BYTES_OF_ROW = 2048
"""What a row in work may take, with all that is made of it on the way."""


def stream(order: Order) -> StreamRelease:
    """Release a table that need not fit into memory; nothing appears under the target's name before all of it is counted again."""
    check_form(order.target)
    files = Transaction(force=order.force, inputs=order.inputs)
    if order.sidecar:
        files.add(sidecar_path(order.target))
    if order.report:
        report_form(order.report)
        files.add(order.report)
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
        if order.whole:
            check_memory(order, known_records(order.place))
        spool, treated = treat_spool(fill_spool(order, self.room, self.rows), order)
        coding = self._learn(spool)
        share = None if order.whole else sample_share(coding.records, order.job, coding.columns)
        setting = Setting(
            coding=coding,
            job=order.job,
            share=share,
            tree=build_tree(coding.space, coding.empty.codes, np.zeros(0, np.int32)),
            columns=tuple(name for name in spool.schema.names if name in order.released),
            frame=order.frame(spool.schema.empty_table()),
            piles=-(-coding.records // (2 * self.rows)),
            records=coding.records,
        )
        number = 1 if share is None and not order.whole else order.workers  # a pool does not pay for one fragment
        with Workers(number, self.room, order.job, order.cancel) as workers:
            workers.tell(setting)
            for _ in workers.run(code_batch, [(batch,) for batch in spool.batches]):
                pass
            if share is not None:
                order.progress(0.2, "cutting the table")
                sample = take_sample(partial(_sample, workers, spool), share)
                setting = replace(setting, tree=cut_table(coding.empty, sample, coding.records, order.job))
                workers.tell(setting)
            stretches = self._sort(workers, setting, spool)
            calls = [(one, self.room / f"piece-{number:06}.arrow") for number, one in enumerate(stretches)]
            found = group_whole(order, setting, calls) if order.whole else None
            if found:
                groups = [len(found.cover.size)]
                setting = replace(setting, ends=found.ends, cover=found.cover, mean_weight=found.mean_weight)
            else:
                ends, groups = self._group(workers, coding, calls)
                setting = replace(setting, ends=ends)
            if order.reporting:
                setting = replace(setting, shown=shown_up_to(coding.records, groups, order.job.task.seed))
            workers.tell(setting)
            sums, excerpts = zip(*workers.run(write_piece, calls), strict=True)
        statistics = found.statistics if found else combine(sums)
        pieces = [piece for _, piece in calls]
        order.progress(0.86, "counting again")
        audit, sizes = recount_pieces(
            order, replace(coding, attributes=found.attributes) if found else coding, pieces, statistics
        )
        metrics = metrics_of(statistics, order.quasi_identifiers, coding.weights, order.job.task.k)
        warnings = look_twice(order, spool, audit, pieces, treated)
        summary = None
        if order.reporting:
            before = found.sizes if found else merge_sizes([one.sizes for one in excerpts])
            known = Whole(coding.records, audit.records, before, sizes, warnings)
            parts = sample_release(order, spool, setting, excerpts)
            summary = summarise(Release(**parts, metrics=metrics, audit=audit, treated=treated), whole=known)
        written = self._write(pieces, setting, statistics)
        if order.sidecar:
            write_provenance(self.files.temporary(sidecar_path(order.target)), order.recipe, metrics, audit)
        if order.report and summary:
            self.files.temporary(order.report).write_text(Report(summary).text(order.report), encoding="utf-8")
        order.progress(1.0, "done")
        fragments = found.fragments if found else len(pieces)
        return StreamRelease(
            order.target,
            written,
            coding.records,
            fragments,
            metrics,
            audit,
            coding.understood,
            coding.empty,
            treated,
            tuple(warnings),
            summary,
        )

    def _learn(self, spool: Spool) -> Coding:
        order = self.order
        if order.job.task.k > spool.learned.records:
            raise ParameterError(
                f"The 'k' parameter of Anonymizer must be at most the number of records, {spool.learned.records}. "
                f"Got {order.job.task.k} instead.",
                hint="nobody can hide among more records than there are.",
            )
        if order.whole:
            check_memory(order, spool.learned.records)
        coding = make_coding(
            spool.learned,
            order.quasi_identifiers,
            order.attributes,
            kinds=order.kinds,
            hierarchies=order.hierarchies,
            weights=order.weights,
            untyped=gives_text(order.place),
            notation=order.options.notation,
        )
        nothing = fragment_ranges(coding.empty, Grouping(np.zeros(0, np.int32)))
        choose_ends(coding.columns, nothing, order.recipe.ends)  # a step that does not fit is said before any work
        for name in order.job.sensitive:  # what not even the whole table keeps is said before any work
            one = coding.attributes[name]
            bind_column(order.job.models, coding, replace(one, codes=expanded(one.total)))
        return coding

    def _sort(self, workers: Workers, setting: Setting, spool: Spool) -> list[Stretches]:
        """Sort all batches by leaf; return where the rows of each fragment lie."""
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
        if self.order.whole:  # each batch is written by itself
            return [[(batch, 0, int(ends[-1]))] for batch, (_, ends) in zip(spool.batches, found, strict=True)]
        return [
            _stretches(np.flatnonzero(fragment == number), spool.batches, [ends for _, ends in found])
            for number in range(int(fragment.max()) + 1)
        ]

    def _group(
        self, workers: Workers, coding: Coding, calls: Sequence[tuple[Stretches, Path]]
    ) -> tuple[dict[int, ColumnEnds], list[int]]:
        """Group all fragments; return where the ranges of all of them end, and how many groups each has."""
        found: list[dict[int, Ranges]] = []
        groups: list[int] = []
        for done, (ranges, count) in enumerate(workers.run(group_fragment, calls), 1):
            found.append(ranges)
            groups.append(count)
            if len(found) == _MERGED:
                found = [merge_ranges(found)]
            self.order.progress(0.25 + 0.5 * done / len(calls), f"grouped {done:,} of {len(calls):,} fragments")
        return choose_ends(coding.columns, merge_ranges(found), self.order.recipe.ends), groups

    def _write(self, pieces: Sequence[Path], setting: Setting, statistics: Statistics) -> tuple[Path, ...]:
        """Write the release under temporary names and count it once more from disk."""
        order, target = self.order, self.order.target
        order.progress(0.92, "writing")
        needs = sum(piece.stat().st_size for piece in pieces)
        if is_folder(target):
            parts = [target / order.part.format(number) for number in range(setting.piles)]
            for part in parts:
                self.files.add(part, make_folder=True)
            written = [self.files.temporary(part, needs) for part in parts]
            for path, pile in zip(written, piles(pieces, setting.piles), strict=True):
                write_file(iter([pile]), path)
        else:
            parts, written = [target], [self.files.temporary(target, needs)]
            write_file(piles(pieces, setting.piles), written[0])
        order.progress(0.97, "reading back")
        check_written(written, order.quasi_identifiers, order.job.task.k, statistics.records - statistics.suppressed)
        return tuple(parts)


def _sample(workers: Workers, spool: Spool, share: float) -> Sample:
    """Return a sample of all batches."""
    return merge_samples(workers.run(sample_batch, [(batch, share) for batch in spool.batches]))


def _stretches(leaves: LongArray, batches: Sequence[Path], ends: Sequence[LongArray]) -> list[tuple[Path, int, int]]:
    """Return where the rows of some leaves lie in the sorted batches."""
    return [
        (batch, int(end[leaf]), int(end[leaf + 1]))
        for batch, end in zip(batches, ends, strict=True)
        for leaf in leaves.tolist()
        if end[leaf + 1] > end[leaf]
    ]
