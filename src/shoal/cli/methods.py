"""``shoal methods``: list the methods with their options."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import rich_click as click

from shoal.cli.console import make_table, out, print_json
from shoal.cli.options import json_option

if TYPE_CHECKING:
    from shoal.methods.base import MethodInfo

FAMILIES = {
    "global": "Global: a value is made coarser everywhere or nowhere",
    "local": "Local: each group is built record by record",
    "microaggregation": "Microaggregation: small groups, released as one typical record each",
    "multidimensional": "Multidimensional: the table is cut into boxes",
}


@click.command("methods")
@json_option
def command(*, as_json: bool) -> None:
    """List the methods that find groups.

    Each comes with the paper it is from and with its options, the default first. Choose one with [bold]shoal anonymize --method
    NAME[/bold] or [bold]NAME:option=value,option=value[/bold].
    """
    from shoal.methods import DEFAULT_METHOD, method_infos, method_options

    infos = method_infos()
    if as_json:
        listed = {
            info.name: {
                name: {"default": default, "choices": list(choices)}
                for name, (default, choices) in method_options(info.name).items()
            }
            for info in infos
        }
        print_json(
            [{**asdict(info), "default": info.name == DEFAULT_METHOD, "options": listed[info.name]} for info in infos]
        )
        return
    _show(infos, DEFAULT_METHOD)


def _show(infos: list[MethodInfo], default: str) -> None:
    from rich.text import Text

    console = out()
    for family in sorted({info.family for info in infos}):
        console.print(FAMILIES[family], style="bold")
        table = make_table("method", "paper, and time for n records with m columns")
        for info in infos:
            if info.family == family:
                name = f"{info.name} (default)" if info.name == default else info.name
                table.add_row(name, Text.assemble(info.paper, "\n", (info.complexity, "dim"), _options_line(info.name)))
        console.print(table)


def _options_line(name: str) -> str:
    """Return a method's options as they are written after its name, the default first; a new line before them."""
    from shoal.methods import method_options

    words = []
    for option, (default, choices) in method_options(name).items():
        others = [choice for choice in choices if choice != default]
        words.append(f"{option}={'|'.join(_word(value) for value in (default, *others))}")
    return f"\n{', '.join(words)}" if words else ""


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else "…" if value is None else str(value)
