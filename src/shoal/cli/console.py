"""What the commands print: results on standard output, everything else on standard error."""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from shoal.arrays import Progress
    from shoal.errors import ShoalError

_OPTION_OF = {
    "k": "-k",
    "quasi_identifiers": "--qi",
    "identifiers": "--identifier",
    "max_suppression": "--max-suppression",
    "kinds": "--kind",
    "hierarchies": "--hierarchy",
    "weights": "--weight",
    "models": "--model",
}
_CHOICE = re.compile(
    r"""\b(?!(?:rest|distance|order|cut|merge|aggregate)=)(\w+)=(?:\{(["'])([^"']+)\2: (["'])([^"']+)\4\}|(["'])([^"']+)\6|(0\.\d+))"""
)
"""A parameter as Python writes it in a hint: ``kinds={"born": "nominal"}``, ``decimal=","`` or ``max_suppression=0.01``; not what belongs to a method or a model."""
_SWITCH = re.compile(r"\b(\w+)=True\b")
_SAY = "kinds, decimal, thousands, date_format or missing"
_PARAMETER = re.compile(r"""[Tt]he ['"](\w+)(?:\[([^]]*)\])?['"] parameter(?: of Anonymizer)?""")


class _Stage:
    """The share of the work that is done, for the sentence after an interrupt."""

    share = 0.0
    text = ""
    written: tuple[str, ...] = ()
    show_values: bool = False
    """Whether messages may show cells of the table."""
    console: Console | None = None
    """Where a bar is being drawn; a warning printed elsewhere would land in its middle."""


def out() -> Console:
    """Return the console for results; released values such as [24-30] are not markup."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False)


def err() -> Console:
    """Return the console for everything that is not a result."""
    if _Stage.console is not None:
        return _Stage.console
    from rich.console import Console

    return Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)


def tell_error(message: str, hint: str | None = None) -> None:
    """Print one sentence, and a hint."""
    _tell("Error", "bold red", message)
    if hint:
        _tell("Hint", "bold", hint)


def tell_fault(fault: ShoalError) -> None:
    """Print an error's text, and the cells it is about only if they were asked for."""
    tell_error(fault.message, fault.hint)
    if fault.values and _Stage.show_values:
        _tell("Values", "bold", ", ".join(map(repr, fault.values)))
    elif fault.values:
        _tell("Hint", "bold", "--show-values shows the values, which may be personal.")


def show_values(*, wanted: bool) -> None:
    """Let messages show cells of the table."""
    _Stage.show_values = wanted


def tell_warning(message: str) -> None:
    """Print a warning on one line."""
    _tell("Warning", "bold yellow", " ".join(message.split()))


def _tell(label: str, style: str, text: str) -> None:
    from rich.text import Text

    err().print(Text.assemble((f"{label}: ", style), in_options(text)))


def in_options(text: str) -> str:
    """Return a message of the library in the words of the command line."""
    named = text.replace(" (others='drop', 'keep')", "")
    named = _CHOICE.sub(_option_choice, _PARAMETER.sub(_option_text, named))
    named = _SWITCH.sub(lambda match: f"--{match[1].replace('_', '-')}", named)
    named = named.replace(_SAY, "--kind, --decimal, --thousands, --date-format or --missing")
    named = named.replace("use force to replace it", "add --force to replace it")
    named = named.replace("Save with spreadsheet_safe=True", "Use --spreadsheet-safe")
    return named.replace(
        "Name them as quasi_identifiers, sensitive, keep or identifiers.",
        "Name them with --qi, --sensitive, --keep or --identifier.",
    ).replace("quasi_identifiers", "--qi")


def _option_text(match: re.Match[str]) -> str:
    option = _OPTION_OF.get(match[1], f"--{match[1].replace('_', '-')}")
    return f"The option {option}" + (f" of {match[2]}" if match[2] else "")


def _option_choice(match: re.Match[str]) -> str:
    """Return a choice that is written for Python as it is written on the command line."""
    name, column, value = match[1], match[3], match[5] or match[7] or match[8]
    option = _OPTION_OF.get(name, f"--{name.replace('_', '-')}")
    return f"{option} {shlex.quote(f'{column}={value}' if column else value)}"


def print_json(content: Any) -> None:
    """Print plain values for a program to read."""
    sys.stdout.write(json.dumps(content, indent=2, ensure_ascii=False, default=str) + "\n")
    sys.stdout.flush()  # a full disk is noticed here, while files can still be taken back


def make_table(*headings: str, numbers: Sequence[str] = (), whole: Sequence[str] = ()) -> Table:
    """Return an empty table; ``numbers`` are set to the right, ``whole`` columns never wrap."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in headings:
        table.add_column(
            heading, justify="right" if heading in numbers else "left", overflow="fold", no_wrap=heading in whole
        )
    return table


def share(part: float, whole: float) -> str:
    """Return a part as a percentage that never rounds something to nothing or nearly all to all."""
    if not whole:
        return "-"
    percent = 100 * part / whole
    if 0 < percent < 0.1:
        return "<0.1 %"
    if 99.9 < percent < 100:
        return ">99.9 %"
    return f"{percent:.0f} %" if percent == round(percent) else f"{percent:.1f} %"


def begin() -> None:
    """Forget how far an earlier command of this process was."""
    _Stage.share, _Stage.text, _Stage.written, _Stage.show_values = 0.0, "", (), False


def note_written(*names: str) -> None:
    """Remember files that are now in place."""
    _Stage.written = (*_Stage.written, *names)


def progress_so_far() -> str:
    """Return the share of the work that was done, and the files on disk."""
    done = f"while {_Stage.text} ({_Stage.share:.0%} done)" if _Stage.text else "at the start"
    kept = f"already written: {', '.join(_Stage.written)}" if _Stage.written else "nothing was written"
    return f"{done}; {kept}"


@contextlib.contextmanager
def progress_bar(title: str, *, says_first: bool = True) -> Iterator[Progress]:
    """Return a function that reports progress; a bar is drawn only if the output is a terminal.

    If nothing is compiled yet, ``says_first`` prints so, because the bar then does not move for a while.
    """
    console = err()
    if not console.is_terminal:
        yield _note_progress
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    from shoal.api import compiles_first

    if says_first and compiles_first():
        console.print("The first run compiles the inner loops; this takes up to a minute, once.", style="dim")
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(title, total=1.0)

        def report(fraction: float, text: str) -> None:
            _note_progress(fraction, text)
            bar.update(task, completed=fraction, description=text)

        _Stage.console = console
        try:
            yield report
        finally:
            _Stage.console = None


def _note_progress(fraction: float, text: str) -> None:
    _Stage.share, _Stage.text = fraction, text
