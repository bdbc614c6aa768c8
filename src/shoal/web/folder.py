"""Files in the folder the page was started in; nothing outside it can be named."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from io import StringIO
from itertools import islice
from pathlib import Path

from shoal.errors import FileError, HierarchyError
from shoal.hierarchy import Hierarchy
from shoal.hierarchy.files import read_beginning
from shoal.io.databases import Database
from shoal.io.registry import sources

_MOST_LISTED = 500
_DEEPEST = 3
_BEGINNING = 1 << 13
"""Bytes of a file that show whether it may be a hierarchy."""


@dataclass(frozen=True)
class Listed:
    """A file that can be chosen."""

    name: str
    """Its path within the folder."""
    size: int


def inside(folder: Path, name: str) -> Path:
    """Return the file called ``name`` in the folder; ``..``, absolute paths and links that lead out are refused."""
    given = Path(name)
    if not name or "\0" in name or given.is_absolute() or ".." in given.parts:
        raise FileError("Only files inside the folder can be used.", hint="start shoal serve in the folder you need.")
    home = folder.resolve()
    found = (home / given).resolve()
    if not found.is_relative_to(home):
        raise FileError("This link leads out of the folder.", hint="start shoal serve in the folder you need.")
    return found


def list_tables(folder: Path) -> list[Listed]:
    """Return the tables in the folder and a little below it, in order of their names."""
    return list_files(folder, table_endings())


def list_databases(folder: Path) -> list[Listed]:
    """Return the databases that are a file in the folder or a little below it."""
    endings = {ending for source in sources() if isinstance(source, Database) for ending in source.endings}
    return list_files(folder, tuple(sorted(endings)))


def list_hierarchies(folder: Path) -> list[Listed]:
    """Return the text files in the folder that begin as a hierarchy does; a table does not, as soon as one value has two neighbours."""
    return [one for one in list_files(folder, (".csv", ".txt")) if _begins_a_hierarchy(folder / one.name)]


def _begins_a_hierarchy(path: Path) -> bool:
    try:
        text = read_beginning(path, _BEGINNING)
        if not text.strip():
            return False
        Hierarchy.from_csv(StringIO(text))
    except (OSError, UnicodeDecodeError, HierarchyError):
        return False
    return True


@cache
def table_endings() -> tuple[str, ...]:
    """Return what files of tables end in: all that can be read but databases, of which one table must be named."""
    files = (source for source in sources() if not isinstance(source, Database))
    return tuple(sorted({".txt", *(ending for source in files for ending in source.endings)}))


@cache
def release_endings() -> tuple[str, ...]:
    """Return what files of releases may end in: all that can be written but databases."""
    files = (source for source in sources() if source.is_written and not isinstance(source, Database))
    return tuple(sorted(ending for source in files for ending in source.endings))


def list_files(folder: Path, endings: tuple[str, ...]) -> list[Listed]:
    """Return the files with one of the endings in the folder and a little below it, in order of their names."""
    found = islice(_walk(folder.resolve(), folder.resolve(), endings, 1), _MOST_LISTED)
    return sorted(found, key=lambda one: (one.name.count("/"), one.name.lower()))


def _walk(home: Path, folder: Path, endings: tuple[str, ...], depth: int) -> Iterator[Listed]:
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return
    for entry in entries:
        if entry.name.startswith(".") or not entry.resolve().is_relative_to(home):
            continue
        if entry.is_dir() and not entry.is_symlink() and depth < _DEEPEST:
            yield from _walk(home, entry, endings, depth + 1)
        elif entry.is_file() and entry.name.lower().endswith(endings):
            yield Listed(entry.relative_to(home).as_posix(), entry.stat().st_size)
