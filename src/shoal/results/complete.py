"""Plausible tables of a released file, written to another file. The reader of recipients draws them."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from shoal.errors import DataError, MissingExtraError, ParameterError
from shoal.io.files import file_format, write_table
from shoal.io.transaction import Transaction
from shoal.validation import check_int

if TYPE_CHECKING:
    import pandas as pd

NUMBER = "completion"
"""The column that says which table a row is of; it counts from 1."""


def complete_file(
    release: Path, output: Path, tables: int, *, seed: int | None, dictionary: Path | None, force: bool
) -> None:
    """Write plausible tables of a release below one another; the name of the file must say what they are."""
    check_int("shoal complete", "m", tables, least=1)
    if "plausible" not in output.name:
        raise ParameterError(
            f"A file of plausible tables must have 'plausible' in its name. Got {output.name!r}.",
            hint="such tables are not data about people, and the name says so to everybody who gets the file.",
        )
    file_format(output)
    read = [release, *([dictionary] if dictionary is not None else [])]
    files = Transaction(force=force, inputs=read)
    files.add(output, last=True)
    rows = _drawn(release, tables, seed, dictionary)
    with files:
        write_table(rows, files.temporary(output, needs=rows.nbytes))


def _drawn(release: Path, tables: int, seed: int | None, dictionary: Path | None) -> pa.Table:
    try:
        import pandas as pd  # noqa: PLC0415  (an extra)
        import scipy.optimize  # noqa: F401, PLC0415  (an extra)

        import shoal_reader  # noqa: PLC0415
    except ImportError as missing:
        package = "pandas" if missing.name == "pandas" else "scipy"
        raise MissingExtraError(package, "pandas,exact", "Completing a release") from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", shoal_reader.DictionaryWarning)
            found = shoal_reader.read(release, dictionary)
        if NUMBER in found.names:
            raise DataError(
                f"The release has a column {NUMBER!r}, which the tables need for themselves.",
                hint="rename that column.",
            )
        drawn = [table.assign(**{NUMBER: number}) for number, table in enumerate(found.complete(tables, seed), 1)]
    except shoal_reader.ReleaseError as fault:
        raise DataError(str(fault)) from None
    whole = pd.concat(drawn, ignore_index=True)
    ordered = whole[[NUMBER, *found.names]]
    return pa.Table.from_pandas(_whole_days(ordered), preserve_index=False).replace_schema_metadata(None)


def _whole_days(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose moments at midnight are dates."""
    days = [
        name
        for name in table.select_dtypes("datetime")
        if (table[name].dropna() == table[name].dropna().dt.normalize()).all()
    ]
    return table.assign(**{str(name): table[name].dt.date for name in days})
