"""``shoal hierarchy``: look at the files that say how values are made coarser, check them, make them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import rich_click as click
from click.exceptions import Exit

from shoal.cli.console import err, make_table, out, tell_fault
from shoal.cli.options import (
    OUTPUT,
    Place,
    PlaceType,
    Reading,
    file_argument,
    force_option,
    input_options,
    plain_value,
    show_values_option,
)
from shoal.errors import HierarchyError, ParameterError

if TYPE_CHECKING:
    from shoal.hierarchy import Hierarchy

_Command = TypeVar("_Command", bound=Callable[..., Any])


@click.group("hierarchy")
def command() -> None:
    """Show, check, suggest or make hierarchies.

    A hierarchy says how a value is made coarser: 40213 to 402** to *. Its file has one line for each
    value, from the value to the root: [bold]40213;402**;*[/bold].
    """


@command.command("show")
@file_argument
@click.option("--all", "everything", is_flag=True, help="Show all values instead of the first 40.")
def show(*, file: Path, everything: bool) -> None:
    """Draw a hierarchy file as a tree."""
    from shoal.hierarchy import Hierarchy

    tree = Hierarchy.from_csv(file)
    console = out()
    console.print(f"{file.name}: {tree.n_leaves:,} values, {tree.levels} levels", style="bold")
    console.print(tree.show(None if everything else 40), soft_wrap=True)


def data_options(command: _Command) -> _Command:
    """Add the options that name a column of a table."""
    command = input_options(command)
    command = click.option("--column", required=True, metavar="COLUMN", help="The column with the values.")(command)
    return click.option("--data", required=True, type=click.Path(path_type=Path), metavar="FILE", help="The table.")(
        command
    )


@command.command("check")
@file_argument
@data_options
@click.option("-k", type=click.IntRange(min=2), metavar="NUMBER", help="The k of the release. Default: 5.", default=5)
@click.option("--person", metavar="COLUMN", help="Column that identifies the person a record belongs to.")
@show_values_option
def check(*, file: Path, data: Path, column: str, k: int, person: str | None, reading: Reading) -> None:
    """Check a hierarchy file against a column of a table.

    The table shows, for each level, how many groups it has, how large they are, the smallest of them in people, and how many people are
    in groups of fewer than k. Below it are warnings: levels that add nothing, levels with only one group, and values that will always be suppressed.
    Exit code 1 if a value of the column is not in the hierarchy.
    """
    from shoal.encoding import encode, with_units
    from shoal.hierarchy import Hierarchy
    from shoal.learning.level_check import check_tree
    from shoal.validation import check_columns

    tree = Hierarchy.from_csv(file)
    frame = reading.load(data)
    check_columns("the column to check", [column], frame.names)
    check_columns("--person", [person] if person else [], frame.names)
    try:
        coded = with_units(encode(frame, [column], hierarchies={column: tree}), frame, {"person": person})
    except HierarchyError as fault:
        tell_fault(fault)
        raise Exit(1) from None
    used = len(set(coded.codes[0].tolist()) - {coded.columns[0].missing})
    console = out()
    console.print(
        f"{file.name} covers all {frame.records:,} rows of {column!r}; {used:,} of its {tree.n_leaves:,} values occur."
    )
    checked = check_tree(tree, coded.codes[0], k, coded.units.get("person"))
    numbers = ("level", "groups", "values each", "fewest people", f"people below {k}")
    table = make_table(*numbers, numbers=numbers)
    for level in checked.levels:
        table.add_row(
            str(level.level), f"{level.groups:,}", f"{level.values:,.1f}", f"{level.smallest:,}", f"{level.below:,}"
        )
    console.print(table)
    for sentence in checked.remarks:
        console.print(sentence, soft_wrap=True, markup=False)


def target_options(command: _Command) -> _Command:
    """Add the options for the target of the hierarchy."""
    command = show_values_option(force_option(command))
    return click.option(
        "-o",
        "--output",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Write the hierarchy here instead of printing it.",
        panel=OUTPUT,
    )(command)


def _numbers(text: str | None, option: str) -> list[Any] | None:
    if text is None:
        return None
    numbers = [plain_value(part.strip()) for part in text.split(",")]
    if any(isinstance(number, (str, bool)) for number in numbers):
        raise ParameterError(f"The option {option} must be numbers separated by commas. Got {text!r} instead.")
    return numbers


def _values(data: Path, column: str, reading: Reading, *, typed: bool = False) -> Any:
    """Return the distinct values of a column, as text or in the type they have."""
    import pyarrow.compute as pc

    from shoal.encoding import value_texts
    from shoal.validation import check_columns

    frame = reading.load(data)
    check_columns("the column", [column], frame.names)
    values = pc.unique(frame.typed(column) if typed else frame.table.column(column)).drop_null()
    return values if typed else value_texts(values)


def _deliver(tree: Hierarchy, output: Path | None, *, force: bool) -> None:
    from shoal.io.transaction import replacing

    if output is None:
        tree.to_csv(sys.stdout)
        return
    with replacing(output, force=force) as temporary:
        tree.to_csv(temporary)
    out().print(f"Written: {output} ({tree.n_leaves:,} values, {tree.levels} levels)", soft_wrap=True)


@command.command("suggest")
@click.argument("file", type=PlaceType(), metavar="FILE", required=False)
@click.option("--data", type=click.Path(path_type=Path), metavar="FILE", help="The table, if it is not given as FILE.")
@click.option("--column", required=True, metavar="COLUMN", help="The column with the values.")
@input_options
@target_options
def suggest(
    *, file: Place | None, data: Path | None, column: str, reading: Reading, output: Path | None, force: bool
) -> None:
    """Suggest a hierarchy for a column from its values.

    Dates are grouped by month, year and decade, numbers in round steps, texts with an order (bands, answers, months) along it,
    countries, postcodes, diagnoses and occupations by built-in lists, codes and paths by their first parts; all other
    values are placed directly below *. Check the result, and change the file if you know better.

    [dim]shoal hierarchy suggest patients.csv --column zip -o zip.csv[/dim]
    """
    place = file or data
    if place is None:
        raise ParameterError("The table is not given.", hint="write shoal hierarchy suggest FILE --column COLUMN.")
    from shoal.encoding import text_meanings
    from shoal.hierarchy import Hierarchy
    from shoal.validation import check_columns

    frame = reading.load(place)
    check_columns("the column", [column], frame.names)
    tree = Hierarchy.suggest(text_meanings(frame, column), column)
    _tell_reading(tree)
    _deliver(tree, output, force=force)


def _tell_reading(tree: Hierarchy) -> None:
    """Print to the standard error what the values were recognized as; the hierarchy may go to the standard output."""
    if tree.reading is not None:
        lost = len(tree.reading.unknown)
        rest = f"; {lost:,} of {tree.n_leaves:,} values are not, and are placed directly below *" if lost else ""
        err().print(f"Recognized: {tree.reading.what}{rest}.", soft_wrap=True)


@command.command("learn")
@data_options
@click.option(
    "--qi", required=True, metavar="COLUMNS", help="All quasi-identifiers of the release, separated by commas."
)
@click.option("-k", required=True, type=int, metavar="NUMBER", help="The k of the release.")
@click.option("--person", metavar="COLUMN", help="Column that identifies the person a record belongs to.")
@click.option(
    "--effort",
    type=click.Choice(["fast", "balanced", "best"]),
    default="balanced",
    show_default=True,
    help="Number of hierarchies to try.",
)
@target_options
def learn(
    *,
    data: Path,
    column: str,
    reading: Reading,
    qi: str,
    k: int,
    person: str | None,
    effort: str,
    output: Path | None,
    force: bool,
) -> None:
    """Learn a hierarchy for a column of categories from the data.

    Values that share groups in a quick release are placed near each other. A value of fewer than k people has no place
    or name of its own.

    [dim]shoal hierarchy learn --data patients.csv --column job --qi birth_date,sex,zip,job -k 2 -o jobs.csv[/dim]
    """
    from shoal.learning.public import learn_hierarchies

    names = [name.strip() for name in qi.split(",") if name.strip()]
    trees = learn_hierarchies(
        reading.load(data), k=k, quasi_identifiers=names, columns=[column], person=person, effort=effort
    )
    if column not in trees:
        raise ParameterError(
            f"The column {column!r} has nothing to learn: it holds numbers, dates, codes, or fewer than three values.",
            hint="shoal hierarchy suggest makes a tree for it.",
        )
    _tell_reading(trees[column])
    _deliver(trees[column], output, force=force)


@command.group("make")
def make() -> None:
    """Make a hierarchy from the values of a column."""


@make.command("prefixes")
@data_options
@click.option(
    "--lengths", required=True, metavar="NUMBERS", help="Number of characters left at each step, such as 4,3,0."
)
@target_options
def make_prefixes(
    *,
    data: Path,
    column: str,
    reading: Reading,
    lengths: str,
    output: Path | None,
    force: bool,
) -> None:
    """Group codes by their first characters: 40213, 402**, *."""
    from shoal.hierarchy import Hierarchy

    values = _values(data, column, reading)
    _deliver(Hierarchy.from_prefixes(values, _numbers(lengths, "--lengths") or []), output, force=force)


@make.command("intervals")
@data_options
@click.option("--width", metavar="NUMBERS", help="Width of the intervals at each step, such as 5,10,50.")
@click.option("--cuts", metavar="NUMBERS", help="Bounds of the intervals instead, such as 0,18,65,120.")
@target_options
def make_intervals(
    *,
    data: Path,
    column: str,
    reading: Reading,
    width: str | None,
    cuts: str | None,
    output: Path | None,
    force: bool,
) -> None:
    """Group numbers into intervals: 37, [35-39], [30-39], *."""
    from shoal.hierarchy import Hierarchy

    if (width is None) == (cuts is None):
        raise ParameterError("Give either --width or --cuts.", hint="for example --width 5,10.")
    values = _values(data, column, reading, typed=True)
    tree = Hierarchy.from_intervals(values, _numbers(width, "--width"), cuts=_numbers(cuts, "--cuts"))
    _deliver(tree, output, force=force)


@make.command("dates")
@data_options
@click.option(
    "--levels", default="day,month,quarter,year,decade", show_default=True, metavar="WORDS", help="The steps."
)
@target_options
def make_dates(
    *,
    data: Path,
    column: str,
    reading: Reading,
    levels: str,
    output: Path | None,
    force: bool,
) -> None:
    """Group dates by month, quarter, year, decade."""
    from shoal.hierarchy import Hierarchy

    values = _values(data, column, reading)
    _deliver(Hierarchy.from_dates(values, [level.strip() for level in levels.split(",")]), output, force=force)


@make.command("flat")
@data_options
@target_options
def make_flat(*, data: Path, column: str, reading: Reading, output: Path | None, force: bool) -> None:
    """Put all values directly below *: a value is either kept or withheld."""
    from shoal.hierarchy import Hierarchy

    _deliver(Hierarchy.flat(sorted(_values(data, column, reading).to_pylist())), output, force=force)
