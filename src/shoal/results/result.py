"""The result: the released table, its groups, its measures, and a safe way to write it."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic

import numpy as np
import pyarrow as pa
from typing_extensions import TypeVar

from shoal.arrays import Progress
from shoal.errors import ParameterError
from shoal.explanation import Explanation, explain
from shoal.io.files import file_format, write_table
from shoal.io.registry import file_source
from shoal.io.transaction import Transaction
from shoal.methods.base import Task, say_nothing
from shoal.methods.global_recoding.tradeoff import earliest_grouping
from shoal.notation import Notation
from shoal.notebook import bar, card, rows, safely
from shoal.privacy.base import bind_models
from shoal.privacy.k_anonymity import at_least_units
from shoal.publication import LABELLINGS, Labelling, PublicReport, labels_in_file, make_dictionary, rename_fields
from shoal.publication.plain_columns import SHAPES, Cells, shape_release
from shoal.release.make import make_release
from shoal.report import Report
from shoal.results.columns import (
    USUAL,
    Describing,
    Shown,
    Written,
    columns_to_write,
    declared_of,
    own_columns,
    plain_columns,
    readable,
    shown_trees,
    source_shown,
)
from shoal.results.counts import check_counts_are_told, stage_counts
from shoal.results.generalization import Generalization
from shoal.results.outcome import Outcome
from shoal.results.save import (
    files_beside,
    rows_to_write,
    save_to_database,
    shuffle_secret,
    stage_dictionary,
    tell_notation,
    verify_written,
    warn_of_names,
)
from shoal.summary import Release
from shoal.validation import check_choice, check_int, check_path

Table = TypeVar("Table", default=Any)
"""The kind of table that came in, and goes out."""


_OF_THE_ORIGINAL = frozenset({"coded", "cover", "ends", "boxes", "models"})
"""What a pickle leaves out: it holds values of the original table, or of the population of a model."""


@dataclass(frozen=True, repr=False)
class Result(Outcome, Release, Generic[Table]):
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
        if self.pickles_originals:
            return state
        state["written"] = self.written or Written(plain_columns(self), own_columns(self), shown_trees(self))
        state["source"] = source_shown(self, self.written)
        state["details"] = {name: value for name, value in self.details.items() if isinstance(value, (int, float, str))}
        return {name: value for name, value in state.items() if name not in _OF_THE_ORIGINAL}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    def __copy__(self) -> Result[Table]:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Result[Table]:
        return self

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return why a result read from a pickle lacks what must be worked out from the original table."""
            if name in _OF_THE_ORIGINAL:
                raise ParameterError(
                    "This result was read from a pickle, which holds no original table.",
                    hint="ask before it is pickled, or pickle result.with_originals() and keep it safe.",
                )
            raise AttributeError(f"'Result' object has no attribute {name!r}", name=name, obj=self)

    # --- what came out -------------------------------------------------------------------------------------------

    @cached_property
    def data(self) -> Table:
        """The released rows in input order, as the kind of table that came in."""
        rows: Table = self.source.release(self.released, self.changed, np.flatnonzero(self.groups >= 0))
        return rows

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
            A key file (``shoal key make``) that decides the order: the same release and key give the same file again. Anyone who
            has the key can put the rows back into the order of the input, so it is as secret as the table; recipe and dictionary
            do not name it.
        dictionary
            Write the data dictionary that travels with the release: ``release.datapackage.json`` next to ``release.csv``, metadata
            inside Parquet and Arrow files. It follows from the released rows and the recipe alone. A mapping adds what the
            publisher says: ``title``, ``description``, ``licenses``, ``contributors``, ``citation``, and for each of
            ``columns`` its ``title``, ``description``, ``unit`` and ``labels``.
        cells
            How coarsened cells are written: ``"text"``, such as ``[30-39]``; ``"columns"``, with the ends and the middle of each range
            (``age_low``, ``age_high``, ``age_mid``), the share of each value of a set (``job_nurse``) and each level of a tree (``zip_1``);
            or ``"midpoints"``, with the middle instead of each range. Programs without a reader can use the latter two.
        labels
            Of columns of SPSS, Stata and SAS: ``"text"``, the label of each code, if every code of the column has one, or ``"codes"``.
            Without a choice SPSS and Stata files hold codes with their labels, and all other files hold labels.
        missing_codes
            Write the codes that stand for a missing value, and name them in the dictionary. They are missing otherwise, except in
            SPSS and Stata files, which know such codes.
        spreadsheet_safe
            Put an apostrophe before text cells that a spreadsheet would run as formulas (CSV and TSV files).
        """
        target = check_path("Result.save", "path", path)
        check_choice("Result.save", "cells", cells, SHAPES)
        if labels is not None:
            check_choice("Result.save", "labels", labels, LABELLINGS)
        file_format(target)
        key = shuffle_secret("Result.save", shuffle_key, shuffle=shuffle)
        read = self.inputs if shuffle_key is None else (*self.inputs, Path(shuffle_key))
        files = Transaction(force=force, inputs=read)
        files.add(target, last=True)
        for beside in files_beside(target, dictionary, self.recipe.counts):
            files.add(beside)
        with files:
            self.stage(
                files,
                target,
                shuffle=shuffle,
                dictionary=dictionary,
                shown=Shown(cells, labels, missing_codes),
                spreadsheet_safe=spreadsheet_safe,
                shuffle_key=key,
            )
        logging.getLogger("shoal").info("saved %s", target.name)
        return target

    def stage(
        self,
        files: Transaction,
        target: Path,
        *,
        shuffle: bool,
        dictionary: Describing,
        spreadsheet_safe: bool,
        shuffle_key: bytes | None = None,
        shown: Shown = USUAL,
        progress: Progress = say_nothing,
    ) -> None:
        """Write and verify the release as one of the files of a call; its target and its dictionary's were added before."""
        check_counts_are_told(
            self.recipe.counts,
            dictionary=dictionary is not False,
            plain_text=shown.cells == "text" and shown.labels != "codes" and not spreadsheet_safe,
            table=None,
        )
        progress(0.0, "arranging the rows")
        form, source = file_format(target), file_source(target.name)
        columns = columns_to_write(self, target, self.written, shown)
        if source.is_text:
            tell_notation((self.written.plain if self.written else plain_columns(self)).keys())
        declared = declared_of(self, form, dictionary, self.written)
        told = make_dictionary(columns, declared, target)
        released, recipe = self.released, self.recipe
        if shown.cells != "text":
            columns, told, known = shape_release(released, columns, told, shown.cells)
            released, recipe = columns, recipe.model_copy(update={"quasi_identifiers": known})
        like = source_shown(self, self.written)
        fields = {field["name"]: field for field in told["resources"][0]["schema"]["fields"]}
        renamed = source.fitting_names(columns.column_names, target)
        if renamed:
            warn_of_names(renamed, target)
            columns = columns.rename_columns([renamed.get(name, name) for name in columns.column_names])
            told = rename_fields(told, renamed)
        if self.counts is not None:
            told = stage_counts(files, self.counts, target, columns, told, renamed)
        rows = rows_to_write(columns, form, shuffle=shuffle, spreadsheet_safe=spreadsheet_safe, key=shuffle_key)
        if dictionary is not False:
            rows = stage_dictionary(files, target, rows, told)
        temporary = files.temporary(target, needs=rows.nbytes)
        progress(0.3, "writing the rows")
        write_table(rows, temporary, replace(like, labels=labels_in_file(like.labels, fields, renamed)))
        verify_written(temporary, rows, released, recipe, progress)

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
        check_counts_are_told(self.recipe.counts, dictionary=True, plain_text=True, table=table)
        save_to_database(
            columns_to_write(self, Path("table.parquet"), self.written), self.recipe, address, table, force=force
        )

    def explain(self, row: int, column: str) -> Explanation:
        """Return why the cell of an input row (counted from 0) is as coarse as it is, in words and figures.

        For the steward, who has the table: it contains how many companions a person has and which values their group
        spans, never who they are.
        """
        return explain(self, row, column)

    def _holder_report(self, *, examples: bool) -> Report:
        parts = {one.name: getattr(self, one.name) for one in fields(Release)}
        release = Release(**parts | {"groups": self.groups.copy()})  # kernels want arrays that may be written
        from shoal.summary.make import summarize  # noqa: PLC0415  (most releases are made without a report)

        return Report(summarize(release, examples=examples))

    def _public_report(self, about: Describing) -> PublicReport:
        rows = columns_to_write(self, Path("release.csv"), self.written)
        declared = declared_of(self, "text", about, self.written)
        return PublicReport(make_dictionary(rows, declared, Path("release.csv")), rows)

    @property
    def _notation(self) -> Notation:
        return self.source.notation

    def _owners(self, mapping: Generalization) -> Mapping[str, pa.ChunkedArray]:
        return {unit: column.take(pa.array(self.kept)) for unit, column in mapping.owners(self.source).items()}
