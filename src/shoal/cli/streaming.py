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
    from shoal.audit import Audit
    from shoal.engines.stream.order import StreamRelease

_Command = TypeVar("_Command", bound=Callable[..., Any])


def engine_options(command: _Command) -> _Command:
    """Add the options that say who does the work."""
    command = click.option(
        "--scratch",
        metavar="FOLDER",
        help="Where a streamed table, or a release on Spark, lies meanwhile, in a folder of its own that is removed at the end; by default beside the output, with Spark on this machine alone among temporary files.",
        panel=INPUT,
    )(command)
    command = click.option(
        "--master",
        metavar="ADDRESS",
        help="With --engine spark: the cluster, such as [bold]local[4][/bold], [bold]yarn[/bold], [bold]spark://host:7077[/bold] or [bold]sc://host[/bold]; by default what Spark's own settings say.",
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
        type=click.Choice(["auto", "memory", "stream", "spark"]),
        help="Where the rows are while the groups are found: in memory, on disk for tables that do not fit, or on a cluster. [bold]auto[/bold] chooses memory or disk by the size of the file.",
        panel=INPUT,
    )(command)


def is_streamed(recipe: Anonymizer, file: Place, output: Path | None, others: dict[str, Any]) -> bool:
    """Tell whether a table is streamed; refuse options that a streamed release does not know."""
    from shoal.api.streaming import check_streamable, choose_engine

    used = [name for name, value in others.items() if value]
    if recipe.engine == "stream":
        if output is None:
            raise ParameterError("A streamed release needs a file to go to. Got no --output.")
        if used:
            raise ParameterError(f"The option {used[0]} cannot be used with --engine stream.", hint="leave it out.")
        check_streamable(recipe)
        return True
    return output is not None and not used and choose_engine(recipe, file) == "stream"


def run_streamed(
    recipe: Anonymizer,
    file: Place,
    reading: Reading,
    output: Path,
    *,
    scratch: str | None,
    force: bool,
    sidecar: bool,
    report: Path | None,
) -> StreamRelease:
    """Release a table from file to file."""
    from shoal.api.streaming import stream_release
    from shoal.io.source import ReadOptions

    options = ReadOptions(
        separator=reading.separator, encoding=reading.encoding, table=reading.table, query=reading.query
    )
    return stream_release(
        recipe, file, output, scratch=scratch, force=force, sidecar=sidecar, report=report, options=options
    )


def tell_streamed(made: StreamRelease, recipe: Anonymizer, report: Path | None, *, as_json: bool) -> None:
    """Print what came out."""
    written = [made.path, *([report] if report else [])]
    details = {"fragments": made.fragments, "warnings": list(made.warnings)}
    tell_large(made.audit, made.metrics, details, recipe, [str(one) for one in written], as_json=as_json)
    note_written(*(one.name for one in written))


def tell_large(
    audit: Audit,
    metrics: dict[str, Any],
    details: dict[str, Any],
    recipe: Anonymizer,
    written: list[str],
    *,
    as_json: bool,
) -> None:
    """Print what came out of a release whose rows are not in memory."""
    suppressed = metrics["suppressed"]
    if as_json:
        print_json(
            {
                "records": audit.records,
                "withheld": suppressed,
                "groups": audit.groups,
                "k": audit.k,
                "loss": metrics["ncp"],
                **details,
                "metrics": metrics,
                "audit": audit.as_dict(),
                "recipe": recipe.recipe().model_dump(exclude_none=True),
                "written": written,
            }
        )
        return
    withheld = f", {suppressed:,} withheld" if suppressed else ""
    out().print(f"{audit.records:,} records in {audit.groups:,} groups of {audit.k:,} or more{withheld}.", style="bold")
    out().print(
        f"Information loss {metrics['ncp']:.3f} (0: nothing lost, 1: the quasi-identifiers say nothing any more)."
    )
    for one in written:
        out().print(f"Written: {one}", soft_wrap=True)
    if not written:
        out().print("Nothing was written; add -o to write the release.")
