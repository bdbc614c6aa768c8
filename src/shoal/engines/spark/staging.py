"""The folder of a release until it is counted: every executor can write it, and its name says that it is not a release."""

from __future__ import annotations

import contextlib
import secrets
import tempfile
from pathlib import Path
from typing import Any

from pyarrow import fs

from shoal.errors import FileError, ParameterError, ShoalError
from shoal.io.folder_guard import Watch, open_address, remove_folder

ENDING = ".partial"
"""How the names of folders end that are not a release yet."""

_WITHOUT_FOLDERS = {"s3", "gcs"}
_COMPLETE = "_SUCCESS"
"""The empty file that Spark writes when a folder is whole."""


class Staging:
    """The folder of one release. It goes when it is closed, or when this process ends, however it ends."""

    def __init__(self, data: Any, staging: str | None) -> None:
        self.address = _new_folder(data, staging)
        self._watch = Watch(self.address)

    def close(self) -> None:
        """Remove the folder with all that is in it."""
        remove_folder(self.address)
        self._watch.end()

    def close_after(self, fault: BaseException) -> None:
        """Remove the folder after a fault, and once more if tasks that are still running make it again."""
        _remove_after(fault, self.address, self._watch)


def _remove_after(fault: BaseException, address: str, watch: Watch) -> None:
    """Remove a folder that is not a release. An error of shoal's own comes when Spark has done its part; after any other one tasks may be running."""
    if isinstance(fault, ShoalError):
        remove_folder(address)
        watch.end()
    else:
        watch.remove()


def _new_folder(data: Any, staging: str | None) -> str:
    """Return the address of a new folder below ``staging``; with Spark on this machine alone a private temporary one will do."""
    if staging is not None:
        address = f"{staging.rstrip('/')}/shoal-{secrets.token_hex(8)}{ENDING}"
        if is_local(address):
            _make_private(Path(address))
        return address
    if not is_here(data.sparkSession):
        raise ParameterError(
            "The 'staging' parameter must name a folder that every executor can write. Got none.",
            hint="for example staging='hdfs:///tmp' or staging='s3://bucket/tmp'; the release is there until it is counted.",
        )
    return tempfile.mkdtemp(prefix="shoal-", suffix=ENDING)


def is_here(session: Any) -> bool:
    """Return whether Spark runs in this machine alone; behind a server of Spark Connect ``local`` is another one."""
    far = "connect" in type(session).__module__
    return not far and str(session.conf.get("spark.master", "")).startswith("local[")


def _make_private(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700)
    except OSError as fault:
        raise FileError(
            f"The folder {folder.name!r} cannot be made in the folder for staging: {fault.strerror}.",
            hint="name a folder that is there and can be written.",
        ) from None


def is_local(address: str) -> bool:
    """Return whether an address is a path, not a place of another file system."""
    return "://" not in address and not address.startswith(("file:", "hdfs:", "dbfs:"))


@contextlib.contextmanager
def written_beside(target: str) -> Any:
    """Yield the address of a new folder next to ``target`` that gets this name at the end; on a fault it is removed, and ``target`` is as it was."""
    written = f"{target}-{secrets.token_hex(8)}{ENDING}"
    with Watch(written) as watch:
        try:
            yield written
            _take_name(written, target)
        except BaseException as fault:
            _remove_after(fault, written, watch)
            raise


def _take_name(written: str, target: str) -> None:
    """Give a folder its name; one that had it goes last, so that there is always a whole release."""
    (system, source), (_, path) = open_address(written), open_address(target)
    if system.get_file_info(path).type == fs.FileType.NotFound:
        _move(system, source, path)
        return
    earlier = f"{path}-{secrets.token_hex(8)}{ENDING}"
    _move(system, path, earlier)
    try:
        _move(system, source, path)
    except BaseException:
        _move(system, earlier, path)
        raise
    system.delete_dir(earlier)


def _move(system: Any, source: str, path: str) -> None:
    """Move a folder. Object stores have none to rename: there its files move one by one, the mark that all are there last.

    On a fault those that were moved go back: they may be an earlier release.
    """
    if system.type_name not in _WITHOUT_FOLDERS:
        system.move(source, path)
        return
    found = system.get_file_info(fs.FileSelector(source, recursive=True))
    files = [one.path for one in found if one.type == fs.FileType.File]
    moved: list[str] = []
    try:
        for one in sorted(files, key=lambda name: (name.endswith(_COMPLETE), name)):
            system.move(one, path + one.removeprefix(source))
            moved.append(one)
    except BaseException:
        for one in moved:
            system.move(path + one.removeprefix(source), one)
        if system.get_file_info(path).type == fs.FileType.Directory:
            system.delete_dir(path)
        raise
    system.delete_dir(source)
