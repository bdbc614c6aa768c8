"""The reference page of the command line, written from the help texts.

``python -m tests.cli.page`` writes it again; a test compares the two.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from rich.text import Text

from shoal.cli.app import COMMANDS, app

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "cli.md"
MARK = "## Commands\n"


def commands(command: click.Command = app, words: tuple[str, ...] = ("shoal",)) -> Iterator[tuple[str, click.Command]]:
    """Give every command and its words, groups before their members."""
    names = COMMANDS if command is app else getattr(command, "commands", {})
    if command is not app:
        yield " ".join(words), command
    for name in names:
        yield from commands(command.get_command(click.Context(command), name), (*words, name))


def plain(text: str | None) -> str:
    """Return a help text without markup, safe in a table."""
    return Text.from_markup(text or "").plain.replace("|", "\\|").replace("*", "\\*").strip()


OFTEN = 4
"""An option that so many commands have, in the same words, is described once."""
SHARED = "### Options of several commands"


def own_options(command: click.Command) -> list[click.Option]:
    """Return the options that the page describes."""
    return [one for one in command.params if isinstance(one, click.Option) and not one.is_eager]


def shared_rows() -> list[str]:
    """Return the rows of options that many commands have in the same words."""
    rows = [
        option_row(one, click.Context(command, info_name=words))
        for words, command in commands()
        for one in own_options(command)
    ]
    return [row for row, times in Counter(rows).items() if times >= OFTEN]


def described(words: str, command: click.Command, shared: Sequence[str]) -> str:
    """Return the section of one command."""
    context = click.Context(command, info_name=words)
    usage = f"{words} {' '.join(command.collect_usage_pieces(context))}"
    paragraphs = [" ".join(part.split()) for part in (command.help or "").split("\n\n")]
    lines = [f"### {words}", "", f"`{usage}`", ""]
    for paragraph in paragraphs:
        example = paragraph.startswith("[dim]")
        lines += (
            ["```console", f"$ {Text.from_markup(paragraph).plain}", "```", ""] if example else [plain(paragraph), ""]
        )
    rows = [option_row(one, context) for one in own_options(command)]
    own, common = [row for row in rows if row not in shared], [row.split(" |")[0][2:] for row in rows if row in shared]
    if own:
        lines += ["| option | meaning |", "|---|---|", *own, ""]
    if common:
        lines += [f"Also: {', '.join(common)} ([options of several commands](#options-of-several-commands)).", ""]
    return "\n".join(lines)


def option_row(option: click.Option, context: click.Context) -> str:
    """Return an option as a row of a table."""
    value = "" if option.is_flag else f" {option.make_metavar(context)}"
    names = ", ".join(f"`{name}{value}`" for name in sorted(option.opts, key=len))
    names = re.sub(r"\[(.*?)\]", lambda choices: choices[1].replace("|", " or "), names)  # a bar would end the cell
    default = f" Default: {option.default}." if option.show_default else ""
    return f"| {names} | {plain(option.help)}{default} |"


def page(text: str) -> str:
    """Return the page with its part about the commands written again."""
    kept = text.partition(MARK)[0]
    shared = shared_rows()
    first = [SHARED, "", "| option | meaning |", "|---|---|", *shared, "", ""]
    sections = "\n".join(described(words, command, shared) for words, command in commands()).rstrip()
    return f"{kept}{MARK}\n" + "\n".join(first) + f"{sections}\n"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
