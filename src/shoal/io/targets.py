"""What may be the target of a call: checked before any work begins."""

from __future__ import annotations

import contextlib
import os
import unicodedata
from pathlib import Path
from typing import Any

from shoal.errors import FileError
from shoal.io.databases.address import EMBEDDED, database_path
from shoal.io.location import Location
from shoal.io.workroom import PREFIX


def check_target(path: Path, *, force: bool = False, make_folder: bool = False) -> Path:
    """Return the file a target stands for, or refuse one that exists, cannot be written, or is not a file."""
    try:
        fault = _link_fault(path)
        place = path if fault else _follow(path)
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            place.lstat()  # says what the tests below keep quiet about: that no file can have this name
        fault = fault or _fault(path, place, force=force, make_folder=make_folder)
    except (OSError, ValueError, RuntimeError):  # too long, or with signs no name may have
        raise FileError(f"{path.name[:40]!r} cannot be the name of a file here.", hint="choose another.") from None
    if fault is not None:
        raise fault
    return place


def _link_fault(path: Path) -> FileError | None:
    """Return what is wrong with a link that leads nowhere or in a circle."""
    if path.is_symlink() and not os.path.exists(path):  # noqa: PTH110  (Path.exists raises for a circle before Python 3.12)
        return FileError(
            f"The target {path.name!r} is a link that leads nowhere.", hint="remove the link, or name the file."
        )
    return None


def _follow(path: Path) -> Path:
    """Return the file behind a link, so that it is replaced and not the link."""
    return path.resolve() if path.is_symlink() else path.parent.resolve() / path.name


def _fault(path: Path, place: Path, *, force: bool, make_folder: bool) -> FileError | None:
    """Return why a target cannot be written."""
    folder = place.parent.parent if make_folder and not place.parent.exists() else place.parent
    if not folder.is_dir():
        return FileError(f"The folder of the target {path.name!r} does not exist.", hint="create it first.")
    if place.is_dir():
        return FileError(f"The target {path.name!r} is a folder. Name a file.")
    if place.exists() and not place.is_file():
        return FileError(f"The target {path.name!r} is not an ordinary file.", hint="name a file.")
    if place.exists() and not force:
        return already_there(path)
    if not os.access(folder, os.W_OK):
        return FileError(f"The folder of the target {path.name!r} may not be written.", hint="choose another.")
    if place.name.startswith(PREFIX):
        return FileError(f"Names that begin with {PREFIX!r} are for shoal's temporary files.", hint="choose another.")
    return None


def already_there(path: Path) -> FileError:
    """Return the refusal of a target that exists."""
    return FileError(f"The target {path.name!r} exists and is left as it is.", hint="use force to replace it.")


def are_one_file(one: Path, other: Path) -> bool:
    """Return whether two paths are one file, here or on a system that does not distinguish capitals from small letters."""
    with contextlib.suppress(OSError, ValueError):
        if one.samefile(other):
            return True
    return _key(one) == _key(other)


def files_read(place: Any) -> list[Path]:
    """Return the file or folder of this machine that a table given as ``place`` is read from, as a list of none or one."""
    if not isinstance(place, (str, Path)):
        return []
    location = Location(str(place))
    if location.is_local:
        return [location.path]
    return [Path(database_path(location))] if location.scheme.partition("+")[0] in EMBEDDED else []


def is_read(place: Path, given: Path) -> bool:
    """Return whether a target is a file that a call reads: the one it was given, or one in the folder it was given."""
    if given.is_dir():
        return place.exists() and given.resolve() in place.resolve().parents
    return are_one_file(place, given)


def _key(path: Path) -> tuple[str, str]:
    return os.path.realpath(path.parent), unicodedata.normalize("NFC", path.name).casefold()
