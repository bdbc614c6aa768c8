"""``shoal import``: a project of another program as a recipe."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from shoal.cli.console import note_written, out
from shoal.cli.options import OUTPUT, file_argument, force_option


@click.command("import")
@file_argument
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the recipe here. Default: the name of the project with .toml.",
    panel=OUTPUT,
)
@force_option
def command(*, file: Path, output: Path | None, force: bool) -> None:
    """Make a recipe of a project of ARX (.deid).

    The recipe gets the roles of the columns, the hierarchies, the privacy models, the suppression limit and the weights.
    What has no counterpart is listed. The project holds the original table; nothing of it is read or copied.

    [dim]shoal import project.deid -o imported.toml[/dim]
    """
    from shoal.api.arx import read_arx_project

    project = read_arx_project(file)
    target = project.anonymizer.save(output or Path(file.name).with_suffix(".toml"), force=force)
    note_written(target.name)
    console = out()
    made = project.anonymizer
    console.print(
        f"Written: {target} (k = {made.k}, {len(made.quasi_identifiers)} quasi-identifiers, {len(made.hierarchies)} hierarchies, {len(made.models)} further models)",
        soft_wrap=True,
    )
    if project.left:
        console.print("No counterpart:", style="bold")
        for sentence in project.left:
            console.print(f"  {sentence}", soft_wrap=True, markup=False)
    if project.has_data:
        console.print(
            f"{file.name} holds the original table. Protect it as you protect the table itself; nothing of it was copied.",
            soft_wrap=True,
        )
