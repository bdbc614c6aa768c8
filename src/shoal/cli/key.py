"""``shoal key``: keys for pseudonyms and for the order of rows."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from shoal.cli.console import note_written, out


@click.group("key")
def command() -> None:
    """Make keys for pseudonyms and for the order of rows.

    A key turns identifiers into tokens ([bold]shoal anonymize --pseudonymize patient_id --key key.bin[/bold]). The same key always
    gives the same token, another key another one. A person who has the key can find out who a token belongs to.

    Another use: [bold]shoal anonymize --shuffle-key key.bin[/bold] writes the rows in an order that the key decides, so that a second run writes the same file.
    """


@command.command("make")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
def make(file: Path) -> None:
    """Write a new random key to FILE, which only you may read. A key that is there is never replaced.

    [dim]shoal key make key.bin[/dim]
    """
    from shoal.treatments.pseudonyms import make_key

    make_key(file)
    note_written(file.name)
    out().print(f"Written: {file} (keep it secret, apart from all releases, and do not lose it)", soft_wrap=True)
