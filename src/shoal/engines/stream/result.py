"""A streamed release as a result: its rows are on disk."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from shoal.audit import Audit
from shoal.encoding import CodedTable
from shoal.ends import ColumnEnds
from shoal.engines.stream.spool import read_rows
from shoal.engines.stream.writing import (
    TextRows,
    check_form,
    check_written,
    dictionary_of,
    is_folder,
    text_rows,
    write_file,
)
from shoal.errors import ParameterError
from shoal.io.files import open_table
from shoal.io.transaction import Transaction
from shoal.io.workroom import Workroom
from shoal.publication import About, Declared, Labelling, PublicReport, dictionary_text, make_dictionary
from shoal.publication.plain_columns import Cells
from shoal.recipe import Recipe
from shoal.report import Report
from shoal.results.columns import USUAL, Describing, Shown
from shoal.results.outcome import Outcome
from shoal.results.save import dictionary_beside, tell_notation
from shoal.summary import Summary
from shoal.treatments import Treated
from shoal.validation import check_path

_PART = "part-{:05}.parquet"


@dataclass(frozen=True, repr=False)
class StreamResult(Outcome):
    """A verified release that need not fit into memory; its rows are in ``files``, in a random order.

    There are no groups by input row, and nothing that needs the original table. If ``shoal.anonymize`` made it, the files are in a private folder that is
    removed with the last use of the result, or by ``close``.
    """

    recipe: Recipe
    metrics: Mapping[str, Any]
    audit: Audit
    details: Mapping[str, Any]
    """What else the method reports, and into how many fragments the table was cut."""
    coded: CodedTable
    """How the columns were coded, without records."""
    ends: Mapping[int, ColumnEnds]
    treated: Mapping[str, Treated]
    path: Path
    files: tuple[Path, ...]
    """Where the released rows are."""
    records: int
    """Records of the table."""
    understood: Mapping[str, str]
    """How text was read, by column."""
    warnings: tuple[str, ...] = ()
    """What to look at before it is published."""
    summary: Summary | None = None
    """What a report is made from, if it was asked for."""
    declared: Declared | None = None
    """What may be published about the release besides its rows."""
    inputs: tuple[Path, ...] = ()
    """Files the release was made from, which ``save`` never replaces."""
    room: Workroom | None = None

    _called: ClassVar[str] = "A streamed release"
    groups: ClassVar[None] = None

    @property
    def fragments(self) -> int:
        """The number of fragments."""
        return int(self.details["fragments"])

    @cached_property
    def data(self) -> pa.Table:
        """The released rows, in a random order: an Arrow table that is read from disk as far as it is looked at."""
        return pa.concat_tables(map(_rows, self.files))

    @property
    def released(self) -> pa.Table:
        """The released rows."""
        return self.data

    def close(self) -> None:
        """Remove the rows from disk; what was saved stays."""
        if self.room is not None:
            self.room.close()

    def save(
        self,
        path: str | Path,
        *,
        force: bool = False,
        shuffle: bool = True,
        shuffle_key: str | Path | None = None,
        dictionary: Describing = True,
        cells: Cells = "text",
        labels: Labelling | None = None,
        missing_codes: bool = False,
        spreadsheet_safe: bool = False,
    ) -> Path:
        """Write the release into a ``.parquet``, ``.csv`` or ``.csv.gz`` file, or into a new folder of Parquet files.

        It is counted again from there before it gets its name. The parameters are those of ``Result.save``; the order of the rows is random.
        """
        if not shuffle or shuffle_key is not None or spreadsheet_safe or Shown(cells, labels, missing_codes) != USUAL:
            self._refuse("choice of the order of rows, of another form of cells, of labels or of one for spreadsheets")
        target = check_path("Result.save", "path", path)
        check_form(target)
        files = Transaction(force=force, inputs=self.inputs)
        targets = [target / _PART.format(one) for one in range(len(self.files))] if is_folder(target) else [target]
        if is_folder(target) and target.exists():
            raise ParameterError(f"The folder {target.name!r} exists and is left as it is.", hint="name a new folder.")
        for one in targets:
            files.add(one, make_folder=is_folder(target), last=not is_folder(target))
        beside = dictionary_beside(target, dictionary)
        if beside is not None:
            files.add(beside)
        with files:
            text = text_rows(self.data, self.declared, target)
            tell_notation(text.readings if text else ())
            told = self._told(dictionary, target, targets, text)
            self._write(files, targets, told, text)
            if told is not None and beside is not None:
                files.temporary(beside).write_text(dictionary_text(told), encoding="utf-8")
        return target

    def _told(
        self, dictionary: Describing, target: Path, parts: Sequence[Path], text: TextRows | None
    ) -> dict[str, Any] | None:
        """Return the dictionary of a file, None if none is asked for."""
        if dictionary is False or self.declared is None:
            return None
        return dictionary_of(self.data, self._declared(dictionary), target, parts, text)

    def _declared(self, about: Describing) -> Declared:
        if self.declared is None:
            self._refuse("rows of the original for a report")
        return self.declared if isinstance(about, bool) else self.declared._replace(about=About.of(about))

    def _public_report(self, about: Describing) -> PublicReport:
        rows = TextRows(self.data, self.declared).of(self.data)
        return PublicReport(make_dictionary(rows, self._declared(about), Path("release.csv")), rows)

    def _holder_report(self, *, examples: bool) -> Report:
        """Return the report made while the release was streamed.

        Counts and losses are those of the whole release. Spreads of columns, associations and examples are those of about 50,000 records in whole groups drawn at random.
        """
        if examples or self.summary is None:
            self._refuse("rows of the original for a report")
        return Report(self.summary)

    def _write(
        self, files: Transaction, targets: Sequence[Path], told: dict[str, Any] | None, text: TextRows | None
    ) -> None:
        written = [files.temporary(one, self.data.nbytes) for one in targets]
        rows = list(map(_rows, self.files))
        for path, some in zip(written, [[one] for one in rows] if len(written) > 1 else [rows], strict=True):
            write_file(iter(some), path, told, text)
        check_written(written, self.recipe.quasi_identifiers, self.recipe.k, self.data.num_rows)


def _rows(path: Path) -> pa.Table:
    return read_rows(path) if path.suffix == ".arrow" else open_table(path).table


def in_room(made: StreamResult, room: Workroom) -> StreamResult:
    """Return what was streamed into a private folder as a result that removes it with its last use."""
    result = replace(made, room=room)
    weakref.finalize(result, room.close)
    return result
