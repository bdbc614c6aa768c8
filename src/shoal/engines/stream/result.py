"""A streamed release as a result: its rows lie on disk, in a private folder, as long as it is used."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa

from shoal.engines.stream.order import Order, StreamRelease
from shoal.engines.stream.spool import read_rows
from shoal.engines.stream.writing import check_form, check_written, is_folder, write_file
from shoal.errors import ParameterError
from shoal.frames import Frame
from shoal.io.transaction import Transaction
from shoal.io.workroom import Workroom
from shoal.kernels.space.space import cover_groups
from shoal.recipe import recipe_inputs
from shoal.report import Report
from shoal.result import Result
from shoal.saving import sidecar_path, write_provenance
from shoal.summary import Summary
from shoal.validation import check_path

_PART = "part-{:05}.parquet"


@dataclass(frozen=True, repr=False)
class StreamResult(Result[pa.Table]):
    """A verified release that need not fit into memory.

    ``data`` is an Arrow table that is read from disk as far as it is looked at, its rows in a random order. The folder it lies in is removed with the last use of
    the result, or by ``close``. There are no groups by input row, and nothing that needs the original table.
    """

    files: tuple[Path, ...] = ()
    """Where the released rows lie."""
    withheld: int = 0
    room: Workroom | None = None
    summary: Summary | None = None
    """What a report is made from."""

    @property
    def data(self) -> pa.Table:
        """The released rows, in a random order."""
        return self.released

    @property
    def suppressed(self) -> int:
        """The number of records withheld."""
        return self.withheld

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
        sidecar: bool = False,
        spreadsheet_safe: bool = False,
    ) -> Path:
        """Write the release into a ``.parquet``, ``.csv`` or ``.csv.gz`` file, or into a new folder of Parquet files.

        It is counted again from there before it gets its name. The parameters are those of ``Result.save``; the order of the rows is random.
        """
        if not shuffle or shuffle_key is not None or spreadsheet_safe:
            self._refuse("choice of the order of rows and of a form for spreadsheets")
        target = check_path("Result.save", "path", path)
        check_form(target)
        files = Transaction(force=force, inputs=self.inputs)
        targets = [target / _PART.format(one) for one in range(len(self.files))] if is_folder(target) else [target]
        if is_folder(target) and target.exists():
            raise ParameterError(f"The folder {target.name!r} exists and is left as it is.", hint="name a new folder.")
        for one in targets:
            files.add(one, make_folder=is_folder(target), last=not is_folder(target))
        if sidecar:
            files.add(sidecar_path(target))
        with files:
            self._write(files, targets)
            if sidecar:
                write_provenance(files.temporary(sidecar_path(target)), self.recipe, self.metrics, self.audit)
        return target

    def _write(self, files: Transaction, targets: Sequence[Path]) -> None:
        written = [files.temporary(one, self.released.nbytes) for one in targets]
        rows = [read_rows(one) for one in self.files]
        for path, some in zip(written, [[one] for one in rows] if len(written) > 1 else [rows], strict=True):
            write_file(iter(some), path)
        check_written(written, self.recipe.quasi_identifiers, self.recipe.k, self.released.num_rows)

    def _refuse(self, what: str) -> NoReturn:
        raise ParameterError(f"A streamed release has no {what}.", hint="take engine='memory'.")

    def __getstate__(self) -> dict[str, Any]:
        """Refuse to be pickled: its rows are on disk."""
        self._refuse("pickle; its rows lie on disk, so save it")

    def explain(self, row: int, column: str) -> NoReturn:  # noqa: ARG002
        """Refuse: the original is not in memory."""
        self._refuse("explanation of single cells")

    def report(self, *, examples: bool = False) -> Report:
        """Return what was done, gained and lost, to save as ``.html``, ``.md`` or ``.json``.

        Counts and losses are those of the whole release. Spreads of columns, associations and examples are those of about 50,000 records in whole groups drawn at random.
        """
        if examples or self.summary is None:
            self._refuse("rows of the original for a report")
        return Report(self.summary)

    def transform(self, new_rows: Any, *, unseen: Any = "refuse") -> NoReturn:  # noqa: ARG002
        """Refuse: the recoding was not kept."""
        self._refuse("recoding of new records")


def make_stream_result(order: Order, made: StreamRelease, room: Workroom) -> StreamResult:
    """Return what was streamed into a private folder as a result."""
    nothing = np.zeros(0, np.int32)
    result = StreamResult(
        released=pa.concat_tables([read_rows(one) for one in made.files]),
        groups=nothing,
        metrics=made.metrics,
        audit=made.audit,
        recipe=order.recipe,
        coded=made.empty,
        cover=cover_groups(made.empty.space, made.empty.codes, nothing, 0),
        source=Frame(pa.table({})),
        details={"fragments": made.fragments},
        method=order.job.method.info,
        models=order.job.models,
        treated=made.treated,
        inputs=(*order.inputs, *recipe_inputs(order.recipe)),
        files=made.files,
        withheld=made.suppressed,
        room=room,
        summary=made.summary,
    )
    weakref.finalize(result, room.close)
    return result
