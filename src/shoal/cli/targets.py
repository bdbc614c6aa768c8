"""The targets and the engine of ``shoal anonymize``, checked before any work."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.cli.options import Place, Reading, bundle
from shoal.cli.target_options import TARGET_OPTIONS, WORK_OPTIONS
from shoal.errors import FileError, ParameterError

if TYPE_CHECKING:
    from shoal.cells.counted import CountsChoice
    from shoal.evaluation import Analyses
    from shoal.io.transaction import Transaction
    from shoal.publication.code_labels import Labelling
    from shoal.publication.plain_columns import Cells
    from shoal.request import Request
    from shoal.results.columns import Describing
    from shoal.results.outcome import Outcome


@dataclass(frozen=True)
class Targets:
    """What is written, and how."""

    output: Path | None
    to_table: str | None
    database: str | None
    keep_order: bool
    shuffle_key: Path | None
    dictionary: bool
    about: Path | None
    shape: Cells
    labels: Labelling | None
    missing_codes: bool
    spreadsheet_safe: bool
    report: Path | None
    public_report: Path | None
    codebook: Path | None
    report_examples: bool
    analysis: tuple[str, ...]
    measure: tuple[str, ...]
    save_recipe: Path | None
    save_mapping: Path | None

    def given(self) -> dict[str, Any]:
        """Return the options that were given, in their order, by name."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        values |= {"shape": self.shape != "text", "dictionary": not self.dictionary}
        return {_option(name): value for name, value in values.items() if value}

    @property
    def holders(self) -> list[Path]:
        """The files for the holder, which nobody else may read."""
        return [one for one in (self.report, self.save_recipe, self.save_mapping) if one]


_OPTION = {"database": "--to", "shape": "--cells", "dictionary": "--no-dictionary"}


def _option(name: str) -> str:
    return _OPTION.get(name, f"--{name.replace('_', '-')}")


@dataclass(frozen=True)
class Work:
    """The engine, and the cluster or folder it works in."""

    engine: str | None
    memory: str | None
    master: str | None
    scratch: str | None

    @property
    def parameters(self) -> dict[str, Any]:
        """The options that are parameters of a release."""
        given = {"engine": self.engine, "memory": self.memory}
        return {name: value for name, value in given.items() if value is not None}


target_options = bundle("targets", TARGET_OPTIONS, lambda given: Targets(**given))
work_options = bundle("work", WORK_OPTIONS, lambda given: Work(**given))

_ROWS = ("--output",)
_FILES = (*_ROWS, "--to-table", "--report", "--public-report", "--codebook", "--save-recipe", "--save-mapping")
_NEEDS = {
    "--keep-order": _ROWS,
    "--shuffle-key": _ROWS,
    "--spreadsheet-safe": _ROWS,
    "--labels": _ROWS,
    "--missing-codes": _ROWS,
    "--cells": _ROWS,
    "--no-dictionary": _ROWS,
    "--about": (*_ROWS, "--public-report", "--codebook"),
    "--report-examples": ("--report",),
    "--force": _FILES,
}
"""Options of no use without one of others."""
_FORMS = {"--keep-order", "--shuffle-key", "--spreadsheet-safe", "--cells", "--labels", "--missing-codes", "--report-examples", "--analysis", "--measure"}  # fmt: skip
_REFUSED = {
    "stream": {*_FORMS, "--to-table", "--save-recipe", "--save-mapping", "--codebook"},
    "spark": {*_FORMS, "--to", "--public-report", "--codebook", "--about", "--memory"},
}
"""Options that an engine refuses."""


def check_needed(targets: Targets, *, force: bool) -> None:
    """Refuse options that would have no effect, before any work."""
    given = targets.given() | ({"--force": True} if force else {})
    for option, others in _NEEDS.items():
        if option in given and not given.keys() & set(others):
            raise ParameterError(
                f"The option {option} needs {' or '.join(others)}. Got none.", hint=f"leave {option} out."
            )


def choose_way(request: Request, file: Place, targets: Targets, work: Work) -> str:
    """Return the engine that does the work; refuse options that it does not know."""
    from shoal.engines.base import engine_for
    from shoal.engines.stream.start import StreamEngine

    given = [*targets.given(), *(["--memory"] if work.memory else [])]
    used = [name for name in given if name in _REFUSED.get(request.engine, ())]
    if request.engine == "stream" and targets.output is None:
        raise ParameterError("A streamed release needs a file to write to. Got no --output.")
    if used:
        raise ParameterError(
            f"The option {used[0]} cannot be used with --engine {request.engine}.", hint="leave it out."
        )
    if work.master is not None and request.engine != "spark":
        raise ParameterError("The option --master is for --engine spark. Got another engine.")
    if work.scratch is not None and request.engine == "memory":
        raise ParameterError("The option --scratch is for --engine stream or spark. Got another engine.")
    if request.engine == "spark":
        return "spark"
    streams = isinstance(engine_for(file, request), StreamEngine)
    if request.engine == "auto":  # a table that is not asked to be streamed
        streams = streams and targets.output is not None and not _REFUSED["stream"].intersection(given)
    return "stream" if streams else "memory"


