"""``shoal complete``: plausible tables inside the cells of a release."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from shoal.cli.console import note_written, out
from shoal.cli.options import ROLES, force_option, path_option


@click.command("complete")
@click.argument("release", type=click.Path(path_type=Path), metavar="RELEASE")
@path_option(
    "-o",
    "--output",
    text="Write the tables to this file, one below another. Its name must contain 'plausible'.",
    required=True,
)
@click.option("-m", "tables", type=int, default=20, show_default=True, help="Number of tables to draw.", panel=ROLES)
@click.option("--seed", type=int, help="Equal seeds give equal tables. Default: a random seed.", panel=ROLES)
@path_option("--dictionary", text="The dictionary of the release, if it is not next to it or inside it.", panel=ROLES)
@force_option
def command(
    *, release: Path, output: Path, tables: int, seed: int | None, dictionary: Path | None, force: bool
) -> None:
    """Draw plausible tables inside the cells of a release.

    RELEASE is a file that shoal released, with its dictionary if there is one. Every drawn value is inside its cell, and every member of a set occurs
    in its group. The column 'completion' holds the number of the table; analyse the tables one by one and pool the results.
    They are not data about people and do not restore the original.

    [dim]shoal complete release.csv -m 20 -o plausible.parquet[/dim]
    """
    from shoal.results.complete import complete_file

    complete_file(release, output, tables, seed=seed, dictionary=dictionary, force=force)
    note_written(output.name)
    out().print(f"Written: {output} ({tables} plausible tables; not data about people)", soft_wrap=True)
