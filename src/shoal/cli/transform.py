"""``shoal transform``: recode new records like an earlier release."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from shoal.cli.console import note_written, out
from shoal.cli.options import OUTPUT, ROLES, Place, Reading, file_argument, force_option, input_options, path_option


@click.command("transform")
@file_argument
@click.argument("mapping", type=click.Path(path_type=Path), metavar="MAPPING")
@path_option("-o", "--output", text="Write the recoded records here; the ending chooses the format.", required=True)
@path_option(
    "--with",
    "release",
    text="The earlier release. Its records then count towards k as well.",
    panel=ROLES,
)
@click.option(
    "--unseen",
    type=click.Choice(["refuse", "suppress"]),
    default="refuse",
    show_default=True,
    help="Treatment of values that are not in MAPPING: an error, or [bold]*[/bold].",
    panel=ROLES,
)
@click.option(
    "--allow-exposed",
    is_flag=True,
    help="Write the records even if some share their values with too few others. Do not publish them: people can be recognized.",
    panel=OUTPUT,
)
@input_options
@force_option
def command(
    *,
    file: Place,
    mapping: Path,
    output: Path,
    release: Path | None,
    unseen: str,
    allow_exposed: bool,
    reading: Reading,
    force: bool,
) -> None:
    """Recode new records in the way of an earlier release.

    FILE holds new records, MAPPING is a file that [bold]shoal anonymize --save-mapping[/bold] wrote. The recoded records are counted. If a record
    shares its values with fewer than k - 1 others, nothing is written.

    [dim]shoal transform february.csv mapping.toml -o february_release.csv[/dim]
    """
    from shoal.io.files import file_format
    from shoal.io.transaction import Transaction
    from shoal.results.generalization import Generalization
    from shoal.results.transform import transform_file

    inputs = [file, mapping, *([release] if release else [])]
    files = Transaction(force=force, inputs=[path for path in inputs if isinstance(path, Path)])
    files.add(output, last=True)
    file_format(output)
    earlier = reading.load_release(release) if release else None
    with files:
        few = transform_file(
            reading.load(file),
            Generalization.load(mapping),
            files.temporary(output),
            earlier=earlier,
            unseen="suppress" if unseen == "suppress" else "refuse",
            allow_exposed=allow_exposed,
        )
    note_written(output.name)
    out().print(f"Written: {output}" + (f" ({few:,} records can be recognized)" if few else ""), soft_wrap=True)
