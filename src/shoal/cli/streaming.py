"""``shoal anonymize --engine stream``: tables larger than memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import rich_click as click

from shoal.cli.console import note_written, out, print_json
from shoal.cli.options import INPUT, Place, Reading
from shoal.errors import ParameterError

if TYPE_CHECKING:
    from shoal.api import Anonymizer
    from shoal.engines.stream.order import StreamRelease

_Command = TypeVar("_Command", bound=Callable[..., Any])


def engine_options(command: _Command) -> _Command:
    """Add the options that say who does the work."""
    command = click.option(
        "--scratch",
        type=click.Path(path_type=Path, file_okay=False),
        metavar="FOLDER",
        help="Where a streamed table lies meanwhile, in a private folder that is removed at the end; by default beside the output.",
        panel=INPUT,
    )(command)
    command = click.option(
        "--memory",
        metavar="SIZE",
        help="What a streamed release should stay within, such as 4GB; by default half of what is free.",
        panel=INPUT,
    )(command)
    return click.option(
        "--engine",
        type=click.Choice(["auto", "memory", "stream"]),
        default="auto",
        help="Where the rows are while the groups are found: in memory, or on disk for tables that do not fit. [bold]auto[/bold] chooses by the size of the file.",
        panel=INPUT,
    )(command)


def is_streamed(engine: str, recipe: Anonymizer, file: Place, output: Path | None, others: dict[str, Any]) -> bool:
    """Tell whether a table is streamed; refuse options that a streamed release does not know."""
    from shoal.api.streaming import check_streamable, is_too_large

    used = [name for name, value in others.items() if value]
    if engine == "stream":
        if output is None:
            raise ParameterError("A streamed release needs a file to go to. Got no --output.")
        if used:
            raise ParameterError(f"The option {used[0]} cannot be used with --engine stream.", hint="leave it out.")
        check_streamable(recipe)
        return True
    if engine == "memory" or output is None or used or not is_too_large(file):
        return False
    try:
        check_streamable(recipe)
    except ParameterError:
        return False
    return True


def run_streamed(
    recipe: Anonymizer,
    file: Place,
    reading: Reading,
    output: Path,
    *,
    memory: str | None,
    scratch: Path | None,
    force: bool,
) -> StreamRelease:
    """Release a table from file to file."""
    from shoal.api.streaming import stream_release
    from shoal.io.source import ReadOptions

    options = ReadOptions(
        separator=reading.separator, encoding=reading.encoding, table=reading.table, query=reading.query
    )
    return stream_release(recipe, file, output, memory=memory, scratch=scratch, force=force, options=options)


def tell_streamed(made: StreamRelease, recipe: Anonymizer, *, as_json: bool) -> None:
    """Print what came out."""
    if as_json:
        print_json(
            {
                "records": made.records - made.suppressed,
                "withheld": made.suppressed,
                "groups": made.audit.groups,
                "k": made.audit.k,
                "loss": made.metrics["ncp"],
                "fragments": made.fragments,
                "metrics": made.metrics,
                "audit": made.audit.as_dict(),
                "recipe": recipe.recipe().model_dump(exclude_none=True),
                "written": [str(made.path)],
            }
        )
        return
    withheld = f", {made.suppressed:,} withheld" if made.suppressed else ""
    audit = made.audit
    out().print(f"{audit.records:,} records in {audit.groups:,} groups of {audit.k:,} or more{withheld}.", style="bold")
    out().print(
        f"Information loss {made.metrics['ncp']:.3f} (0: nothing lost, 1: the quasi-identifiers say nothing any more)."
    )
    out().print(f"Written: {made.path}", soft_wrap=True)
    note_written(made.path.name)
