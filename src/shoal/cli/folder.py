"""A folder of results that appears complete or not at all."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from shoal.errors import FileError
from shoal.io.workroom import Workroom


@contextlib.contextmanager
def filling(folder: Path, *, force: bool = False) -> Iterator[Path]:
    """Yield a temporary folder whose content becomes that of ``folder`` when the block ends well.

    A folder that exists and is not empty is refused without ``force``; with it, files of the same name are
    replaced and others stay.
    """
    _check_folder(folder, force=force)
    room = Workroom(folder.absolute().parent)
    made = room.path / folder.name
    try:
        made.mkdir()
        yield made
        folder.mkdir(exist_ok=True)
        for one in sorted(made.iterdir()):
            _move(one, folder / one.name)
    finally:
        room.close()


def _check_folder(folder: Path, *, force: bool) -> None:
    parent = folder.absolute().parent
    if not parent.is_dir():
        raise FileError(f"The folder above {folder.name!r} does not exist.", hint="create it first.")
    if folder.exists() and not folder.is_dir():
        raise FileError(f"The target {folder.name!r} is a file. Name a folder.")
    if folder.exists() and not force and any(folder.iterdir()):
        raise FileError(f"The folder {folder.name!r} exists and is left as it is.", hint="use force to replace it.")
    if not os.access(folder if folder.exists() else parent, os.W_OK):
        raise FileError(f"The folder {folder.name!r} may not be written.", hint="choose another folder.")


def _move(made: Path, target: Path) -> None:
    if made.is_dir() and target.is_dir():
        shutil.rmtree(target)
    made.replace(target)
