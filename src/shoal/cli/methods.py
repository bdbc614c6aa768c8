"""``shoal methods``: what there is to choose from."""

from __future__ import annotations

from dataclasses import asdict

import rich_click as click

from shoal.cli.console import make_table, out, print_json
from shoal.cli.options import json_option


@click.command("methods")
@json_option
def command(*, as_json: bool) -> None:
    """List the methods that find groups.

    Each comes with the paper it is from. Choose one with [bold]shoal anonymize --method NAME[/bold].
    """
    from shoal.methods import DEFAULT_METHOD, method_infos

    infos = method_infos()
    if as_json:
        print_json([{**asdict(info), "default": info.name == DEFAULT_METHOD} for info in infos])
        return
    table = make_table("method", "family", "time", "paper")
    for info in infos:
        mark = " (default)" if info.name == DEFAULT_METHOD else ""
        table.add_row(f"{info.name}{mark}", info.family, info.complexity, info.paper)
    out().print(table)
