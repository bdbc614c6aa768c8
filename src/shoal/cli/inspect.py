"""``shoal inspect``: guess the roles of columns, and find records that are unique."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING

import rich_click as click

from shoal.cli.console import make_table, out, print_json, share
from shoal.cli.options import ROLES, Place, Reading, file_argument, input_options, json_option, names_option
from shoal.cli.proposing import left_out, proposed_command, proposed_roles
from shoal.cli.rules import show_rules

if TYPE_CHECKING:
    from rich.console import Console

    from shoal.inspection import Combination, Giveaway, Inspection

SHOWN_PAIRS = 5


@click.command("inspect")
@file_argument
@names_option("--qi", "quasi_identifiers", text="Quasi-identifiers, if the guess is wrong.")
@click.option(
    "--rules",
    type=click.Choice(["hipaa-safe-harbor"]),
    help="Look for the identifiers of a rule instead: [bold]hipaa-safe-harbor[/bold] has eighteen kinds, by names and values with their check digits.",
    panel=ROLES,
)
@input_options
@json_option
def command(
    *, file: Place, quasi_identifiers: tuple[str, ...], rules: str | None, reading: Reading, as_json: bool
) -> None:
    """Guess the role of each column and show which columns pick people out.

    The guesses come from names, types and repetition; the decision is yours. No value of the table is printed.

    [dim]shoal inspect patients.csv[/dim]
    """
    from shoal.inspection import find_identifiers, inspect_table

    if rules:
        show_rules(reading.load(file), file, reading, as_json=as_json)
        return
    frame = reading.load(file)
    found = inspect_table(frame, quasi_identifiers)
    held = find_identifiers(frame)
    if as_json:
        print_json(found.as_dict() | {"identifiers": [asdict(one) for one in held]})
        return
    console = out()
    _show_columns(console, found, file)
    _show_combinations(console, found)
    _show_derived(console, found)
    _show_readings(console, found)
    for one in held:
        where = "found inside its text" if one.inside else "is the kind of its values"
        console.print(
            f"{one.column}: {one.format}, {where} ({one.values:,} of {one.looked_at:,} values looked at).", style="bold"
        )
    _show_next(console, found, file, reading)


def _show_columns(console: Console, found: Inspection, file: Place) -> None:
    console.print(f"{file.name}: {found.records:,} records, {len(found.columns)} columns", style="bold")
    gaps = any(column.missing for column in found.columns)
    missing = ["missing"] if gaps else []
    headings = ["column", "type", "distinct", *missing, "role (guessed)", "why"]
    table = make_table(*headings, numbers=["distinct", "missing"], whole=["role (guessed)"])
    for column in found.columns:
        counted = [f"{column.missing:,}"] if gaps else []
        kind = f"{column.type}, nominal?" if column.suggested_kind else column.type
        table.add_row(column.name, kind, f"{column.distinct:,}", *counted, column.role, column.reason)
    console.print(table)


def _show_readings(console: Console, found: Inspection) -> None:
    """Say how text is understood, what looks like a code, and whether people have several rows."""
    for note in found.notes:
        console.print(note)
    for column in found.columns:
        if column.reading:
            console.print(f"Understood {column.name} as {column.reading}.")
    if found.person:
        key = found.person
        console.print(
            f"{found.records:,} rows have only {key.distinct:,} different values of {key.name}. Do people have several rows? "
            f"Then a group of k rows can be fewer than k people; count people with --person {key.name}.",
            style="bold",
        )


def _show_combinations(console: Console, found: Inspection) -> None:
    if not found.combinations:
        console.print("No column looks like a quasi-identifier. Name the columns an outsider may know with --qi.")
        return
    table = make_table(
        "who knows", "finds alone", "share", "smallest group", numbers=["finds alone", "share", "smallest group"]
    )
    for one in _to_show(found):
        table.add_row(", ".join(one.columns), f"{one.unique:,}", share(one.unique, found.records), f"{one.smallest:,}")
    console.print("Records that share their values with no other record:", style="bold")
    console.print(table)
    if found.unique_sets:
        first = found.unique_sets[0]
        together = " only by all of these together" if len(first.columns) > 1 else ""
        console.print(
            f"Most are singled out by {', '.join(first.columns)}: {first.minimal:,} records are alone{together}."
        )


def _show_derived(console: Console, found: Inspection) -> None:
    """Say which columns follow from the quasi-identifiers, by which formula, and once what to do."""
    from shoal.inspection import USUAL_K

    given = [one for one in found.derived if one.certain]
    for one in given:
        console.print(
            f"{one.column} = {one.formula}, {_for_share(one)}: a person who knows {', '.join(one.sources)} knows it too, and {one.below:,} records share their value "
            f"with fewer than {USUAL_K - 1} others.",
            style="bold",
            soft_wrap=True,
        )
    if given:
        names = ",".join(one.column for one in given)
        console.print(
            f"Make {'it a quasi-identifier' if len(given) == 1 else 'them quasi-identifiers'} (--qi {names}), leave {'it' if len(given) == 1 else 'them'} out "
            f"(--identifier {names}) or round (--treat {given[0].column}=round:STEP); a release that falls below k by them is refused.",
            style="bold",
            soft_wrap=True,
        )
    likely = [one for one in found.derived if not one.certain]
    if len(likely) == 1:
        console.print(
            f"{likely[0].column} can be predicted from {likely[0].formula}, {_for_share(likely[0])}. Could that matter? Then add it to --qi.",
            soft_wrap=True,
        )
    elif likely:
        listed = ", ".join(f"{one.column} ({one.share:.0%})" for one in likely)
        console.print(
            f"{len(likely)} columns can be predicted from the quasi-identifiers, each rightly for so many of the records: {listed}. Could that matter? Then add them to --qi.",
            soft_wrap=True,
        )


def _for_share(one: Giveaway) -> str:
    return f"for {100 * one.share:.1f} % of records"


def _to_show(found: Inspection) -> list[Combination]:
    alone = [one for one in found.combinations if len(one.columns) == 1]
    rest = [one for one in found.combinations if len(one.columns) > 1]
    return [*alone, *rest[: min(SHOWN_PAIRS, max(len(rest) - 1, 0))], *rest[-1:]]


def _show_next(console: Console, found: Inspection, file: Place, reading: Reading) -> None:
    """Print the command that makes the release, and what it leaves out."""
    command = proposed_command(found, file, reading)
    if not command:
        return
    undecided = left_out(found)
    if undecided:
        console.print(
            f"Left out unless you decide: {', '.join(undecided)}. Name what an outsider could know with --qi, what is confidential with "
            "--sensitive, and what nobody outside can know with --keep.",
            soft_wrap=True,
        )
    released = (
        len(found.columns)
        - len(undecided)
        - sum(
            len(names)
            for option, names in proposed_roles(found).items()
            if option in {"--identifier", "--person", "--household"}
        )
    )
    console.print(f"If the roles are right, next ({released} of {len(found.columns)} columns released):", style="bold")
    console.print("  " + shlex.join(command), soft_wrap=True, markup=False, highlight=False)
