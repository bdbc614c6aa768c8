"""``shoal verify``: check a released file against its promises."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import rich_click as click
from click.exceptions import Exit

from shoal.cli.console import make_table, out, print_json
from shoal.cli.options import ROLES, Place, PlaceType, Reading, input_options, json_option, path_option


@click.command("verify")
@click.argument("release", type=click.Path(path_type=Path), metavar="RELEASE")
@path_option("--recipe", text="The recipe of the release. Default: the promises in its dictionary.", panel=ROLES)
@click.option(
    "--original",
    type=PlaceType(),
    metavar="FILE",
    help="The original table: cells must cover its values, and models are measured against it.",
    panel=ROLES,
)
@input_options
@json_option
def command(*, release: Path, recipe: Path | None, original: Place | None, reading: Reading, as_json: bool) -> None:
    """Check whether a released file still has the protection that its recipe promises.

    The rows are read from disk and counted again, and shoal judges every model that released rows are enough for. With --original each
    combination of cells must fit as many original records as it has rows. The exit code is 1 if anything falls short.

    [dim]shoal verify release.csv --original patients.csv[/dim]
    """
    from shoal.recipe import recipe_notation, release_notation
    from shoal.results.verify import promise_of, verify_frame

    chosen, told = promise_of(release, recipe)
    written, rows = reading.load_release(release), None if original is None else reading.load(original)
    if not reading.notation:  # what the options say of notations goes before what the recipe says
        written = replace(written, notation=release_notation(chosen))
        rows = None if rows is None else replace(rows, notation=recipe_notation(chosen))
    found = verify_frame(written, chosen, told, rows, release)
    if as_json:
        print_json(found.as_dict())
    else:
        table = make_table("looked at", "holds", "what was found")
        for one in found.checks:
            word = {True: "yes", False: "NO", None: "–"}[one.met]
            table.add_row(one.name, word, one.text, style="bold red" if one.met is False else None)
        out().print(table)
    if not found.met:
        raise Exit(1)
