"""``shoal compare``: methods and sizes of k side by side on one table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from shoal.cli.choices import effort_callback
from shoal.cli.console import make_table, note_written, out, print_json, progress_bar, share
from shoal.cli.options import (
    INPUT,
    Reading,
    file_argument,
    force_option,
    input_options,
    json_option,
    names_option,
    path_option,
    split_call,
    split_names,
)
from shoal.errors import ParameterError

if TYPE_CHECKING:
    from shoal.compare import Comparison, Point

POINTS = "What is compared"


def ks_callback(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[int, ...]:
    """Read numbers separated by commas."""
    try:
        return tuple(int(text) for text in split_names([value or ""]))
    except ValueError:
        raise click.BadParameter("Give whole numbers separated by commas, such as 2,5,10,50.", ctx, param) from None


def efforts_callback(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[Any, ...]:
    """Read words or seconds separated by commas."""
    return tuple(effort_callback(ctx, param, text) for text in split_names([value or ""]))


@click.command("compare")
@file_argument
@path_option(
    "--recipe",
    text="Roles, hierarchies and all other choices; its k, method and effort are replaced by what is compared.",
    panel=INPUT,
)
@names_option("--qi", "quasi_identifiers", text="Quasi-identifiers: columns an outsider may know.")
@names_option("--sensitive", text="Columns with values that must not be tied to a person.")
@click.option(
    "-k",
    "ks",
    metavar="NUMBERS",
    callback=ks_callback,
    help="Sizes of the smallest group, such as [bold]2,5,10,50[/bold]. Default: 2,5,10,20,50.",
    panel=POINTS,
)
@click.option(
    "--methods",
    metavar="NAMES",
    help="Names of methods, such as [bold]mondrian,optimize[/bold]. Default: the default method and Mondrian.",
    panel=POINTS,
)
@click.option(
    "--efforts",
    metavar="EFFORTS",
    callback=efforts_callback,
    help="For methods that can spend time to lose less: [bold]fast,balanced,best[/bold] or seconds.",
    panel=POINTS,
)
@click.option(
    "--sample",
    metavar="RECORDS",
    type=click.IntRange(min=2),
    help="Number of records to look at first. Default: 20,000 if the table has more than 50,000.",
    panel=POINTS,
)
@click.option("--sample-only", is_flag=True, help="Stop after the sample.", panel=POINTS)
@path_option(
    "--state",
    text="Add each finished point to this file, and take points of an earlier run from it.",
)
@path_option(
    "-o",
    "--output",
    text="Write picture or figures here (.html, .svg, .json, .csv).",
)
@input_options
@force_option
@json_option
def command(
    *,
    file: Path,
    recipe: Path | None,
    quasi_identifiers: tuple[str, ...],
    sensitive: tuple[str, ...],
    ks: tuple[int, ...],
    methods: str | None,
    efforts: tuple[Any, ...],
    sample: int | None,
    sample_only: bool,
    state: Path | None,
    output: Path | None,
    reading: Reading,
    force: bool,
    as_json: bool,
) -> None:
    """See what protection costs: methods and sizes of k side by side.

    Every point is a finished and recounted release of FILE; none is written. shoal recommends one of them and prints
    the rule it went by.

    [dim]shoal compare patients.csv --recipe recipe.toml -k 2,5,10,50 -o frontier.html[/dim]
    """
    from shoal.compare import KS, compare
    from shoal.compare.comparison import check_form
    from shoal.io.targets import check_target

    if output:
        check_target(output, force=force)
        check_form(output)
    parameters = _parameters(recipe, quasi_identifiers, sensitive) | reading.notation
    with progress_bar("reading") as progress:
        told = _Teller(progress)
        found = compare(
            reading.load(file),
            methods=[_method(text) for text in split_names([methods])] if methods else None,
            k=ks or KS,
            efforts=efforts or "balanced",
            sample="auto" if sample is None else sample,
            whole=not sample_only,
            state=state,
            on_point=told,
            **parameters,
        )
        if output:
            found.save(output, force=force)
            note_written(output.name)
    if as_json:
        print_json(found.content | {"written": [str(output)] if output else []})
    else:
        show_comparison(found, output)


class _Teller:
    """Prints every point as it is finished."""

    def __init__(self, progress: Any) -> None:
        self.progress, self.made = progress, 0

    def __call__(self, point: Point) -> None:
        self.made += 1
        self.progress(self.made / (self.made + 1), f"{self.made} points, last: {point.series}, k = {point.k}")


def _method(text: str) -> Any:
    from shoal.methods import make_method

    name, options = split_call(text)
    return make_method(name, **options)


def _parameters(recipe: Path | None, quasi_identifiers: tuple[str, ...], sensitive: tuple[str, ...]) -> dict[str, Any]:
    """Return what the recipe says of all releases, and the roles given on top of it."""
    from shoal.api import recipe_parameters
    from shoal.compare import SHARED
    from shoal.recipe import read_recipe

    taken = recipe_parameters(read_recipe(recipe)) if recipe else {}
    parameters = {name: value for name, value in taken.items() if name in SHARED}
    if quasi_identifiers:
        parameters["quasi_identifiers"] = quasi_identifiers
    if sensitive:
        parameters["sensitive"] = sensitive
    if "quasi_identifiers" not in parameters:
        raise ParameterError("No quasi-identifiers are given.", hint="add --recipe FILE, or --qi birth_date,sex,zip.")
    return parameters


def show_comparison(found: Comparison, output: Path | None) -> None:
    """Print the points as a table, and which one is recommended."""
    console = out()
    table = make_table("method", "k", "records", "groups", "loss", "", numbers=["k", "records", "groups", "loss"])
    for point in found.points:
        records = f"{point.records:,}" + (" (sample)" if point.sampled else "")
        mark = "recommended" if point is found.recommended else ""
        if point.loss is None:
            table.add_row(point.series, str(point.k), records, "-", "-", point.fault or "")
        else:
            table.add_row(point.series, str(point.k), records, f"{point.groups:,}", f"{point.loss:.3f}", mark)
    console.print(table)
    if any(point.sampled for point in found.points):
        console.print("A sample is sparser than the table, so its points lose more than those of the whole table.")
    best = found.recommended
    if best is not None and best.loss is not None:
        console.print(f"Recommended: {best.series}, k = {best.k}; it loses {share(best.loss, 1)}.", style="bold")
    console.print(found.content["rule"])
    if output:
        console.print(f"Written: {output}", soft_wrap=True)
