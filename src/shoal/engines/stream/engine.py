"""The steps of a streamed release in their order."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from shoal.ends import ColumnEnds, Ranges, choose_ends, merge_ranges
from shoal.engines.columns import check_records, decide_columns
from shoal.engines.stream.batches import Batches
from shoal.engines.stream.checking import expanded, recount_pieces
from shoal.engines.stream.determined import determined_pieces, find_in_spool
from shoal.engines.stream.excerpts import shown_up_to
from shoal.engines.stream.order import Order
from shoal.engines.stream.reporting import look_twice, summarize_stream
from shoal.engines.stream.result import StreamResult
from shoal.engines.stream.spool import Spool, fill_spool, known_records, treat_spool
from shoal.engines.stream.tasks import (
    RowSlices,
    WorkerContext,
    code_batch,
    group_fragment,
    write_piece,
)
from shoal.engines.stream.whole import check_memory, group_whole
from shoal.engines.stream.workers import Workers
from shoal.engines.stream.writing import (
    TextRows,
    check_form,
    check_written,
    dictionary_of,
    is_folder,
    piles,
    staged_rows,
    text_rows,
    write_file,
)
from shoal.errors import ParameterError
from shoal.io.files import gives_text, open_batches
from shoal.io.transaction import Transaction
from shoal.io.workroom import Workroom
from shoal.methods.base import Grouping
from shoal.metrics.loss import Statistics, combine
from shoal.plan.coding import Coding, make_coding
from shoal.plan.cuts import build_tree
from shoal.plan.judged import bind_column
from shoal.plan.pieces import fragment_ranges
from shoal.plan.steps import cut_into_fragments, fragment_records, sample_share
from shoal.publication import (
    About,
    Declared,
    PublicReport,
    dictionary_text,
    make_dictionary,
    public_report_form,
    public_trees,
)
from shoal.release.make import certificate
from shoal.report import Report, report_form
from shoal.results.save import dictionary_beside, tell_notation
from shoal.summary import computed_columns

_ROWS = 1 << 18
"""Rows of a batch on disk, at most."""
_FEWEST_ROWS = 1 << 14
_MERGED = 64
"""Fragments whose ranges are merged at once."""
_BYTES_OF_ROW = 2048
"""What a row in work may take, with all that is made of it on the way."""


def stream(order: Order) -> StreamResult:
    """Release a table that need not fit into memory; nothing appears under the target's name before all of it is counted again."""
    check_form(order.target)
    files = Transaction(force=order.force, inputs=order.inputs)
    beside = dictionary_beside(order.target, order.dictionary)
    if beside is not None:
        files.add(beside)
    if order.report:
        report_form(order.report)
        files.add(order.report, private=True)
    if order.public_report:
        public_report_form(order.public_report)
        files.add(order.public_report)
    if not is_folder(order.target):
        files.add(order.target, last=True)
    elif order.target.exists():
        raise ParameterError(
            f"The folder {order.target.name!r} exists and is left as it is.", hint="name a new folder."
        )
    with _workroom(order.scratch or order.target.absolute().parent) as room, files:
        return _Run(_with_columns_decided(order), files, room).run()


