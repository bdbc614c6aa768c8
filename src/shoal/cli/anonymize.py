"""``shoal anonymize``: make a release of a table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import rich_click as click

from shoal.cli.choices import choice_options, make_anonymizer
from shoal.cli.console import note_written, progress_bar
from shoal.cli.options import (
    INPUT,
    Place,
    Reading,
    file_argument,
    force_option,
    input_options,
    json_option,
    path_option,
    show_values_option,
)
from shoal.cli.showing import analyses_of, tell
from shoal.cli.targets import (
    Targets,
    Work,
    add_targets,
    check_needed,
    check_recodes_globally,
    check_target_table,
    choose_way,
    read_about,
    target_options,
    target_table,
    work_options,
    write_beside,
)
from shoal.cli.warm_up import parts_of, prepare

if TYPE_CHECKING:
    from shoal.arrays import Progress
    from shoal.io.source import ReadOptions
    from shoal.request import Request
    from shoal.results.columns import Describing
    from shoal.results.result import Result


@dataclass(frozen=True)
class Job:
    """One call: the table, the choices and the targets."""

    request: Request
    file: Place
    reading: Reading
    targets: Targets
    work: Work
    about: Describing
    """What the publisher says, or whether there is a dictionary."""
    inputs: tuple[Path, ...]
    """Files that are read, and never replaced."""
    force: bool
    as_json: bool

    @property
    def options(self) -> ReadOptions:
        """How the file is read."""
        from shoal.io.source import ReadOptions

        reading = self.reading
        return ReadOptions(reading.separator, reading.encoding, table=reading.table, query=reading.query)


@click.command("anonymize", context_settings={"show_default": False})
@file_argument
@choice_options
@path_option(
    "--recipe",
    text="Take all choices from a recipe file. An option given here replaces its own key and nothing else: the weight of one column, or a whole list.",
    panel=INPUT,
)
@input_options
@target_options
@work_options
@force_option
@show_values_option
@json_option
def command(
    *,
    file: Place,
    choices: dict[str, Any],
    recipe: Path | None,
    reading: Reading,
    targets: Targets,
    work: Work,
    force: bool,
    as_json: bool,
) -> None:
    """Release a table in which every record hides among at least k.

    FILE is a table about people: CSV, Parquet, Arrow, Excel, SPSS, Stata or SAS, a folder of CSV or Parquet files,
    an address such as s3://bucket/people.parquet, or a database such as postgresql://host/db (with --table or --query). The released rows are counted again before
    anything is written; if the promise does not hold, nothing is.

    [dim]shoal anonymize patients.csv -k 10 --qi birth_date,sex,zip,job --sensitive diagnosis --identifier name,admission_date --keep cost -o release.csv[/dim]
    """
    from shoal.io.targets import files_read

    targets = replace(targets, to_table=target_table(targets.database, targets.to_table))
    check_needed(targets, force=force)
    request = make_anonymizer(recipe, choices | reading.notation | work.parameters, None, asks=True).request
    prepare(lambda: parts_of(request.recipe))
    with progress_bar("reading") as progress:
        way = choose_way(request, file, targets, work)
        check_recodes_globally(targets, request)
        named = (one for one in (recipe, targets.shuffle_key, targets.about) if one)
        inputs = (*files_read(file), *request.inputs, *named)
        request = replace(request, progress=progress)
        job = Job(request, file, reading, targets, work, read_about(targets), inputs, force, as_json)
        if way == "spark":
            from shoal.cli.spark import release_on_spark

            release_on_spark(job)
        elif way == "stream":
            release_streamed(job)
        else:
            release_here(job, progress)


def release_here(job: Job, progress: Progress) -> None:
    """Release a table in memory."""
    from shoal.api.run import run
    from shoal.io.transaction import Transaction
    from shoal.results.columns import Shown
    from shoal.results.save import shuffle_secret

    targets = job.targets
    secret = shuffle_secret("anonymize", targets.shuffle_key, shuffle=not targets.keep_order)
    files = Transaction(force=job.force, inputs=job.inputs)
    written = add_targets(files, targets, job.about, job.request.counts)
    address = check_target_table(job.file, job.reading, targets.database, targets.to_table, force=job.force)
    progress(0.0, "reading the file")
    result = cast("Result", run(job.request, job.reading.load(job.file)))
    found = analyses_of(result, targets.analysis)
    progress(0.95, "writing")
    try:
        with files:
            if targets.output:
                result.stage(
                    files,
                    targets.output,
                    shuffle=not targets.keep_order,
                    dictionary=job.about,
                    spreadsheet_safe=targets.spreadsheet_safe,
                    shuffle_key=secret,
                    shown=Shown(targets.shape, targets.labels, targets.missing_codes),
                )
            write_beside(files, targets, job.request, result, job.about, found)
            told = [*written, *([targets.to_table] if targets.to_table else [])]
            # if this cannot be found out, nothing is written
            tell(result, told, as_json=job.as_json, analyses=found, measures=targets.measure)
            if address and targets.to_table:
                result.save_to_database(address, targets.to_table, force=job.force)
                note_written(targets.to_table)
    finally:  # an interrupt that waited for the files to get their names comes after them
        if files.named:
            note_written(*(target.name for target in written))


def release_streamed(job: Job) -> None:
    """Release a table from file to file."""
    from shoal.engines.stream.start import stream_release

    targets = job.targets
    result = stream_release(
        job.request,
        job.file,
        cast("Path", targets.output),
        options=job.options,
        inputs=job.inputs,
        scratch=job.work.scratch,
        force=job.force,
        dictionary=job.about,
        report=targets.report,
        public_report=targets.public_report,
    )
    written = [result.path, *(one for one in (targets.report, targets.public_report) if one)]
    tell(result, written, as_json=job.as_json)
    note_written(*(one.name for one in written))
