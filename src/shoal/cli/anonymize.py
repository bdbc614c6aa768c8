"""``shoal anonymize``: the main job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rich_click as click

from shoal.cli.choices import choice_options, make_anonymizer
from shoal.cli.console import note_written, progress_bar
from shoal.cli.options import (
    INPUT,
    OUTPUT,
    Place,
    Reading,
    file_argument,
    force_option,
    input_options,
    json_option,
    path_option,
    show_values_option,
)
from shoal.cli.showing import tell_result
from shoal.cli.spark import SparkTargets, check_spark_options, run_on_spark
from shoal.cli.streaming import engine_options, is_streamed, run_streamed, tell_streamed
from shoal.cli.targets import add_targets, check_recodes_globally, check_target_table
from shoal.cli.warm_up import parts_of, prepare
from shoal.errors import ParameterError


@click.command("anonymize", context_settings={"show_default": False})
@file_argument
@choice_options
@path_option(
    "--recipe",
    text="Take all choices from a recipe file; options given here replace what it says.",
    panel=INPUT,
)
@input_options
@path_option(
    "-o",
    "--output",
    text="Write the release here; the ending chooses the format, such as .csv, .csv.gz, .parquet, .xlsx, .sav. Without it nothing is written.",
)
@click.option(
    "--to-table",
    metavar="NAME",
    help="Write the release into a new table of the database, which counts it before the table gets its name.",
    panel=OUTPUT,
)
@click.option(
    "--to",
    "database",
    metavar="ADDRESS",
    help="Database for --to-table, where it is not the one the rows come from.",
    panel=OUTPUT,
)
@click.option(
    "--keep-order",
    is_flag=True,
    help="Write rows in the order of the input instead of a random one. This can help to name people.",
    panel=OUTPUT,
)
@path_option(
    "--shuffle-key",
    text="A key of [bold]shoal key make[/bold] that decides the order of the rows: the same release and key give the same file again. No recipe names it.",
)
@click.option(
    "--sidecar",
    is_flag=True,
    help="Also write a JSON file beside the release ([bold]release.csv.json[/bold]): recipe, versions, measures.",
    panel=OUTPUT,
)
@click.option(
    "--spreadsheet-safe",
    is_flag=True,
    help="Put an apostrophe before text cells of a CSV release that a spreadsheet would run as formulas.",
    panel=OUTPUT,
)
@path_option(
    "--report",
    text="Also tell people what was done, gained and lost (.html, .md or .json). It holds no row of the original.",
)
@click.option(
    "--report-examples",
    is_flag=True,
    help="Put some rows of the original into the report. It must then be kept as safe as the table.",
    panel=OUTPUT,
)
@path_option(
    "--save-recipe",
    text="Write all choices to a recipe file, to repeat the release.",
)
@path_option(
    "--save-mapping",
    text="Write what each value is released as (.json or .toml), for [bold]shoal transform[/bold]; with bug, datafly and incognito.",
)
@engine_options
@force_option
@show_values_option
@json_option
def command(
    *,
    file: Place,
    choices: dict[str, Any],
    recipe: Path | None,
    reading: Reading,
    output: Path | None,
    to_table: str | None,
    database: str | None,
    keep_order: bool,
    shuffle_key: Path | None,
    sidecar: bool,
    spreadsheet_safe: bool,
    report: Path | None,
    report_examples: bool,
    save_recipe: Path | None,
    save_mapping: Path | None,
    engine: str | None,
    master: str | None,
    memory: str | None,
    scratch: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Release a table in which every record hides among at least k.

    FILE is a table about people: CSV, Parquet, Arrow, Excel, SPSS, Stata or SAS, a folder of CSV or Parquet files,
    an address such as s3://bucket/people.parquet, or a database such as postgresql://host/db (with --table or --query). The released rows are counted again before
    anything is written; if the promise does not hold, nothing is.

    [dim]shoal anonymize patients.csv -k 10 --qi age,sex,zip --sensitive diagnosis --identifier name -o release.csv[/dim]
    """
    from shoal.io.transaction import Transaction
    from shoal.recipe import recipe_inputs
    from shoal.saving import shuffle_secret

    who = {name: value for name, value in (("engine", engine), ("memory", memory)) if value is not None}
    prepare(lambda: parts_of(make_anonymizer(recipe, choices | reading.notation, None).recipe()))
    with progress_bar("reading") as progress:
        anonymizer = make_anonymizer(recipe, choices | reading.notation | who, progress)
        others = {
            "--to-table": to_table,
            "--report": report,
            "--save-recipe": save_recipe,
            "--save-mapping": save_mapping,
            "--keep-order": keep_order,
            "--shuffle-key": shuffle_key,
            "--spreadsheet-safe": spreadsheet_safe,
        }
        if anonymizer.engine == "spark":
            spark_targets = SparkTargets(output, to_table, report, save_recipe, save_mapping, sidecar=sidecar)
            refused = ("--keep-order", "--shuffle-key", "--spreadsheet-safe")
            not_there = {"--to": database, "--report-examples": report_examples, "--memory": memory}
            check_spark_options(spark_targets, {name: others[name] for name in refused} | not_there)
            if save_mapping:
                check_recodes_globally(anonymizer)
            run_on_spark(
                anonymizer, file, reading, spark_targets, master=master, staging=scratch, force=force, as_json=as_json
            )
            return
        if master is not None:
            raise ParameterError("The option --master is for --engine spark. Got another engine.")
        here = {name: value for name, value in others.items() if name != "--report"}
        if is_streamed(anonymizer, file, output, here | {"--report-examples": report_examples}) and output:
            made = run_streamed(
                anonymizer, file, reading, output, scratch=scratch, force=force, sidecar=sidecar, report=report
            )
            tell_streamed(made, anonymizer, report, as_json=as_json)
            return
        inputs = [
            *([file] if isinstance(file, Path) else []),
            *([recipe] if recipe else []),
            *recipe_inputs(anonymizer.recipe()),
            *anonymizer.key_files,
            *([shuffle_key] if shuffle_key else []),
        ]
        secret = shuffle_secret("anonymize", shuffle_key, shuffle=not keep_order)
        files = Transaction(force=force, inputs=inputs)
        targets = add_targets(files, output, report, save_recipe, save_mapping, sidecar=sidecar)
        if save_mapping:
            check_recodes_globally(anonymizer)
        address = check_target_table(file, database, to_table, force=force)
        progress(0.0, "reading the file")
        result = anonymizer.result_of(reading.load(file))
        progress(0.95, "writing")
        try:
            with files:
                if output:
                    result.stage(
                        files,
                        output,
                        shuffle=not keep_order,
                        sidecar=sidecar,
                        spreadsheet_safe=spreadsheet_safe,
                        shuffle_key=secret,
                    )
                if report:
                    files.temporary(report).write_text(
                        result.report(examples=report_examples).text(report), encoding="utf-8"
                    )
                if save_recipe:
                    anonymizer.stage(files, save_recipe)
                if save_mapping:
                    mapping = result.generalization
                    files.temporary(save_mapping).write_text(mapping.text(save_mapping), encoding="utf-8")
                told = [*targets, *([Path(to_table)] if to_table else [])]
                tell_result(result, told, as_json=as_json)  # if it cannot be told, nothing is written
                if address and to_table:
                    result.save_to_database(address, to_table, force=force)
                    note_written(to_table)
        finally:  # an interrupt that waited for the files to get their names comes after them
            if files.named:
                note_written(*(target.name for target in targets))
