"""Databases that somebody names on the page: a server by its address, or a file of the folder."""

from __future__ import annotations

from pathlib import Path

from shoal.errors import ParameterError
from shoal.io.databases import Database
from shoal.io.databases.address import check_address, database_path
from shoal.io.location import locate
from shoal.io.registry import find_source
from shoal.web.folder import inside


def database_tables(address: str) -> list[str]:
    """Return the tables of a database that can be opened."""
    location = locate(address)
    source = find_source(location)
    return source.tables(location) if isinstance(source, Database) else []


def database_address(folder: Path, text: str) -> str:
    """Return where a database is; a password in the address, a file outside the folder and anything else are refused."""
    location = locate(text.strip())
    source = find_source(location)
    if not isinstance(source, Database):
        raise ParameterError(
            f"This names a {source.name}, not a database.",
            hint="write postgresql://host/db, or the name of a SQLite or DuckDB file in the folder.",
        )
    check_address(location, source.password_help)
    return str(inside(folder, database_path(location))) if source.endings else location.text
