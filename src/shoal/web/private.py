"""A folder for rows that nobody else may read, gone when the server ends.

Each server holds a lock on its own folder. What a crash leaves behind has no lock any more, so the next start
removes it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from shoal.errors import FileError

try:
    import fcntl
except ImportError:  # Windows: an open file cannot be removed there, which is lock enough
    fcntl = None  # type: ignore[assignment]

_LOCK = "lock"


@contextlib.contextmanager
def private_folder(base: Path | None = None) -> Iterator[Path]:
    """Give a fresh folder that only this user may enter (0700), and remove it in the end."""
    home = _home(base or Path(tempfile.gettempdir()))
    _sweep(home)
    folder = Path(tempfile.mkdtemp(prefix="serve-", dir=home))
    try:
        with private_file(folder / _LOCK).open("w") as lock:
            _hold(lock.fileno())
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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


def _hold(file: int) -> bool:
    """Lock a file; return False if another process has done so."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _sweep(home: Path) -> None:
    """Remove the folders of servers that have ended."""
    for folder in home.glob("serve-*"):
        try:
            with (folder / _LOCK).open("r") as lock:
                abandoned = _hold(lock.fileno())
        except OSError:
            abandoned = not (folder / _LOCK).exists()
        if abandoned:
            shutil.rmtree(folder, ignore_errors=True)