def _with_columns_decided(order: Order) -> Order:
    """Return an order that says what becomes of every column of the source, of which only the names are read."""
    if order.request.others == "drop":
        return order
    names = open_batches(order.place, order.options).schema.names
    return replace(order, request=decide_columns(order.request, names))


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

    def run(self) -> StreamResult:
        """Take all steps."""
        order = self.order
        if order.whole:
            check_memory(order, known_records(order.place))
        spool, treated = treat_spool(fill_spool(order, self.room, self.rows), order)
        coding = self._learn(spool)
        derived = find_in_spool(order, spool)
        share = None if order.whole else sample_share(coding.records, order.job, coding.columns)
        setting = WorkerContext(
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
        with Workers(number, self.room, order.job, order.request.cancel) as workers:
            workers.tell(setting)
            for _ in workers.run(code_batch, [(batch,) for batch in spool.batches]):
                pass
            batches = Batches(order, workers, setting, spool)
            if share is None:
                batches.sort(setting.tree)
                fragment = np.zeros(1, np.int32)
            else:
                order.request.progress(0.2, "cutting the table")
                fragment = cut_into_fragments(batches, coding.empty, coding.records, order.job, share).fragment
            setting, stretches = batches.setting, batches.stretches(fragment)
            calls = [(one, self.room / f"piece-{number:06}.arrow") for number, one in enumerate(stretches)]
            found = group_whole(order, setting, calls) if order.whole else None
            if found:
                groups, details = [len(found.cover.size)], found.details
                setting = replace(
                    setting, ends=found.ends, cover=found.cover, cuts=found.cuts, mean_weight=found.mean_weight
                )
            else:
                ends, groups, details = self._group(workers, coding, calls)
                setting = replace(setting, ends=ends)
            if order.reporting:
                setting = replace(setting, shown=shown_up_to(coding.records, groups, order.job.task.seed))
            workers.tell(setting)
            sums, excerpts = zip(*workers.run(write_piece, calls), strict=True)
        statistics = found.statistics if found else combine(sums)
        pieces = [piece for _, piece in calls]
        order.request.progress(0.86, "counting again")
        audit, sizes = recount_pieces(
            order, replace(coding, attributes=found.attributes) if found else coding, pieces, statistics
        )
        told, exposed = determined_pieces(order, pieces, derived)
        audit = replace(audit, **told)
        details = {"fragments": 1 if order.whole else len(pieces), **details}
        metrics = statistics.metrics(order.quasi_identifiers, coding.weights, order.job.task.k)
        metrics |= certificate(metrics["ncp"], details)
        warnings = look_twice(order, spool, audit, pieces, treated)
        warnings += computed_columns(derived, exposed, audit.records, order.job.task.k)
        summary = None
        if order.reporting:
            before = (found.sizes, found.kept_sizes) if found else None
            summary = summarize_stream(
                order, spool, setting, excerpts, before, statistics, (audit, sizes), treated, warnings
            )
        declared = self._declared(coding, pieces)
        written = self._write(pieces, setting, statistics, declared)
        if order.public_report:
            self._write_public_report(pieces, declared, order.public_report)
        if order.report and summary:
            self.files.temporary(order.report).write_text(Report(summary).text(order.report), encoding="utf-8")
        order.request.progress(1.0, "done")
        if found and not order.recipe.widen:  # widened cells are not those of the recoding
            details |= {"cuts": found.cuts}
        return StreamResult(
            recipe=order.recipe,
            metrics=metrics,
            audit=audit,
            details=details,
            coded=coding.empty,
            ends=setting.ends,
            treated=treated,
            path=order.target,
            files=written,
            records=coding.records,
            understood=coding.understood,
            warnings=tuple(warnings),
            summary=summary,
            declared=declared,
            inputs=order.inputs,
        )

    def _declared(self, coding: Coding, pieces: Sequence[Path]) -> Declared:
        """Return what may be published about the release besides its rows."""
        order = self.order
        trees = {one.name: one.hierarchy for one in coding.columns if one.hierarchy is not None}
        about = About() if isinstance(order.dictionary, bool) else About.of(order.dictionary)
        shown = public_trees(order.recipe, trees, staged_rows(pieces))
        return Declared(order.recipe, shown, untyped=gives_text(order.place), about=about)

    def _write_public_report(self, pieces: Sequence[Path], declared: Declared, target: Path) -> None:
        rows = staged_rows(pieces)
        rows = TextRows(rows, declared).of(rows)
        report = PublicReport(make_dictionary(rows, declared, Path("release.csv")), rows)
        self.files.temporary(target).write_text(report.text(target), encoding="utf-8")

    def _learn(self, spool: Spool) -> Coding:
        order = self.order
        check_records(order.request, spool.learned.records)
        coding = make_coding(
            spool.learned,
            order.quasi_identifiers,
            order.attributes,
            kinds=order.request.kinds,
            hierarchies=order.request.hierarchy_words(),
            weights=order.request.weights,
            untyped=gives_text(order.place),
            notation=order.request.notation,
        )
        share = None if order.whole else sample_share(coding.records, order.job, coding.columns)
        check_memory(order, coding.records, None if share is None else fragment_records(order.job, coding.columns))
        nothing = fragment_ranges(coding.empty, Grouping(np.zeros(0, np.int32)))
        choose_ends(coding.columns, nothing, order.recipe.ends)  # a step that does not fit is said before any work
        for name in order.job.sensitive:  # what not even the whole table keeps is said before any work
            one = coding.attributes[name]
            bind_column(order.job.models, coding, replace(one, codes=expanded(one.total)))
        return coding

    def _group(
        self, workers: Workers, coding: Coding, calls: Sequence[tuple[RowSlices, Path]]
    ) -> tuple[dict[int, ColumnEnds], list[int], Mapping[str, Any]]:
        """Group all fragments; return where the ranges of all of them end, how many groups each has, and what the method reports of a whole table."""
        found: list[dict[int, Ranges]] = []
        groups: list[int] = []
        details: Mapping[str, Any] = {}
        for done, (ranges, count, details) in enumerate(workers.run(group_fragment, calls), 1):  # noqa: B007
            found.append(ranges)
            groups.append(count)
            if len(found) == _MERGED:
                found = [merge_ranges(found)]
            self.order.request.progress(0.25 + 0.5 * done / len(calls), f"grouped {done:,} of {len(calls):,} fragments")
        return choose_ends(coding.columns, merge_ranges(found), self.order.recipe.ends), groups, details

    def _write(
        self, pieces: Sequence[Path], setting: WorkerContext, statistics: Statistics, declared: Declared
    ) -> tuple[Path, ...]:
        """Write the release under temporary names and count it once more from disk."""
        order, target = self.order, self.order.target
        order.request.progress(0.92, "writing")
        needs = sum(piece.stat().st_size for piece in pieces)
        rows = staged_rows(pieces)
        text = text_rows(rows, declared, target)
        tell_notation(text.readings if text else ())
        if is_folder(target):
            parts = [target / order.part.format(number) for number in range(setting.piles)]
            for part in parts:
                self.files.add(part, make_folder=True)
            written = [self.files.temporary(part, needs) for part in parts]
            told = None if order.dictionary is False else dictionary_of(rows, declared, target, parts)
            for path, pile in zip(written, piles(pieces, setting.piles), strict=True):
                write_file(iter([pile]), path, told)
        else:
            parts, written = [target], [self.files.temporary(target, needs)]
            told = None if order.dictionary is False else dictionary_of(rows, declared, target, text=text)
            write_file(piles(pieces, setting.piles), written[0], told, text)
            beside = dictionary_beside(target, order.dictionary)
            if told is not None and beside is not None:
                self.files.temporary(beside).write_text(dictionary_text(told), encoding="utf-8")
        order.request.progress(0.97, "reading back")
        check_written(written, order.quasi_identifiers, order.job.task.k, statistics.records - statistics.suppressed)
        return tuple(parts)
