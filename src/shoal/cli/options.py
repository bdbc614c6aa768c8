"""Options that several commands share, and how their texts are read."""

from __future__ import annotations

import csv
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import rich_click as click

from shoal.cli.console import show_values
from shoal.cli.starting import leave_pandas_out

if TYPE_CHECKING:
    from shoal.frames import Frame

_Command = TypeVar("_Command", bound=Callable[..., Any])
Callback = Callable[[click.Context, click.Parameter, Any], Any]

ROLES = "Roles of the columns"
INPUT = "Reading the file"
OUTPUT = "What is printed and written"


def split_names(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the names in ``a,b`` (a name with a comma is quoted: ``"a,b",c``), given once or several times."""
    return tuple(name.strip() for row in csv.reader(texts, skipinitialspace=True) for name in row if name.strip())


def names_callback(ctx: click.Context, param: click.Parameter, value: Sequence[str]) -> tuple[str, ...]:  # noqa: ARG001
    """Read names separated by commas."""
    return split_names(value)


def marks_callback(ctx: click.Context, param: click.Parameter, value: Sequence[str]) -> tuple[str, ...] | None:
    """Read marks separated by commas; None if the option is not given."""
    return names_callback(ctx, param, value) if value else None


def names_option(*declarations: str, text: str, panel: str = ROLES, **more: Any) -> Callable[[_Command], _Command]:
    """Return an option that takes column names separated by commas, and may be repeated."""
    return click.option(
        *declarations, multiple=True, metavar="COLUMNS", callback=names_callback, help=text, panel=panel, **more
    )


def column_option(name: str, text: str, panel: str = ROLES) -> Callable[[_Command], _Command]:
    """Return an option that takes the name of one column."""
    return click.option(name, metavar="COLUMN", help=text, panel=panel)


def pairs_callback(ctx: click.Context, param: click.Parameter, value: Sequence[str]) -> dict[str, str]:
    """Read ``column=value``, given several times."""
    pairs = {}
    for text in value:
        name, found, choice = text.partition("=")
        if not found or not name.strip() or not choice.strip():
            raise click.BadParameter(f"Write COLUMN=VALUE, such as {_example(param)}.", ctx, param)
        pairs[name.strip()] = choice.strip()
    return pairs


def _example(param: click.Parameter) -> str:
    return {"hierarchies": "job=job.csv", "kinds": "age=numeric", "weights": "age=8"}.get(str(param.name), "a=b")


def plain_value(text: str) -> Any:
    """Return the number, truth value or text that an option's text stands for."""
    if text.lower() in {"true", "false"}:
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def split_call(text: str) -> tuple[str, dict[str, Any]]:
    """Return the name and the parameters in ``name:a=1,b=x``."""
    name, _, rest = text.partition(":")
    parameters = {}
    for part in filter(None, (part.strip() for part in rest.split(","))):
        key, found, value = part.partition("=")
        if not found:
            raise click.UsageError(f"Write parameters as {name}:name=value,name=value.")
        parameters[key.strip().replace("-", "_")] = plain_value(value.strip())
    return name.strip(), parameters


def separator_callback(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Read a separator: one character, or the word ``tab``."""
    if value in {"tab", "\\t"}:
        return "\t"
    if value is not None and (len(value) != 1 or not value.isascii() or value in '"\r\n'):
        raise click.BadParameter("Give one character, or the word tab.", ctx, param)
    return value


@dataclass(frozen=True)
class Reading:
    """How a table is to be read, as far as the options say it."""

    separator: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    date_format: tuple[str, ...] = ()
    missing: tuple[str, ...] | None = None
    """None if the option is not given; an empty list if it is given an empty text."""
    table: str | None = None
    query: str | None = None

    @property
    def notation(self) -> dict[str, Any]:
        """The options about notations that were given, as parameters of the library."""
        given = {name: getattr(self, name) for name in ("decimal", "thousands", "date_format", "missing")}
        return {
            name: value for name, value in given.items() if value is not None and (name == "missing" or value != ())
        }

    def load_beside(self, file: Path) -> Frame:
        """Read another file; the table or query meant is that of the first, and only a text file has a separator."""
        from shoal.io.files import gives_text

        own = replace(self, table=None, query=None)
        return (own if gives_text(file) else replace(own, separator=None, encoding=None)).load(file)

    def load_release(self, file: Path) -> Frame:
        """Read a released file, which has a notation of its own: that of the original is not asked for."""
        return replace(self, decimal=None, thousands=None, date_format=()).load_beside(file)

    def load(self, file: Place) -> Frame:
        """Read a table from a file, a folder, an address or a database."""
        from shoal.io.files import open_table
        from shoal.notation import make_notation

        notation = make_notation("Anonymizer", **self.notation)
        return open_table(
            file,
            separator=self.separator,
            encoding=self.encoding,
            notation=notation,
            table=self.table,
            query=self.query,
        )


def mark_callback(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Read a mark in numbers: one character, or a word for it."""
    words = {"comma": ",", "point": ".", "dot": ".", "space": " ", "apostrophe": "'", "none": ""}
    mark = words.get(value, value) if value is not None else None
    known = (".", ",") if param.name == "decimal" else (".", ",", " ", "'", "")
    if mark is not None and mark not in known:
        raise click.BadParameter(
            f"Give {'comma or point' if param.name == 'decimal' else 'comma, point, space, apostrophe or none'}.",
            ctx,
            param,
        )
    return mark


_INPUT_OPTIONS = (
    click.option(
        "--table",
        metavar="NAME",
        help="Table of a database, such as [bold]people[/bold] or [bold]schema.people[/bold], or name of a sheet in a workbook.",
        panel=INPUT,
    ),
    click.option(
        "--query",
        metavar="SQL",
        help="Query that returns the rows, instead of a table of the database. It may only read.",
        panel=INPUT,
    ),
    click.option(
        "--separator",
        metavar="CHARACTER",
        callback=separator_callback,
        help="Character between the fields of a text file, or 'tab'. Detected unless given.",
        panel=INPUT,
    ),
    click.option(
        "--encoding",
        metavar="NAME",
        help="Encoding of a text file, such as cp1252. Detected unless given.",
        panel=INPUT,
    ),
    click.option(
        "--decimal",
        metavar="MARK",
        callback=mark_callback,
        help="Decimal mark of numbers in text: [bold]comma[/bold] or [bold]point[/bold]. Detected unless given.",
        panel=INPUT,
    ),
    click.option(
        "--thousands",
        metavar="MARK",
        callback=mark_callback,
        help="Mark between thousands: [bold]comma[/bold], [bold]point[/bold], [bold]space[/bold], [bold]apostrophe[/bold] or [bold]none[/bold]. Detected unless given.",
        panel=INPUT,
    ),
    click.option(
        "--date-format",
        multiple=True,
        metavar="FORMAT",
        help="Form in which dates are written, such as [bold]%d.%m.%Y[/bold]. May be repeated; each column uses the first form that fits. Detected unless given.",
        panel=INPUT,
    ),
    click.option(
        "--missing",
        multiple=True,
        metavar="MARKS",
        callback=marks_callback,
        help="Texts that mean a missing value, such as [bold]NA,-99[/bold]; an empty text for none. Detected in columns of numbers and dates unless given.",
        panel=INPUT,
    ),
)


def bundle(
    name: str, options: Sequence[Callable[[Any], Any]], make: Callable[[dict[str, Any]], Any]
) -> Callable[[_Command], _Command]:
    """Return a decorator that adds options; the command gets what ``make`` makes of them as one argument ``name``."""

    def add(command: _Command) -> _Command:
        names: list[str] = []

        @functools.wraps(command)
        def bundled(**given: Any) -> Any:
            return command(**{name: make({one: given.pop(one) for one in names})}, **given)

        for option in reversed(options):
            bundled = option(bundled)
            names.append(bundled.__click_params__[-1].name)  # type: ignore[attr-defined]
        return bundled  # type: ignore[return-value]

    return add


def _reading(given: dict[str, Any]) -> Reading:
    leave_pandas_out()
    return Reading(**given)


input_options = bundle("reading", _INPUT_OPTIONS, _reading)
"""Adds the options about reading a table; the command gets them as one ``reading``."""


def json_option(command: _Command) -> _Command:
    """Add ``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.", panel=OUTPUT)(command)


def _note_show_values(ctx: click.Context, param: click.Parameter, value: bool) -> None:  # noqa: ARG001
    show_values(wanted=value)


def show_values_option(command: _Command) -> _Command:
    """Add ``--show-values`` to a command whose messages may be about cells."""
    return click.option(
        "--show-values",
        is_flag=True,
        expose_value=False,
        callback=_note_show_values,
        help="Show in an error message the cells it is about, which may be personal.",
        panel=OUTPUT,
    )(command)


def force_option(command: _Command) -> _Command:
    """Add ``--force``."""
    return click.option("--force", is_flag=True, help="Replace files that exist.", panel=OUTPUT)(command)


def path_option(
    *declarations: str, text: str, panel: str = OUTPUT, required: bool = False
) -> Callable[[_Command], _Command]:
    """Return an option that takes the path of a file."""
    kind = click.Path(path_type=Path)
    return click.option(*declarations, type=kind, metavar="FILE", help=text, panel=panel, required=required)


class Address(str):
    """An address such as ``postgresql://host/db``, which a path would take the slashes from."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return self.split("?", maxsplit=1)[0].rstrip("/").rsplit("/", 1)[-1]


Place = Path | Address


class PlaceType(click.ParamType):  # type: ignore[type-arg]
    """A path, or an address."""

    name = "place"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Place:  # noqa: ARG002
        """Return a path, or an address."""
        return Address(value) if "://" in value else Path(value)


def file_argument(command: _Command) -> _Command:
    """Add the argument FILE."""
    return click.argument("file", type=PlaceType(), metavar="FILE")(command)
