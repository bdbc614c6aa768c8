"""``shoal attack``: what an intruder finds in a release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from shoal.cli.console import make_table, out, print_json
from shoal.cli.options import (
    OUTPUT,
    ROLES,
    Reading,
    column_option,
    file_argument,
    input_options,
    json_option,
    names_option,
    pairs_callback,
    path_option,
)
from shoal.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shoal.attacks import Finding, Rate


@click.command("attack")
@file_argument
@click.argument("release", type=click.Path(path_type=Path), metavar="RELEASE")
@names_option(
    "--qi", "quasi_identifiers", text="Quasi-identifiers: columns the intruder knows. Default: those of --recipe."
)
@names_option("--sensitive", text="Columns the intruder tries to learn.")
@column_option(
    "--person",
    text="Column that identifies the person a record belongs to. People are then counted instead of records. RELEASE must have it too, as a pseudonym, or be in the order of FILE.",
)
@click.option(
    "--hierarchy",
    "hierarchies",
    multiple=True,
    metavar="COLUMN=FILE",
    callback=pairs_callback,
    help="Hierarchy file of a column released as nodes. Default: those of the recipe or the dictionary.",
    panel=ROLES,
)
@path_option(
    "--recipe",
    text="Recipe of the release, with its roles and hierarchies. Without a recipe the hierarchies come from the dictionary.",
    panel=ROLES,
)
@click.option(
    "--known",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="List of people that the intruder has.",
    panel=ROLES,
)
@click.option(
    "--previous",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Earlier release of the same people, to compare with this one.",
    panel=ROLES,
)
@click.option(
    "-k",
    "k",
    type=click.IntRange(min=2),
    default=2,
    show_default=True,
    help="Fewest candidates a person may have with --previous.",
    panel=ROLES,
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed of the random numbers.",
    panel=OUTPUT,
)
@click.option(
    "--show-values",
    is_flag=True,
    help="Print the values of the example rows, which are personal. Default: row numbers only.",
    panel=OUTPUT,
)
@input_options
@json_option
def command(
    *,
    file: Path,
    release: Path,
    quasi_identifiers: tuple[str, ...],
    sensitive: tuple[str, ...],
    person: str | None,
    hierarchies: dict[str, str],
    recipe: Path | None,
    known: Path | None,
    previous: Path | None,
    k: int,
    seed: int,
    show_values: bool,
    reading: Reading,
    as_json: bool,
) -> None:
    """Attack a release with what an intruder may know, on your own rows.

    FILE holds the original rows, RELEASE the rows to publish. Each attack is compared with a control that only
    guesses. Examples are row numbers; no value is printed unless asked for. Two attacks (downcoding, distance
    linkage) are only tried if the rows of RELEASE are in the order of FILE, because the guesses are checked.

    [dim]shoal attack patients.csv release.csv --qi birth_date,sex,zip --sensitive diagnosis --known voters.csv[/dim]
    """
    from shoal.attacks import run_attacks
    from shoal.encoding import load_hierarchy

    roles = _roles(quasi_identifiers, sensitive, person, recipe)
    tables: dict[str, Any] = {"original": reading.load(file), "release": reading.load_release(release)}
    tables["known"] = None if known is None else reading.load_beside(known)
    found = run_attacks(
        tables["original"],
        tables["release"],
        roles[0],
        sensitive=roles[1],
        person=roles[2],
        known=tables["known"],
        previous=None if previous is None else reading.load_release(previous),
        k=k,
        hierarchies={
            name: load_hierarchy(name, path) for name, path in (_named_beside(release, recipe) | hierarchies).items()
        },
        seed=seed,
    )
    values = [_example_values(one, tables) if show_values else [] for one in found]
    if as_json:
        shown = [{"example_values": cells} if show_values else {} for cells in values]
        print_json({"findings": [one.as_dict() | extra for one, extra in zip(found, shown, strict=True)]})
    else:
        _show(found, values)


def _roles(
    quasi_identifiers: Sequence[str], sensitive: Sequence[str], person: str | None, recipe: Path | None
) -> tuple[Sequence[str], Sequence[str], str | None]:
    """Return what the intruder knows and wants, and who is counted: as the options say, else as the recipe does."""
    from shoal.recipe import read_recipe

    if recipe is None:
        if not quasi_identifiers:
            raise ParameterError(
                "The columns the intruder knows are not given.", hint="add --qi birth_date,sex,zip, or --recipe FILE."
            )
        return quasi_identifiers, sensitive, person
    named = read_recipe(recipe)
    return quasi_identifiers or named.quasi_identifiers, sensitive or named.sensitive, person or named.person


def _named_beside(release: Path, recipe: Path | None) -> dict[str, Any]:
    """Return the hierarchy files that the recipe names, else what the dictionary of the release shows of them."""
    from shoal.recipe import declared_hierarchies, read_recipe
    from shoal.results.save import dictionary_hierarchies

    if recipe is None:
        return dict(dictionary_hierarchies(release))
    return declared_hierarchies(read_recipe(recipe))


def _example_values(finding: Finding, tables: dict[str, Any]) -> list[dict[str, str | None]]:
    """Return the rows of a finding's examples."""
    table = tables[finding.examples_in].table
    rows = [table.slice(row, 1).to_pylist()[0] for row in finding.examples]
    return [{name: None if value is None else str(value) for name, value in row.items()} for row in rows]


def _show(found: Sequence[Finding], values: Sequence[list[dict[str, str | None]]]) -> None:
    console = out()
    table = make_table("attack", "works for", "a guesser", "better than a guess", numbers=["works for", "a guesser"])
    for one in found:
        better = "yes" if one.works else "no"
        table.add_row(one.attack, _share(one.success), _share(one.control), better)
    console.print(table)
    for one, cells in zip(found, values, strict=True):
        where = {"original": "", "release": " of the release", "known": " of the list of people"}[one.examples_in]
        rows = f" (such as row {', '.join(map(str, one.examples))}{where})" if one.examples else ""
        console.print(f"{one.attack}: {one.verdict}{rows}", soft_wrap=True)
        for row, example in zip(one.examples, cells, strict=bool(cells)):
            text = ", ".join(f"{name} {value}" for name, value in example.items())
            console.print(f"  row {row}{where}: {text}", soft_wrap=True, markup=False)
    console.print("Rows are counted from 0; the bracket is the 95 % interval.", style="dim")


def _share(rate: Rate | None) -> str:
    if rate is None or rate.tried == 0:
        return "–"
    return f"{100 * rate.share:.2f} % ({100 * rate.low:.2f}–{100 * rate.high:.2f})"
