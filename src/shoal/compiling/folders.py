"""The folders in which compiled kernels are kept, and the conditions under which a file in them is trusted.

A compiled kernel is machine code inside a pickle: anyone who can write the file can run code. So a folder that others may
write is refused, a file that others may write or own is not opened as one of ours, and a file whose digest does not fit
its key (damaged, cut short, renamed, made from other sources or for another numba, Python or processor) is not a kernel.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from shoal.errors import ShoalWarning

PRIVATE = 0o700
_DIGEST = hashlib.sha256().digest_size


@dataclass(frozen=True)
class Key:
    """The identity of the kernel in a file: a readable name, and everything that the machine code depends on."""

    name: str
    stamp: tuple[str, ...]

    @property
    def text(self) -> bytes:
        """Name and stamp, unambiguously."""
        return "\0".join((self.name, *self.stamp)).encode()

    @property
    def file_name(self) -> str:
        """A name that no other key has."""
        return f"{self.name}-{hashlib.sha256(self.text).hexdigest()[:24]}.kernel"


@dataclass(frozen=True)
class Store:
    """A trusted folder of compiled kernels."""

    folder: Path
    writable: bool

    def read(self, key: Key) -> bytes | None:
        """Return what was written under a key; None if nothing trustworthy is there."""
        try:
            with (self.folder / key.file_name).open("rb") as file:
                trusted = not others_may_write(os.fstat(file.fileno()))
                content = file.read() if trusted else b""
        except OSError:
            return None
        payload = content[_DIGEST:]
        if content[:_DIGEST] == _digest(key, payload):
            return payload
        self.discard(key)
        return None

    def write(self, key: Key, payload: bytes) -> None:
        """Keep a kernel; if the disk is full or the folder gone, it is compiled again next time."""
        if not self.writable:
            return
        with contextlib.suppress(OSError):
            self._write(self.folder / key.file_name, _digest(key, payload) + payload)

    def _write(self, target: Path, content: bytes) -> None:
        # written whole under another name first: another process never reads half a file
        handle, temporary = tempfile.mkstemp(dir=self.folder, prefix="tmp-")  # 0600
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            Path(temporary).replace(target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise

    def discard(self, key: Key) -> None:
        """Throw a file away that turned out to be of no use."""
        if self.writable:
            with contextlib.suppress(OSError):
                (self.folder / key.file_name).unlink()

    def holds(self, key: Key) -> bool:
        """Return whether there is a file for a key, without looking into it."""
        return (self.folder / key.file_name).is_file()


def _digest(key: Key, payload: bytes) -> bytes:
    return hashlib.sha256(key.text + b"\0\0" + payload).digest()


def others_may_write(status: os.stat_result) -> bool:
    """Return whether anyone but this user and the administrator owns or may write a file or folder.

    A group of which this user is the only member, as many systems make one for each user, is nobody else.
    """
    if not hasattr(os, "geteuid"):  # Windows: folders below the user's profile are the user's own
        return False
    if status.st_uid not in (0, os.geteuid()):
        return True
    writable = stat.S_IMODE(status.st_mode)
    return bool(writable & stat.S_IWOTH) or bool(writable & stat.S_IWGRP and not _is_own_group(status.st_gid))


@cache
def _is_own_group(number: int) -> bool:
    import grp  # noqa: PLC0415  (not on Windows)
    import pwd  # noqa: PLC0415

    try:
        user, group = pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(number)
    except KeyError:  # a container's user without a name
        return False
    return group.gr_name == user and set(group.gr_mem) <= {user}


def open_store(folder: Path) -> Store | None:
    """Open a folder for compiled kernels, made if it is missing; None if it cannot be used or trusted."""
    try:
        folder.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        if others_may_write(folder.stat()):
            warnings.warn(
                f"The folder {str(folder)!r} can be written by others, so no compiled kernel is taken from it; "
                "they are compiled again in each process. Hint: remove it, or take the right to write from others.",
                ShoalWarning,
                stacklevel=2,
            )
            return None
        return Store(folder, writable=_may_write(folder))
    except OSError:
        return None


def _may_write(folder: Path) -> bool:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def user_folders() -> Iterator[Path]:
    """Yield where this user's compiled kernels may be, best first; a folder named by the user is the only one."""
    if chosen := os.environ.get("SHOAL_CACHE_DIR"):
        yield Path(chosen)
        return
    if base := os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA"):
        yield Path(base) / "shoal"
    with contextlib.suppress(RuntimeError):  # no home folder
        yield Path.home() / ".cache" / "shoal"
