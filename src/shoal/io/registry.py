"""All sources of tables, and which one a name stands for.

Third parties add theirs with an entry point in the group ``shoal.sources``::

    [project.entry-points."shoal.sources"]
    stata = "my_package:StataSource"
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path

from shoal.errors import FileError
from shoal.extensions import imported, warn_of
from shoal.io.location import Location
from shoal.io.source import Source

_OWN = (
    "shoal.io.delimited:Delimited",
    "shoal.io.parquet:Parquet",
    "shoal.io.arrow_ipc:ArrowIpc",
    "shoal.io.excel:Excel",
    "shoal.io.spss_stata_sas:Statistics",
    "shoal.io.delta:Delta",
    "shoal.io.databases:PostgreSQL",
    "shoal.io.databases:SQLite",
    "shoal.io.databases:DuckDB",
    "shoal.io.databases:OtherDatabase",
)
"""One line a source; the first that knows a name takes it."""


@cache
def sources() -> tuple[Source, ...]:
    """Return all sources: those of third parties first, so that they may replace one."""
    foreign = []
    for point in entry_points(group="shoal.sources"):
        kind = imported(point.module, point.attr)
        if kind is None:
            warn_of(point.name, point.value)
        else:
            foreign.append(kind)
    own = [getattr(import_module(module), name) for module, _, name in (place.partition(":") for place in _OWN)]
    return tuple(kind() for kind in (*foreign, *own))


def find_source(location: Location) -> Source:
    """Return the source that an address or the ending of a file's name stands for."""
    if location.scheme:
        for source in sources():
            if location.scheme.partition("+")[0] in source.schemes:
                return source
    elif os.path.isdir(location.path):  # noqa: PTH112  (Path.is_dir raises for a name too long)
        return _folder_source(location.path)
    return file_source(location.name)


def file_source(name: str) -> Source:
    """Return the source that the ending of a file's name stands for."""
    endings = {ending: source for source in reversed(sources()) for ending in source.endings}
    for ending in sorted(endings, key=len, reverse=True):
        if name.lower().endswith(ending):
            return endings[ending]
    raise FileError(f"The file {name!r} has no known ending.", hint=f"use one of {', '.join(sorted(endings))}.")


def _folder_source(folder: Path) -> Source:
    """Return what a folder holds: a Delta table, or files of one format, also in folders of their own."""
    if (folder / "_delta_log").is_dir():
        return file_source("table.delta")
    inside = sorted(path.name for path in folder.rglob("*") if path.is_file() and path.name[0] not in "._")
    endings = {_first_known(name) for name in inside}
    if len(endings) == 1 and endings <= {ending for source in sources() for ending in source.folder_endings}:
        return file_source(inside[0])
    raise FileError(
        f"{folder.name!r} is a folder without Parquet, Arrow or CSV files, or with others next to them.",
        hint="name a file, or a folder in which all files end in .parquet or in .csv.",
    )


def _first_known(name: str) -> str:
    """Return the ending of a file's name; one that says how it is packed does not count."""
    return Path(name.lower().removesuffix(".gz").removesuffix(".zst").removesuffix(".zip")).suffix
