"""Where ``shoal anonymize`` writes: refused before the work, not after it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from shoal.cli.options import Place
from shoal.errors import ParameterError

if TYPE_CHECKING:
    from shoal.api import Anonymizer
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
    files: Transaction,
    output: Path | None,
    report: Path | None,
    save_recipe: Path | None,
    save_mapping: Path | None = None,
    *,
    sidecar: bool,
) -> list[Path]:
    """Return the files to write; refuse them before the work, not after it."""
    from shoal.generalization import check_mapping_file
    from shoal.io.files import file_format
    from shoal.report import report_form
    from shoal.saving import sidecar_path

    if output is None and sidecar:
        raise ParameterError("The option --sidecar needs a release to stand beside. Got no --output.")
    beside = sidecar_path(output) if output and sidecar else None
    targets = [target for target in (output, beside, report, save_recipe, save_mapping) if target]
    for target in targets:
        files.add(target, last=target is output)
    if output:
        file_format(output)
    if report:
        report_form(report)
    if save_mapping:
        check_mapping_file(save_mapping)
    return targets


def check_recodes_globally(anonymizer: Anonymizer) -> None:
    """Refuse before the work to save the mapping of a release that has none, or of one that counts people."""
    method = anonymizer.method.info
    if method.family != "global":
        raise ParameterError(
            f"The option --save-mapping needs a method that recodes a value alike everywhere. Got {method.name!r}.",
            hint="the methods 'bug', 'datafly' and 'incognito' do.",
        )
    if anonymizer.person is not None:
        raise ParameterError(
            "The option --save-mapping cannot be used with --person: new records are counted, not their people.",
            hint="leave one of the two out.",
        )
