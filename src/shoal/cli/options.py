"""Options that several commands share, and how their texts are read."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import rich_click as click

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


def names_option(*declarations: str, text: str, panel: str = ROLES, **more: Any) -> Callable[[_Command], _Command]:
    """Return an option that takes column names separated by commas, and may be repeated."""
    return click.option(
        *declarations, multiple=True, metavar="COLUMNS", callback=names_callback, help=text, panel=panel, **more
    )


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


def input_options(command: _Command) -> _Command:
    """Add the options about reading a text file."""
    command = click.option(
        "--encoding",
        metavar="NAME",
        help="Encoding of a text file, such as cp1252. Detected unless given.",
        panel=INPUT,
    )(command)
    return click.option(
        "--separator",
        metavar="CHARACTER",
        callback=separator_callback,
        help="What separates the fields of a text file; 'tab' for a tab. Detected unless given.",
        panel=INPUT,
    )(command)


def json_option(command: _Command) -> _Command:
    """Add ``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON for a program to read.", panel=OUTPUT)(
        command
    )


def force_option(command: _Command) -> _Command:
    """Add ``--force``."""
    return click.option("--force", is_flag=True, help="Replace files that exist.", panel=OUTPUT)(command)


def path_option(*declarations: str, text: str, panel: str = OUTPUT) -> Callable[[_Command], _Command]:
    """Return an option that takes the path of a file."""
    return click.option(*declarations, type=click.Path(path_type=Path), metavar="FILE", help=text, panel=panel)


def file_argument(command: _Command) -> _Command:
    """Add the argument FILE."""
    return click.argument("file", type=click.Path(path_type=Path), metavar="FILE")(command)


def load(file: Path, separator: str | None, encoding: str | None) -> Frame:
    """Read a table from a file."""
    from shoal.files import read_table

    return read_table(file, separator=separator, encoding=encoding)
