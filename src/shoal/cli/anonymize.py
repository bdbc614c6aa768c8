"""``shoal anonymize``: the main job."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from shoal.cli.console import make_table, note_written, out, print_json, progress_bar
from shoal.cli.options import (
    INPUT,
    OUTPUT,
    Place,
    Reading,
    file_argument,
    force_option,
    input_options,
    json_option,
    names_option,
    pairs_callback,
    path_option,
    show_values_option,
    split_call,
)
from shoal.errors import ParameterError

if TYPE_CHECKING:
    from shoal.api import Anonymizer
    from shoal.io.transaction import Transaction
    from shoal.recipe import Recipe
    from shoal.result import Result

COLUMNS = "How columns are read and released"
SEARCH = "How groups are found"
PROMISE = "What is promised"
EFFORTS = ("fast", "balanced", "best")


def effort_callback(ctx: click.Context, param: click.Parameter, value: str | None) -> str | float | None:
    """Read a word or a number of seconds."""
    if value is None or value in EFFORTS:
        return value
    try:
        return float(value)
    except ValueError:
        raise click.BadParameter(f"Give {', '.join(EFFORTS)} or a number of seconds.", ctx, param) from None


@click.command("anonymize", context_settings={"show_default": False})
@file_argument
@click.option(
    "-k",
    type=click.IntRange(min=2),
    metavar="K",
    help="Smallest group: each released combination of values occurs at least K times.",
    panel=PROMISE,
)
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="MODEL",
    help="A privacy model that must hold beyond k, written [bold]NAME:PARAMETER=VALUE,PARAMETER=VALUE[/bold]. May be repeated.",
    panel=PROMISE,
)
@click.option(
    "--max-suppression",
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    help="Largest share of records that may be withheld, such as 0.01. Default: none.",
    panel=PROMISE,
)
@names_option(
    "--qi", "quasi_identifiers", text="Quasi-identifiers: columns an outsider may know. They are made coarser."
)
@names_option("--sensitive", text="Columns with what must not be tied to a person. They are kept as they are.")
@names_option("--identifier", "identifiers", text="Columns that name a person by themselves. They are removed.")
@names_option("--keep", text="Columns passed through unchanged. Only what no outsider can know.")
@click.option(
    "--hierarchy",
    "hierarchies",
    multiple=True,
    metavar="COLUMN=CHOICE",
    callback=pairs_callback,
    help="How a category is made coarser: a hierarchy file, [bold]flat[/bold] (the value or *) or [bold]set[/bold] (one of several values; the default for text).",
    panel=COLUMNS,
)
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    metavar="COLUMN=KIND",
    callback=pairs_callback,
    help="Read a column as [bold]numeric[/bold], [bold]date[/bold] or [bold]nominal[/bold], or as ordered values from low to high: [bold]school=primary,secondary,tertiary[/bold].",
    panel=COLUMNS,
)
@click.option(
    "--weight",
    "weights",
    multiple=True,
    metavar="COLUMN=NUMBER",
    callback=pairs_callback,
    help="How much the loss in a column counts. Default: 1. Nodes of its hierarchy count with [bold]COLUMN:NODE=NUMBER[/bold].",
    panel=COLUMNS,
)
@click.option(
    "--release",
    type=click.Choice(["ranges", "representatives"]),
    help="Release ranges of values, or one typical value for each group. Default: what the method is made for.",
    panel=COLUMNS,
)
@click.option(
    "--widen",
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    help="Release this many cells wider than needed for each that is not, such as 0.5, so that narrow cells tell less. Default: none.",
    panel=PROMISE,
)
@click.option(
    "--method",
    metavar="NAME",
    help="Which method finds the groups; [bold]shoal methods[/bold] lists them. Options follow a colon: [bold]mondrian:strict=false[/bold].",
    panel=SEARCH,
)
@click.option(
    "--effort",
    metavar="EFFORT",
    callback=effort_callback,
    help="[bold]fast[/bold], [bold]balanced[/bold], [bold]best[/bold] or seconds, for methods that can spend time to lose less.",
    panel=SEARCH,
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    metavar="NUMBER",
    help="Start of the random numbers: same table, same call, same groups. Default: 0.",
    panel=SEARCH,
)
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
@force_option
@show_values_option
@json_option
def command(
    *,
    file: Place,
    recipe: Path | None,
    reading: Reading,
    output: Path | None,
    to_table: str | None,
    database: str | None,
    keep_order: bool,
    sidecar: bool,
    spreadsheet_safe: bool,
    report: Path | None,
    report_examples: bool,
    save_recipe: Path | None,
    force: bool,
    as_json: bool,
    **choices: Any,
) -> None:
    """Release a table in which every record hides among at least k.

    FILE is a table with one record a person: CSV, Parquet, Arrow, Excel, SPSS, Stata or SAS, a folder of Parquet files,
    an address such as s3://bucket/people.parquet, or a database such as postgresql://host/db (with --table or --query). The released rows are counted again before
    anything is written; if the promise does not hold, nothing is.

    [dim]shoal anonymize patients.csv -k 10 --qi age,sex,zip --sensitive diagnosis --identifier name -o release.csv[/dim]
    """
    from shoal.io.transaction import Transaction
    from shoal.recipe import recipe_inputs

    with progress_bar("reading") as progress:
        anonymizer = make_anonymizer(recipe, choices | reading.notation, progress)
        inputs = [
            *([file] if isinstance(file, Path) else []),
            *([recipe] if recipe else []),
            *recipe_inputs(anonymizer.recipe()),
        ]
        files = Transaction(force=force, inputs=inputs)
        targets = _add_targets(files, output, report, save_recipe, sidecar=sidecar)
        address = _check_table(file, database, to_table, force=force)
        progress(0.0, "reading the file")
        result = anonymizer.fit(reading.load(file)).result_
        progress(0.95, "writing")
        try:
            with files:
                if output:
                    result.stage(
                        files, output, shuffle=not keep_order, sidecar=sidecar, spreadsheet_safe=spreadsheet_safe
                    )
                if report:
                    files.temporary(report).write_text(
                        result.report(examples=report_examples).text(report), encoding="utf-8"
                    )
                if save_recipe:
                    anonymizer.stage(files, save_recipe)
                told = [*targets, *([Path(to_table)] if to_table else [])]
                tell_result(result, told, as_json=as_json)  # if it cannot be told, nothing is written
                if address and to_table:
                    result.save_to_database(address, to_table, force=force)
                    note_written(to_table)
        finally:  # an interrupt that waited for the files to get their names comes after them
            if files.named:
                note_written(*(target.name for target in targets))


def tell_result(result: Result, targets: list[Path], *, as_json: bool) -> None:
    """Print what came out."""
    if as_json:
        print_json(describe(result) | {"written": [str(target) for target in targets]})
    else:
        show_result(result, targets)


def _check_table(file: Place, database: str | None, table: str | None, *, force: bool) -> str | None:
    """Return the database to write into; refuse it, or a table that is there, before the work."""
    if table is None:
        if database:
            raise ParameterError("The option --to needs the name of a table. Got no --to-table.")
        return None
    from shoal.saving import check_database

    address = database or (str(file) if not isinstance(file, Path) or database_like(file) else None)
    if address is None:
        raise ParameterError(
            "The option --to-table needs a database. Got a file.", hint="name one with --to postgresql://host/db."
        )
    check_database(address, table, force=force)
    return address


def database_like(file: Path) -> bool:
    """Tell whether a file is a database."""
    from shoal.audit.pushed import is_in_database

    return is_in_database(file)


def _add_targets(
    files: Transaction, output: Path | None, report: Path | None, save_recipe: Path | None, *, sidecar: bool
) -> list[Path]:
    """Return the files to write; refuse them before the work, not after it."""
    from shoal.io.files import file_format
    from shoal.report import report_form
    from shoal.saving import sidecar_path

    if output is None and sidecar:
        raise ParameterError("The option --sidecar needs a release to stand beside. Got no --output.")
    beside = sidecar_path(output) if output and sidecar else None
    targets = [target for target in (output, beside, report, save_recipe) if target]
    for target in targets:
        files.add(target, last=target is output)
    if output:
        file_format(output)
    if report:
        report_form(report)
    return targets


def make_anonymizer(recipe: Path | None, choices: dict[str, Any], progress: Any) -> Anonymizer:
    """Return the anonymizer that the recipe and the options on top of it describe."""
    from shoal.api import Anonymizer, recipe_parameters
    from shoal.recipe import read_recipe

    base = read_recipe(recipe) if recipe else None
    given = _given(choices, base)
    parameters = (recipe_parameters(base) if base else {}) | given
    if "k" not in parameters:
        raise ParameterError("The size of the smallest group is not given.", hint="add -k 10, or --recipe FILE.")
    parameters.setdefault("quasi_identifiers", ())
    return Anonymizer(**parameters, progress=progress)


def _given(choices: dict[str, Any], base: Recipe | None) -> dict[str, Any]:
    """Return the options that were given, as parameters; mappings add to those of the recipe."""
    from shoal.methods import make_method
    from shoal.privacy import make_model

    given = {name: value for name, value in choices.items() if value not in (None, (), {})}
    for name, read in (("hierarchies", str), ("kinds", _kind)):
        if name in given:
            mapping = {column: read(text) for column, text in given[name].items()}
            given[name] = {**(getattr(base, name) if base else {}), **mapping}
    if "weights" in given:
        given["weights"] = {**(base.weights if base else {}), **_weights(given["weights"])}
    if "method" in given:
        name, options = split_call(given["method"])
        given["method"] = make_method(name, **options)
    if "models" in given:
        given["models"] = [make_model(name, **options) for name, options in map(split_call, given["models"])]
    return given


def _kind(text: str) -> str | list[str]:
    return [value.strip() for value in text.split(",")] if "," in text else text


def _weights(texts: dict[str, str]) -> dict[str, float | dict[str, float]]:
    """Return weights of columns, and of nodes of their hierarchies for keys such as ``job:Nurse``."""
    nodes: dict[str, dict[str, float]] = {}
    for key, text in texts.items():
        column, colon, node = key.partition(":")
        if colon:
            nodes.setdefault(column, {})[node] = _weight(text)
    columns = {key: _weight(text) for key, text in texts.items() if ":" not in key}
    both = sorted(set(columns) & set(nodes))
    if both:
        raise ParameterError(
            f"The column {both[0]!r} is given a weight of its own and weights of nodes.", hint="give one or the other."
        )
    return columns | nodes


def _weight(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ParameterError(
            f"A weight must be a number. Got {text!r} instead.", hint="for example --weight age=8."
        ) from None


def describe(result: Result) -> dict[str, Any]:
    """Return what came out, as plain values."""
    return {
        "records": result.released.num_rows,
        "withheld": result.suppressed,
        "groups": result.audit.groups,
        "k": result.audit.k,
        "loss": result.metrics["ncp"],
        "lower_bound": result.details.get("lower_bound"),
        "metrics": dict(result.metrics),
        "audit": result.audit.as_dict(),
        "recipe": result.recipe.model_dump(exclude_none=True),
    }


def show_result(result: Result, targets: list[Path]) -> None:
    """Print what came out, for people to read."""
    console, audit = out(), result.audit
    withheld = f", {result.suppressed:,} withheld" if result.suppressed else ""
    console.print(
        f"{audit.records:,} records in {audit.groups:,} groups of {audit.k:,} or more{withheld}.", style="bold"
    )
    console.print(loss_sentence(result))
    table = make_table("column", "released as", "loss", numbers=["loss"])
    for column in result.coded.columns:
        loss = result.metrics["ncp_by_column"][column.name]
        table.add_row(column.name, _form(result, column.kind), f"{loss:.3f}")
    console.print(table)
    for target in targets:
        console.print(f"Written: {target}", soft_wrap=True)
    if not targets:
        console.print("Nothing was written; add -o release.csv to write the release.")


def loss_sentence(result: Result) -> str:
    """Say what was lost and, where the method knows it, how little could be lost."""
    loss = result.metrics["ncp"]
    bound = result.details.get("lower_bound")
    known = f", and no grouping can be below {bound:.3f}" if bound is not None else ""
    return f"Information loss {loss:.3f}{known} (0: nothing lost, 1: the quasi-identifiers say nothing any more)."


def _form(result: Result, kind: str) -> str:
    if result.recipe.release == "representatives":
        return "typical value"
    return {"interval": "range", "node": "node of its hierarchy", "set": "set of values"}[kind]
