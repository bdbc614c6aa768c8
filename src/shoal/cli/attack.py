"""``shoal attack``: what an intruder finds in a release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from shoal.cli.console import make_table, out, print_json
from shoal.cli.options import (
    OUTPUT,
    ROLES,
    file_argument,
    input_options,
    json_option,
    load,
    names_option,
    pairs_callback,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shoal.attacks import Finding, Rate


@click.command("attack")
@file_argument
@click.argument("release", type=click.Path(path_type=Path), metavar="RELEASE")
@names_option("--qi", "quasi_identifiers", text="Quasi-identifiers: columns the intruder knows.", required=True)
@names_option("--sensitive", text="Columns the intruder wants to learn.")
@click.option(
    "--hierarchy",
    "hierarchies",
    multiple=True,
    metavar="COLUMN=FILE",
    callback=pairs_callback,
    help="Hierarchy file of a column released as nodes.",
    panel=ROLES,
)
@click.option(
    "--known", type=click.Path(path_type=Path), metavar="FILE", help="A list of people the intruder has.", panel=ROLES
)
@click.option(
    "--previous",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="An earlier release of the same people, to be put side by side with this one.",
    panel=ROLES,
)
@click.option(
    "-k",
    "k",
    type=click.IntRange(min=2),
    default=2,
    show_default=True,
    help="Fewest candidates wanted with --previous.",
    panel=ROLES,
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Start of the random numbers.",
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
    hierarchies: dict[str, str],
    known: Path | None,
    previous: Path | None,
    k: int,
    seed: int,
    separator: str | None,
    encoding: str | None,
    as_json: bool,
) -> None:
    """Attack a release with what an intruder may know, on your own rows.

    FILE holds the original rows, RELEASE what is to be published. Each attack is set against a control: what a
    guesser achieves. Examples are row numbers of FILE; no value is printed.

    [dim]shoal attack patients.csv release.csv --qi age,sex,zip --sensitive diagnosis --known voters.csv[/dim]
    """
    from shoal.attacks import run_attacks
    from shoal.encoding import load_hierarchy

    def read(path: Path | None) -> Any:
        return None if path is None else load(path, separator, encoding)

    found = run_attacks(
        read(file),
        read(release),
        quasi_identifiers,
        sensitive=sensitive,
        known=read(known),
        previous=read(previous),
        k=k,
        hierarchies={name: load_hierarchy(name, path) for name, path in hierarchies.items()},
        seed=seed,
    )
    if as_json:
        print_json({"findings": [one.as_dict() for one in found]})
    else:
        _show(found)


def _show(found: Sequence[Finding]) -> None:
    console = out()
    table = make_table("attack", "works for", "a guesser", "better than a guess", numbers=["works for", "a guesser"])
    for one in found:
        better = "yes" if one.works else "no"
        table.add_row(one.attack, _share(one.success), _share(one.control), better)
    console.print(table)
    for one in found:
        rows = f" (such as row {', '.join(map(str, one.examples))})" if one.examples else ""
        console.print(f"{one.attack}: {one.verdict}{rows}", soft_wrap=True)
    console.print("Rows are counted from 0; the bracket is the 95 % interval.", style="dim")


def _share(rate: Rate | None) -> str:
    if rate is None or rate.tried == 0:
        return "–"
    return f"{rate.share:.2%} ({rate.low:.2%}–{rate.high:.2%})"