def target_table(database: str | None, table: str | None) -> str | None:
    """Return the table to write; a new file of SQLite or DuckDB needs no name of one."""
    if database is None or table is not None:
        return table
    from shoal.io.databases import RELEASE_TABLE, new_file
    from shoal.io.location import locate

    if new_file(locate(database)) is None:
        raise ParameterError("The option --to needs the name of a table. Got no --to-table.")
    return RELEASE_TABLE


def check_target_table(
    file: Place, reading: Reading, database: str | None, table: str | None, *, force: bool
) -> str | None:
    """Return the database to write into; refuse it, a table that is there, and the table that is read, before the work."""
    if table is None:
        return None
    from shoal.results.save import check_database

    address = database or (str(file) if not isinstance(file, Path) or database_like(file) else None)
    if address is None:
        raise ParameterError(
            "The option --to-table needs a database. Got a file.", hint="name one with --to postgresql://host/db."
        )
    if force and address == str(file) and _may_be_read(reading, table):
        raise ParameterError(
            f"The table {table!r} is an input of this call. It is left as it is.", hint="write to another table."
        )
    check_database(address, table, force=force)
    return address


def _may_be_read(reading: Reading, table: str) -> bool:
    """Return whether rows may come from a table of the same database; without --table and --query it has only one."""
    name = _last_part(table)
    if reading.query is not None:
        return name in re.split(r"\W+", reading.query.casefold())
    return reading.table is None or _last_part(reading.table) == name


def _last_part(table: str) -> str:
    return table.rpartition(".")[2].strip('"`[]').casefold()


def database_like(file: Path) -> bool:
    """Return whether a file is a database."""
    from shoal.audit.in_database import is_in_database

    return is_in_database(file)


def add_targets(
    files: Transaction, targets: Targets, dictionary: Describing, counts: CountsChoice | None = None
) -> list[Path]:
    """Return the files that this process writes; refuse them before the work, not after it. Files for the holder are readable by nobody else."""
    from shoal.io.files import file_format
    from shoal.publication import public_report_form
    from shoal.publication.codebook import codebook_form
    from shoal.report import report_form
    from shoal.results.counts import check_counts_are_told
    from shoal.results.generalization import check_mapping_file
    from shoal.results.save import files_beside

    output = targets.output
    if output or targets.to_table:
        check_counts_are_told(
            counts,
            dictionary=dictionary is not False,
            plain_text=targets.shape == "text" and targets.labels != "codes" and not targets.spreadsheet_safe,
            table=targets.to_table,
        )
    beside = files_beside(output, dictionary, counts) if output else []
    published = [target for target in (output, *beside, targets.public_report, targets.codebook) if target]
    for target in (*published, *targets.holders):
        files.add(target, last=target is output, private=target in targets.holders)
    forms = (
        (targets.public_report, public_report_form),
        (targets.codebook, codebook_form),
        (output, file_format),
        (targets.report, report_form),
        (targets.save_mapping, check_mapping_file),
    )
    for place, check in forms:
        if place:
            check(place)
    return [*published, *targets.holders]


def write_beside(
    files: Transaction,
    targets: Targets,
    request: Request,
    result: Outcome,
    about: Describing,
    analyses: Analyses | None = None,
) -> None:
    """Write the files that describe a release: all except its rows."""
    from shoal.request import stage_recipe

    texts: dict[Path | None, Any] = {}
    if targets.report:
        holder = result.report(examples=targets.report_examples)
        texts[targets.report] = (holder.with_analyses(analyses) if analyses else holder).text
    if targets.public_report or targets.codebook:
        public = result.report(audience="public", about=about)
        texts |= {targets.public_report: public.text, targets.codebook: public.codebook}
    if targets.save_mapping:
        texts[targets.save_mapping] = result.generalization.text
    for place, text in texts.items():
        if place:
            files.temporary(place).write_text(text(place), encoding="utf-8")
    if targets.save_recipe:
        stage_recipe(files, request, targets.save_recipe)


def read_about(targets: Targets) -> Describing:
    """Return what the publisher says of a release, read from a TOML file; without one, whether there is a dictionary."""
    about = targets.about
    if about is None:
        return targets.dictionary and targets.output is not None
    from shoal.publication import About

    try:
        told = tomllib.loads(about.read_text(encoding="utf-8"))
    except OSError as fault:
        raise FileError(f"The file {about.name!r} cannot be read: {fault.strerror}.") from None
    except (ValueError, RecursionError):
        raise ParameterError(
            f"The file {about.name!r} is not valid TOML.", hint="docs/reference/cli.md lists its keys."
        ) from None
    return About.of(told)


def check_recodes_globally(targets: Targets, request: Request) -> None:
    """Refuse before the work to save the mapping of a release that has none."""
    method = request.method.info
    if targets.save_mapping and method.family != "global":
        raise ParameterError(
            f"The option --save-mapping needs a method that recodes a value alike everywhere. Got {method.name!r}.",
            hint="the methods 'bug', 'datafly' and 'incognito' do.",
        )
