"""The program: its commands, and how errors, warnings and interrupts are shown."""

from __future__ import annotations

import os
import traceback
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

import rich_click as click
from click.exceptions import Exit

from shoal._version import __version__
from shoal.cli.console import begin, progress_so_far, tell_error, tell_fault, tell_warning
from shoal.errors import PrivacyError, ShoalError, ShoalWarning

DONE, FALLS_SHORT, BAD_INPUT, OWN_FAULT, INTERRUPTED = 0, 1, 2, 3, 130

COMMANDS = {
    "demo": "shoal.cli.demo",
    "inspect": "shoal.cli.inspect",
    "anonymize": "shoal.cli.anonymize",
    "audit": "shoal.cli.audit",
    "attack": "shoal.cli.attack",
    "compare": "shoal.cli.compare",
    "curve": "shoal.cli.curve",
    "verify": "shoal.cli.verify",
    "transform": "shoal.cli.transform",
    "complete": "shoal.cli.complete",
    "methods": "shoal.cli.methods",
    "hierarchy": "shoal.cli.hierarchy",
    "import": "shoal.cli.importing",
    "key": "shoal.cli.key",
    "serve": "shoal.cli.serve",
    "warm-up": "shoal.cli.warm_up",
}
"""Name → module; the command is the attribute ``command`` of the module."""


class App(click.RichGroup):
    """A group that imports a command when it is asked for and turns errors into sentences and exit codes."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of the commands, in the order a newcomer needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(COMMANDS[cmd_name]).command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; every error ends as a sentence on standard error and an exit code."""
        begin()
        with warnings.catch_warnings():
            warnings.simplefilter("always", ShoalWarning)
            warnings.showwarning = _show_warning(warnings.showwarning)
            try:
                return super().invoke(ctx)
            except (click.ClickException, Exit, click.Abort, BrokenPipeError):
                raise
            except (Exception, KeyboardInterrupt) as fault:  # noqa: BLE001  (nothing may end in a traceback)
                if os.environ.get("SHOAL_TRACEBACK"):
                    traceback.print_exception(fault)
                ctx.exit(_explain(fault))


def _show_warning(usual: Callable[..., None]) -> Callable[..., None]:
    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if issubclass(category, ShoalWarning):
            tell_warning(str(message))
        else:
            usual(message, category, *place, **more)

    return show


def _explain(fault: BaseException) -> int:
    """Print what went wrong and return the exit code."""
    if isinstance(fault, KeyboardInterrupt):
        tell_error(f"Stopped {progress_so_far()}.")
        return INTERRUPTED
    if isinstance(fault, ShoalError):
        tell_fault(fault)
        return FALLS_SHORT if isinstance(fault, PrivacyError) else BAD_INPUT
    if isinstance(fault, MemoryError):
        tell_error("There is not enough memory for this table.", "take fewer columns or rows, or a larger machine.")
        return BAD_INPUT
    if isinstance(fault, OSError):
        tell_error(
            f"The system refused: {fault.strerror or type(fault).__name__}.", "check paths, permissions and space."
        )
        return BAD_INPUT
    # the text of a foreign exception may hold a value of the table, so only its kind and place are shown
    place = traceback.extract_tb(fault.__traceback__)[-1]
    tell_error(
        f"shoal had an internal error ({type(fault).__name__} in {place.name}, line {place.lineno}).",
        "please report it; SHOAL_TRACEBACK=1 shows more, possibly with values of your table.",
    )
    return OWN_FAULT


@click.group(cls=App, context_settings={"help_option_names": ["-h", "--help"]})
@click.rich_config(click.RichHelpConfiguration(text_markup="rich", max_width=100, show_arguments=False))
@click.version_option(__version__, prog_name="shoal", message="%(prog)s %(version)s")
def app() -> None:
    """Make a table about people safe to publish.

    Each person in the release shares all values an outsider may know with at least k - 1 others.
    Start with [bold]shoal demo[/bold]; then try [bold]shoal inspect[/bold] on a table of your own.
    """
