"""What came out: the released table, its groups, its measures, and a safe way to write it."""

from __future__ import annotations

import logging
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic

import numpy as np
from typing_extensions import TypeVar

from shoal.errors import ParameterError
from shoal.explanation import Explanation, explain
from shoal.frames import to_frame
from shoal.generalization import Generalization, Unseen, make_generalization
from shoal.io.files import file_format, open_table, write_table
from shoal.io.transaction import Transaction
from shoal.methods.base import Task
from shoal.methods.global_recoding.tradeoff import earliest_grouping
from shoal.notebook import bar, card, rows, safely
from shoal.privacy.base import bind_models
from shoal.privacy.k_anonymity import at_least_units
from shoal.release import make_release
from shoal.report import Report
from shoal.saving import (
    Written,
    columns_to_write,
    decimal_marks,
    own_columns,
    provenance,
    readable,
    rows_to_write,
    save_to_database,
    shuffle_secret,
    sidecar_path,
    verify_written,
    write_provenance,
)
from shoal.summary import Release
from shoal.transforming import warn_if_exposed
from shoal.validation import check_choice, check_int, check_path

Table = TypeVar("Table", default=Any)
"""The kind of table that came in, and goes out."""


@dataclass(frozen=True, repr=False)
class Result(Release, Generic[Table]):
    """A verified release. Made by ``shoal.anonymize``; nothing in it can be changed.

    A pickle of it leaves the original table out; see ``with_originals``.

    Examples
    --------
    >>> import shoal
    >>> patients = shoal.datasets.hospital(n=300, seed=1).patients.select(["birth_date", "sex", "diagnosis"])
    >>> known = ["birth_date", "sex"]
    >>> result = shoal.anonymize(patients, k=5, quasi_identifiers=known, sensitive=["diagnosis"], method="mondrian")
    >>> result.audit.k
    5
    >>> result.data.column_names
    ['birth_date', 'sex', 'diagnosis']
    >>> result.suppressed
    0
    """

    inputs: tuple[Path, ...] = ()
    """Files the release was made from, which ``save`` never replaces."""
    pickles_originals: bool = False
    """Whether a pickle carries the original table; see ``with_originals``."""
    written: Written | None = None
    """In a result read from a pickle: what files take from the original table."""

    def __post_init__(self) -> None:
        labels = self.groups.view()
        labels.setflags(write=False)
        object.__setattr__(self, "groups", labels)

    @classmethod
    def of(cls, release: Release) -> Result[Any]:
        """Return a verified release as a result."""
        return cls(**vars(release))

    # --- pickles -------------------------------------------------------------------------------------------------

    def with_originals(self) -> Result[Table]:
        """Return this result in a form whose pickles carry the original table; keep them as safe as the table."""
        return replace(self, pickles_originals=True)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the originals out of a pickle: it would carry the very identifiers that were removed."""
        state = {one.name: vars(self)[one.name] for one in fields(self) if one.name in vars(self)}
        if not self.pickles_originals:
            state.pop("coded", None)  # it is not there in a result that was itself read from a pickle
            state["written"] = self.written or Written(decimal_marks(self), own_columns(self))
            state["source"] = replace(self.source, table=self.source.table.schema.empty_table(), native=None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    def __copy__(self) -> Result[Table]:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Result[Table]:
        return self

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Say why a result read from a pickle lacks what must be worked out from the original table."""
            if name == "coded":
                raise ParameterError(
                    "This result was read from a pickle, which holds no original table.",
                    hint="ask before it is pickled, or pickle result.with_originals() and keep it safe.",
                )
            raise AttributeError(name)

    # --- what came out -------------------------------------------------------------------------------------------

    @cached_property
    def data(self) -> Table:
        """The released rows in input order, as the kind of table that came in."""
        rows: Table = self.source.release(self.released, self.changed, np.flatnonzero(self.groups >= 0))
        return rows

    @property
    def suppressed(self) -> int:
        """The number of records withheld."""
        return int((self.groups < 0).sum())

    def __repr__(self) -> str:
        withheld = f", {self.suppressed:,} withheld" if self.suppressed else ""
        return (
            f"<shoal.Result: {self.released.num_rows:,} records in {self.audit.groups:,} groups of at least "
            f"{self.audit.k}, information loss {self.metrics['ncp']:.4f}{withheld}>"
        )

    @safely
    def _repr_html_(self) -> str:
        losses = self.metrics["ncp_by_column"].items()
        head = self.released.slice(0, 5)
        return card(
            repr(self).strip("<>"),
            rows(["column", "information lost"], [(name, bar(loss)) for name, loss in losses]),
            rows(head.column_names, [list(row.values()) for row in readable(head).to_pylist()], "First released rows"),
        )

    # --- global recodings: bug, datafly, incognito ---------------------------------------------------------------

    @property
    def steps(self) -> tuple[Any, ...]:
        """The generalizations in the order they were taken (bug, datafly)."""
        return tuple(self._detail("steps", "takes no steps that are kept"))

    @property
    def solutions(self) -> tuple[Any, ...]:
        """All minimal combinations of levels, the best first (incognito)."""
        return tuple(self._detail("solutions", "does not list other solutions"))

    @cached_property
    def generalization(self) -> Generalization:
        """What each value of each quasi-identifier is released as: readable, saveable, applicable to new records."""
        lack = "does not recode a value alike everywhere, so there is no mapping of values"
        cuts = self._detail("cuts", f"with 'widen' {lack}" if self.recipe.widen else lack)
        keep = [name for name in (*self.recipe.sensitive, *self.recipe.keep) if name not in self.treated]
        return make_generalization(self.coded, cuts, self.recipe.k, keep, self.ends)

    def transform(self, new_rows: Any, *, unseen: Unseen = "refuse") -> Any:
        """Recode new records as this release was, and warn where they are too few to hide among each other.

        Values that only the hierarchy knows follow it; others are refused, or released as ``*`` with
        ``unseen="suppress"``. Nothing is withheld.
        """
        check_choice("Result.transform", "unseen", unseen, ("refuse", "suppress"))
        frame = open_table(new_rows) if isinstance(new_rows, (str, Path)) else to_frame(new_rows)
        recoded = self.generalization.recode(replace(frame, notation=self.source.notation), unseen)
        warn_if_exposed(recoded, self.released, self.recipe.quasi_identifiers, self.recipe.k)
        return frame.release(recoded, self.recipe.quasi_identifiers, np.arange(frame.records))

    def at(self, *, k: int) -> Result[Table]:
        """Return the release at the earliest step that holds a smaller k: another point of the trade-off."""
        steps = self._detail("steps", "takes no steps that are kept")
        check_int("Result.at", "k", k, least=2, most=self.recipe.k, hint="for a larger k, anonymize again.")
        requirements = bind_models(self.models, self.coded, self.recipe.sensitive)
        task = Task(
            k=k,
            requirements=(*at_least_units(self.coded, k), *requirements),
            max_suppression=self.recipe.max_suppression,
        )
        grouping = earliest_grouping(self.coded, steps, task)
        recipe = self.recipe.model_copy(update={"k": k})
        parts = (self.source, self.coded, grouping, recipe, self.models, requirements, self.method, self.treated)
        return Result.of(make_release(*parts))

    def _detail(self, name: str, lack: str) -> Any:
        found = self.details.get(name)
        if found is None:
            raise ParameterError(
                f"The method {self.recipe.method!r} {lack}.",
                hint="the methods 'bug', 'datafly' and 'incognito' recode globally.",
            )
        return found

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
        """Write the release as CSV or Parquet, verified from disk before it appears under its name.

        Parameters
        ----------
        path
            Target; the ending decides the format (``.csv``, ``.tsv``, ``.csv.gz``, ``.parquet``).
        force
            Replace an existing file.
        shuffle
            Write the rows in a fresh random order. The input order can name people, so ``False`` warns.
        shuffle_key
            A key file (``shoal key make``) that decides the order: the same release and key give the same file again. Whoever
            has the key can put the rows back into the order of the input, so it is as secret as the table; recipe and side-car
            do not name it.
        sidecar
            Also write ``<path>.json`` with the recipe, seed, versions and measures. The two appear together.
        spreadsheet_safe
            Put an apostrophe before text cells that a spreadsheet would run as formulas (CSV and TSV files).
        """
        target = check_path("Result.save", "path", path)
        file_format(target)
        key = shuffle_secret("Result.save", shuffle_key, shuffle=shuffle)
        read = self.inputs if shuffle_key is None else (*self.inputs, Path(shuffle_key))
        files = Transaction(force=force, inputs=read)
        files.add(target, last=True)
        if sidecar:
            files.add(sidecar_path(target))
        with files:
            self.stage(
                files, target, shuffle=shuffle, sidecar=sidecar, spreadsheet_safe=spreadsheet_safe, shuffle_key=key
            )
        logging.getLogger("shoal").info("saved %s", target.name)
        return target

    def stage(
        self,
        files: Transaction,
        target: Path,
        *,
        shuffle: bool,
        sidecar: bool,
        spreadsheet_safe: bool,
        shuffle_key: bytes | None = None,
    ) -> None:
        """Write and verify the release as one of the files of a call; its target and side-car were added before."""
        form = file_format(target)
        columns = columns_to_write(self, form, self.written)
        rows = rows_to_write(columns, form, shuffle=shuffle, spreadsheet_safe=spreadsheet_safe, key=shuffle_key)
        temporary = files.temporary(target, needs=rows.nbytes)
        write_table(rows, temporary, self.source)
        verify_written(temporary, rows, self.released, self.recipe)
        if sidecar:
            write_provenance(files.temporary(sidecar_path(target)), self.recipe, self.metrics, self.audit)

    def save_to_database(self, address: str, table: str, *, force: bool = False) -> None:
        """Write the release into a new table of a database, counted by the database itself before it gets its name.

        Parameters
        ----------
        address
            The database, such as ``postgresql://host/db``; the password comes from the environment.
        table
            The name of the new table.
        force
            Replace a table of that name.
        """
        save_to_database(columns_to_write(self, "table", self.written), self.recipe, address, table, force=force)

    def explain(self, row: int, column: str) -> Explanation:
        """Say why the cell of an input row (counted from 0) is as coarse as it is, in words and figures.

        For the steward, who has the table: it tells how many companions a person has and which values their group
        spans, never who they are.
        """
        return explain(self, row, column)

    def report(self, *, examples: bool = False) -> Report:
        """Return what was done, gained and lost, to save as ``.html``, ``.md`` or ``.json``.

        It holds no row of the original, unless ``examples`` asks for some beside the released ones.
        """
        parts = {one.name: getattr(self, one.name) for one in fields(Release)}
        release = Release(**parts | {"groups": self.groups.copy()})  # kernels want arrays that may be written
        from shoal.summary.summarising import summarise  # noqa: PLC0415  (most releases are made without a report)

        return Report(summarise(release, examples=examples))

    def provenance(self) -> dict[str, Any]:
        """Return where the release comes from: recipe, versions, measures; no rows, and no hash of them."""
        return provenance(self.recipe, self.metrics, self.audit)
