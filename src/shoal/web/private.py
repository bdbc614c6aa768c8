"""A folder for rows that nobody else may read, gone when the server ends; the next start removes what a crash left."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from shoal.errors import FileError
from shoal.io.workroom import Workroom


@contextlib.contextmanager
def private_folder(base: Path | None = None) -> Iterator[Path]:
    """Yield a fresh folder that only this user may enter (0700), and remove it in the end."""
    room = Workroom(_home(base or Path(tempfile.gettempdir())))
    try:
        yield room.path
    finally:
        room.close()


def private_file(path: Path) -> Path:
    """Make an empty file that only this user may read and write (0600), to be filled."""
    path.unlink(missing_ok=True)
    path.touch(mode=0o600, exist_ok=False)
    return path


def _home(base: Path) -> Path:
    """Return this user's folder for all servers; one that others could have prepared is refused."""
    owner = getattr(os, "getuid", lambda: 0)()
    home = base / f"shoal-{owner}"
    home.mkdir(mode=0o700, exist_ok=True)
    found = home.lstat()
    foreign = os.name == "posix" and (found.st_uid != owner or stat.S_IMODE(found.st_mode) & 0o077)
    if foreign or not stat.S_ISDIR(found.st_mode):
        raise FileError(
            "The folder for confidential rows belongs to somebody else or is open to others.",
            hint="set TMPDIR to a folder of your own.",
        )
    return home
