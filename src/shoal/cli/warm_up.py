"""``shoal warm-up``: compile the inner loops ahead of the first run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import rich_click as click

from shoal.cli.console import err, out, progress_bar
from shoal.compiling.warm_up import PART_NAMES
from shoal.methods import DEFAULT_METHOD

if TYPE_CHECKING:
    from shoal.recipe import Recipe


@click.command("warm-up")
@click.argument("part", metavar="[PART]...", nargs=-1, type=click.Choice(PART_NAMES))
def command(*, part: tuple[str, ...]) -> None:
    """Compile the inner loops ahead, once, on all cores.

    Without this the first run of each method does it. It is useful when you set up an image or a machine. A part is
    [bold]demo[/bold], an effort of the optimizer ([bold]fast[/bold], [bold]balanced[/bold], [bold]best[/bold]), another
    method by its name, [bold]narrow[/bold] (tables of one quasi-identifier), [bold]models[/bold] (beyond k, and people) or
    [bold]measures[/bold] (inspect, attack, queries, treatments). Without a name all are compiled, which takes some minutes.
    """
    compiled, found = _compile(part or PART_NAMES)
    out().print(f"{compiled} kernels compiled, {found} were there already.")


def _compile(parts: tuple[str, ...]) -> tuple[int, int]:
    from shoal.compiling.warm_up.processes import warm_up

    with progress_bar("compiling the inner loops, once", says_first=False) as progress:
        tally = warm_up(parts, progress)
    return tally.compiled, tally.found


def prepare(parts: Callable[[], Iterable[str]]) -> None:
    """Compile the kernels of a first run on all cores, if the output is a terminal and nothing is compiled yet."""
    if not err().is_terminal:
        return
    from shoal.api import compiles_first

    if compiles_first():
        known = tuple(part for part in parts() if part in PART_NAMES)
        err().print("The first run compiles shoal's inner loops for this machine. This happens once.", style="dim")
        _compile(known)


def parts_of(recipe: Recipe) -> list[str]:
    """Return which parts of shoal a job needs compiled."""
    effort = recipe.effort if isinstance(recipe.effort, str) else "balanced"
    return [effort if recipe.method == DEFAULT_METHOD else recipe.method, *(["models"] if recipe.models else [])]
