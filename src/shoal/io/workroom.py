"""Temporary folders next to the files they are for, and the removal of those that a killed program left.

A workroom is in the folder its files will move to, so that giving a file its name is one step of the file
system. As long as its owner lives it holds a lock, which the system takes back when the process ends, however it
ends. A workroom without a living owner is a leftover, and the next one made in the same folder removes it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import weakref
from pathlib import Path

from shoal.io.signals import signals_deferred

PREFIX = ".shoal-"
_LOCK = ".lock"


class Workroom:
    """A temporary folder that nobody else may read, locked while this process lives."""

    def __init__(self, folder: Path) -> None:
        remove_leftovers(folder)
        with signals_deferred():  # an interrupt between the folder and its owner would leave it without one
            self.path, self._handle = _make_locked(folder)
            self._removal = weakref.finalize(self, _remove_own, self.path, self._handle, os.getpid())

    def close(self) -> None:
        """Remove the folder and everything in it, once; also done when nobody holds the workroom any more."""
        with signals_deferred():
            self._removal()


def _remove_own(path: Path, handle: int, process: int) -> None:
    """Remove the folder of this process; a copy of it that was forked has none."""
    if os.getpid() == process:
        _remove(path, handle)


def _make_locked(folder: Path) -> tuple[Path, int]:
    """Make a folder and lock it; another program may have taken it for a leftover in between, then make another."""
    while True:
        made = Path(tempfile.mkdtemp(prefix=PREFIX, dir=folder))
        with contextlib.suppress(FileNotFoundError):
            handle = os.open(made / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
            if _lock(handle) is not False and (made / _LOCK).exists():
                return made, handle
            os.close(handle)


def remove_leftovers(folder: Path) -> None:
    """Remove the workrooms in ``folder`` whose owner is gone; what cannot be removed stays."""
    with contextlib.suppress(OSError):
        for room in folder.glob(f"{PREFIX}*"):
            if room.is_dir() and not room.is_symlink():
                _remove_if_abandoned(room)


def _remove_if_abandoned(room: Path) -> None:
    with contextlib.suppress(OSError):
        try:
            handle = os.open(room / _LOCK, os.O_RDWR)
        except FileNotFoundError:
            room.rmdir()  # its owner was killed, or has not come to lock it; it then makes another
            return
        if _lock(handle):
            _remove(room, handle)
        else:
            os.close(handle)


def _remove(room: Path, handle: int) -> None:
    """Remove a folder whose lock is held by ``handle``.

    The lock goes last: when this program is killed meanwhile, the next one finds a leftover with a lock and takes up the rest.
    """
    with contextlib.suppress(OSError):
        for one in room.iterdir():
            if one.is_dir() and not one.is_symlink():
                shutil.rmtree(one, ignore_errors=True)
            elif one.name != _LOCK:
                with contextlib.suppress(OSError):
                    one.unlink()
    shutil.rmtree(room, ignore_errors=True)
    os.close(handle)
    shutil.rmtree(room, ignore_errors=True)  # Windows lets go of the lock file only now


def _lock(handle: int) -> bool | None:
    """Try to lock an open file: True if it is ours, False if it is another's, None if there are no locks."""
    try:
        import fcntl  # noqa: PLC0415  (not on Windows)
    except ImportError:
        return _lock_on_windows(handle)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a network folder without locks: leftovers cannot be recognized, so none is removed
        return None
    return True


def _lock_on_windows(handle: int) -> bool | None:
    import msvcrt  # noqa: PLC0415

    try:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    except OSError:
        return False
    return True
