"""Where ``shoal anonymize`` writes: refused before the work, not after it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from shoal.cli.options import Place
from shoal.errors import ParameterError

if TYPE_CHECKING:
    from shoal.io.transaction import Transaction


def check_target_table(file: Place, database: str | None, table: str | None, *, force: bool) -> str | None:
    """Return the database to write into; refuse it, or a table that is there, before the work."""
    if table is None:
        if database:
            raise ParameterError("The option --to needs the name of a table. Got no --to-table.")
        return None
    from shoal.saving import check_database

    address = database or (str(file) if not isinstance(file, Path) or database_like(file) else None)
    if address is None:
        raise ParameterError(
            "The option --to-table needs a database. Got a file.", hint="name one with --to postgresql://host/db."
        )
    check_database(address, table, force=force)
    return address


def database_like(file: Path) -> bool:
    """Tell whether a file is a database."""
    from shoal.audit.pushed import is_in_database

    return is_in_database(file)


def add_targets(
    files: Transaction, output: Path | None, report: Path | None, save_recipe: Path | None, *, sidecar: bool
) -> list[Path]:
    """Return the files to write; refuse them before the work, not after it."""
    from shoal.io.files import file_format
    from shoal.report import report_form
    from shoal.saving import sidecar_path

    if output is None and sidecar:
        raise ParameterError("The option --sidecar needs a release to stand beside. Got no --output.")
    beside = sidecar_path(output) if output and sidecar else None
    targets = [target for target in (output, beside, report, save_recipe) if target]
    for target in targets:
        files.add(target, last=target is output)
    if output:
        file_format(output)
    if report:
        report_form(report)
    return targets
