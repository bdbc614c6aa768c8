"""``shoal audit``: count any table, whether shoal made it or not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click
from click.exceptions import Exit

from shoal.cli.console import make_table, out, print_json, share
from shoal.cli.options import (
    OUTPUT,
    Reading,
    column_option,
    file_argument,
    input_options,
    json_option,
    names_option,
    plain_value,
)
from shoal.errors import ParameterError
from shoal.validation import nearest_hint

if TYPE_CHECKING:
    from shoal.audit import Audit

_SHOWN = 10
_MEANINGS = {
    "l": "fewest different values in a group",
    "entropy_l": "the same, counting values by their frequency",
    "t": "largest distance of a group's values from the table's",
    "alpha": "largest share of one value in a group",
    "beta": "largest relative gain of a value's share in a group",
    "delta": "largest logarithm of a value's share in a group over the table's",
}


def require_callback(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> dict[str, float]:
    """Read ``k=10,l=2``."""
    required = {}
    for part in (part.strip() for text in value for part in text.split(",")):
        name, _, wanted = part.partition("=")
        number = plain_value(wanted.strip())
        if isinstance(number, (bool, str)) or not name.strip():
            raise click.BadParameter("Write NAME=NUMBER, such as k=10 or k=10,l=2.", ctx, param)
        required[name.strip()] = number
    return required


@click.command("audit")
@file_argument
@names_option("--qi", "quasi_identifiers", text="Quasi-identifiers: columns an outsider may know.", required=True)
@names_option("--sensitive", text="Columns with values that must not be tied to a person.")
@column_option(
    "--person",
    text="Column that identifies the person a record belongs to. People are then counted instead of records.",
)
@column_option(
    "--household", text="Column that identifies the household a record belongs to. Households are counted too."
)
@column_option(
    "--survey-weight",
    text="Column with the number of people of the population that a record represents. Adds the risks in the population.",
)
@input_options
@click.option(
    "--require",
    "required",
    multiple=True,
    metavar="NAME=NUMBER",
    callback=require_callback,
    help="Least protection the table must have, such as [bold]k=10[/bold] or [bold]k=10,l=2[/bold]; exit code 1 if it falls short.",
    panel=OUTPUT,
)
@click.option(
    "--sample",
    "fraction",
    type=click.FloatRange(min=0, max=1, min_open=True),
    metavar="SHARE",
    help="Share of the population that is in the table; estimates how many are alone in the population.",
    panel=OUTPUT,
)
@click.option(
    "--unique-columns",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Find the sets of up to N quasi-identifiers by which records are alone.",
    panel=OUTPUT,
)
@json_option
def command(
    *,
    file: Path,
    quasi_identifiers: tuple[str, ...],
    sensitive: tuple[str, ...],
    person: str | None,
    household: str | None,
    survey_weight: str | None,
    reading: Reading,
    required: dict[str, float],
    fraction: float | None,
    unique_columns: int,
    as_json: bool,
) -> None:
    """Count what protection a table really has.

    k is the size of the smallest group of records that share all quasi-identifiers, l the fewest different
    sensitive values in a group. With --require the exit code is 1 if the table has less.

    [dim]shoal audit release.csv --qi birth_date,sex,zip,job --require k=10[/dim]
    """
    from shoal.audit import audit
    from shoal.audit.in_database import is_in_database

    inside = is_in_database(file)
    found = audit(
        file if inside else reading.load(file),
        quasi_identifiers=quasi_identifiers,
        sensitive=sensitive,
        person=person,
        household=household,
        survey_weight=survey_weight,
        sampling_fraction=fraction,
        unique_columns=unique_columns,
        table=reading.table if inside else None,
        query=reading.query if inside else None,
    )
    checks = [_check(found, name, wanted) for name, wanted in required.items()]
    if as_json:
        print_json(found.as_dict() | {"l": found.l, "required": checks, "met": all(one["met"] for one in checks)})
    else:
        _show(found, checks)
    if not all(one["met"] for one in checks):
        raise Exit(1)


def _risks(found: Audit) -> Iterator[tuple[str, str, str]]:
    """Yield name, value and meaning of what intruders can expect."""
    if found.risk is None:
        return
    yield (
        "highest risk",
        f"{100 * found.risk.prosecutor_highest:.2f} %",
        "chance to pick the right record of the person most at risk",
    )
    yield (
        "mean risk",
        f"{100 * found.risk.prosecutor_mean:.2f} %",
        "average of this chance over all records, if presence in the table is known",
    )
    if found.risk.journalist_highest is not None:
        yield (
            "journalist",
            f"{100 * found.risk.journalist_highest:.2f} %",
            "highest chance if nobody knows who is in the table",
        )
    if found.risk.individual_highest is not None:
        yield (
            "individual",
            f"{100 * found.risk.individual_highest:.2f} %",
            "highest risk by the survey weights of the group",
        )
    for one in found.population:
        yield f"alone, {one.model}", f"{one.people:,.0f}", f"people alone in the population, estimated. {one.trust}"


def _check(found: Audit, name: str, wanted: float) -> dict[str, Any]:
    has = measured(found, name)
    met = has <= wanted if _at_most(name) else has >= wanted
    return {"name": name, "wanted": wanted, "has": has, "met": met}


def _at_most(name: str) -> bool:
    """Return whether less of a measure is better."""
    from shoal.audit import AT_MOST

    return name in AT_MOST


def measured(found: Audit, name: str) -> float:
    """Return what the table has of a measure, over all sensitive columns the worst."""
    if name == "k":
        return found.k
    values = [measures[name] for measures in found.sensitive.values() if name in measures]
    if values:
        return max(values) if _at_most(name) else min(values)
    known = {"k", *(name for measures in found.sensitive.values() for name in measures)}
    if not found.sensitive:
        raise ParameterError(
            f"The requirement {name!r} is about sensitive columns. Got none.", hint="name them with --sensitive."
        )
    raise ParameterError(
        f"The requirement {name!r} is unknown. Known are: {', '.join(sorted(known))}.", hint=nearest_hint(name, known)
    )


def _counted(found: Audit) -> str:
    """Return what groups are counted in."""
    return "records" if found.persons is None and found.households is None else "persons or households"


def _show(found: Audit, checks: list[dict[str, Any]]) -> None:
    console = out()
    table = make_table("measure", "value", "meaning", numbers=["value"])
    table.add_row("records", f"{found.records:,}", "rows of the table")
    for what, number in (("persons", found.persons), ("households", found.households)):
        if number is not None:
            table.add_row(what, f"{number:,}", f"{what} the records belong to; groups count them")
    table.add_row("k", f"{found.k:,}", "size of the smallest group")
    table.add_row("groups", f"{found.groups:,}", f"mean size {found.mean_size:.1f}, largest {found.largest:,}")
    table.add_row(
        "alone",
        f"{found.unique:,}",
        f"{_counted(found)} no other shares all values with ({share(found.unique, found.persons or found.records)})",
    )
    for column, measures in found.sensitive.items():
        for name, value in measures.items():
            table.add_row(f"{name} of {column}", f"{value:.4g}", _MEANINGS[name])
    for risk in _risks(found):
        table.add_row(*risk)
    console.print(table)
    for alone in found.unique_sets[:_SHOWN]:
        by = ", ".join(alone.columns)
        together = f"; only by all of these together: {alone.minimal:,}" if len(alone.columns) > 1 else ""
        console.print(f"Alone by {by}: {alone.unique:,}{together}.")
    for one in checks:
        sign = "at most" if _at_most(one["name"]) else "at least"
        verdict, style = ("met", "green") if one["met"] else ("NOT MET", "bold red")
        console.print(f"{one['name']} {sign} {one['wanted']:g}: {verdict}, it has {one['has']:g}.", style=style)
