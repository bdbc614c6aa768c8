"""Folders that must not outlive their owner: a small process removes them when this one ends, however it ends.

The watcher waits for the end of a pipe, which the system closes even after ``kill -9``. What other processes of the owner still write
meanwhile is removed too: a folder counts as gone when it has stayed away for a while.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Self

_STAYS_AWAY = 8
"""How many looks in a row must find nothing."""
_LOOKS = 240
"""How often the watcher looks, at most: whatever writes on after that is not a part of the release that was killed."""
_BETWEEN = 0.5
_DONE = b"done"


class Watch:
    """Removes a folder when the process that made this object ends without having called ``end``."""

    def __init__(self, address: str) -> None:
        command = [sys.executable, "-m", __name__, address]
        path = os.pathsep.join(sys.path)  # also if the package is a file that Spark has sent
        self._process = subprocess.Popen(  # noqa: S603  (this module, by this Python)
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C in a terminal is for the owner
            env={**os.environ, "PYTHONPATH": path},
        )

    def end(self) -> None:
        """Let the folder be; calling it again changes nothing."""
        if self._process.stdin is not None and not self._process.stdin.closed:
            self._process.communicate(_DONE)

    def remove(self) -> None:
        """Have the folder removed as if this process had ended, and wait until nobody makes it again.

        After a fault of Spark tasks go on writing until they hear of it, some seconds at most.
        """
        if self._process.stdin is not None and not self._process.stdin.closed:
            self._process.communicate(b"")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()


def open_address(address: str) -> tuple[Any, str]:
    """Return the file system of an address, and the path in it. Addresses of Spark (``s3a://``, ``dbfs:/``) are understood too."""
    from pyarrow import fs  # noqa: PLC0415  (a watcher that is not needed loads nothing)

    for given, known in (("s3a://", "s3://"), ("s3n://", "s3://"), ("dbfs:/", "/dbfs/")):
        if address.startswith(given):
            address = known + address.removeprefix(given).lstrip("/")
    if "://" not in address and not address.startswith(("file:", "hdfs:")):
        address = str(Path(address).absolute())
    system, path = fs.FileSystem.from_uri(address)
    return system, path


def remove_folder(address: str) -> bool:
    """Remove a folder, if it is there; return whether it was."""
    from pyarrow import fs  # noqa: PLC0415

    system, path = open_address(address)
    if system.get_file_info(path).type != fs.FileType.Directory:
        return False
    system.delete_dir(path)
    return True


def remove_for_good(address: str, between: float = _BETWEEN) -> None:
    """Remove a folder until nobody makes it again."""
    away = 0
    for _ in range(_LOOKS):
        try:
            away = 0 if remove_folder(address) else away + 1
        except OSError:  # somebody is writing into it at this very moment
            away = 0
        if away == _STAYS_AWAY:
            return
        time.sleep(between)


if __name__ == "__main__":
    if sys.stdin.buffer.read() != _DONE:
        remove_for_good(sys.argv[1])
