"""``shoal inspect``: a first look at a table."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import rich_click as click

from shoal.cli.console import make_table, out, print_json, share
from shoal.cli.options import Place, Reading, file_argument, input_options, json_option, names_option

if TYPE_CHECKING:
    from rich.console import Console

    from shoal.inspection import Combination, Inspection

SHOWN_PAIRS = 5


@click.command("inspect")
@file_argument
@names_option("--qi", "quasi_identifiers", text="Quasi-identifiers, where the guess is wrong.")
@input_options
@json_option
def command(*, file: Place, quasi_identifiers: tuple[str, ...], reading: Reading, as_json: bool) -> None:
    """Guess the role of each column and show which columns pick people out.

    The guesses come from names, types and repetition; the decision is yours. No value of the table is printed.

    [dim]shoal inspect patients.csv[/dim]
    """
    from shoal.inspection import inspect_table

    found = inspect_table(reading.load(file), quasi_identifiers)
    if as_json:
        print_json(found.as_dict())
        return
    console = out()
    _show_columns(console, found, file)
    _show_combinations(console, found)
    _show_readings(console, found)
    if found.unsure:
        console.print(f"Unsure about: {', '.join(found.unsure)}. Could an outsider know it? Then name it with --qi.")
    _show_next(console, found, file)


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
        console.print("No column looks like a quasi-identifier; name those an outsider may know with --qi.")
        return
    table = make_table(
        "who knows", "finds alone", "share", "smallest group", numbers=["finds alone", "share", "smallest group"]
    )
    for one in _to_show(found):
        table.add_row(", ".join(one.columns), f"{one.unique:,}", share(one.unique, found.records), f"{one.smallest:,}")
    console.print("Records that are the only ones with their values:", style="bold")
    console.print(table)
    if found.unique_sets:
        first = found.unique_sets[0]
        together = " only by all of these together" if len(first.columns) > 1 else ""
        console.print(
            f"Most are singled out by {', '.join(first.columns)}: {first.minimal:,} records are alone{together}."
        )


def _to_show(found: Inspection) -> list[Combination]:
    alone = [one for one in found.combinations if len(one.columns) == 1]
    rest = [one for one in found.combinations if len(one.columns) > 1]
    return [*alone, *rest[: min(SHOWN_PAIRS, max(len(rest) - 1, 0))], *rest[-1:]]


def _show_next(console: Console, found: Inspection, file: Place) -> None:
    known = found.combinations[-1].columns if found.combinations else ()
    if not known:
        return
    parts = ["shoal", "anonymize", str(file), "-k", "10", "--qi", _listed(known)]
    for option, role in (("--sensitive", "sensitive"), ("--identifier", "identifier")):
        if found.named(role):  # type: ignore[arg-type]
            parts += [option, _listed(found.named(role))]  # type: ignore[arg-type]
    for column in found.columns:
        if column.suggested_kind and column.name in known:
            parts += ["--kind", f"{column.name}={column.suggested_kind}"]
    console.print("If the roles are right, next:", style="bold")
    console.print("  " + shlex.join([*parts, "-o", "release.csv"]), soft_wrap=True)


def _listed(names: list[str] | tuple[str, ...]) -> str:
    return ",".join(f'"{name}"' if "," in name else name for name in names)
