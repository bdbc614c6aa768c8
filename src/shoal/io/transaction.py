"""All files of one call: written under temporary names, then named together or not at all.

The release gets its name last, so that it never exists without what belongs to it; a new folder gets its name with all its files in it. Signals that can be caught wait until all files have
their names. What remains is a program killed outright (``kill -9``, loss of power) within these few renames: then the first files may be there without the release.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from shoal.errors import FileError
from shoal.io.signals import signals_deferred
from shoal.io.targets import already_there, are_one_file, check_target, is_read
from shoal.io.workroom import PREFIX, Workroom

_NO_SPACE = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}


class Transaction:
    """The files one call writes. ``add`` checks a target before any work; the block writes and names all of them.

    Parameters
    ----------
    force
        Replace targets that exist.
    inputs
        Files the call reads, and folders whose files it reads: no target may be one of them.

    Examples
    --------
    ::

        files = Transaction(force=True, inputs=[table])
        files.add(release, last=True)
        files.add(dictionary)
        with files:
            files.temporary(dictionary).write_text(told)
            write_table(rows, files.temporary(release, needs=rows.nbytes))
    """

    def __init__(self, *, force: bool = False, inputs: Iterable[str | os.PathLike[str]] = ()) -> None:
        self._force = force
        self._inputs = [Path(one) for one in inputs]
        self._places: dict[Path, Path] = {}
        """Target as it was given → the file that gets the name, links followed."""
        self._rooms: dict[Path, Workroom] = {}
        self._private: set[Path] = set()
        """Targets that only this user may read."""
        self._folders: set[Path] = set()
        """Folders that are made when the files in them are named."""
        self._last: Path | None = None
        self.named = False
        """All files have their names."""

    def add(self, target: Path, *, last: bool = False, make_folder: bool = False, private: bool = False) -> None:
        """Take a target, or refuse one that cannot be written, is an input, or is another target.

        ``last`` names this file after all others, also those added later; ``make_folder`` makes its folder with it;
        ``private`` lets nobody but this user read it (mode 0600).
        """
        place = check_target(target, force=self._force, make_folder=make_folder)
        for one in self._inputs:
            if is_read(place, one):
                raise FileError(f"The target {target.name!r} is an input of this call.", hint="write to another file.")
        for other, its_place in self._places.items():
            if are_one_file(place, its_place):
                raise FileError(
                    f"The targets {other.name!r} and {target.name!r} are one file.", hint="give each a name of its own."
                )
        if make_folder:
            self._folders.add(place.parent)
        self._places[target] = place
        self._last = target if last else self._last
        if private:
            self._private.add(target)

    def temporary(self, target: Path, needs: int = 0) -> Path:
        """Return where the content of a target is written; ``needs`` is the number of bytes that must be free."""
        place = self._places[target]
        folder = place.parent.parent if place.parent in self._folders else place.parent
        if shutil.disk_usage(folder).free < needs:
            raise _no_space(target)
        if folder not in self._rooms:
            self._rooms[folder] = Workroom(folder)
        room = self._rooms[folder].path
        if place.parent in self._folders:
            room = room / place.parent.name
            room.mkdir(exist_ok=True)
        return room / place.name

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, _: TracebackType | None) -> None:
        try:
            if fault is None:
                self._name_all()
        except OSError as late:
            self._explain(late)
            raise
        finally:
            for room in self._rooms.values():
                room.close()
            self._rooms.clear()
        self._explain(fault)

    def _explain(self, fault: BaseException | None) -> None:
        if isinstance(fault, OSError) and fault.errno in _NO_SPACE:
            raise _no_space(next(reversed(self._places))) from None

    def _name_all(self) -> None:
        """Bring all files to the disk, then give them their names; if one cannot have it, none gets one."""
        order = sorted(self._places, key=lambda target: target == self._last)  # stable: the others stay in order
        pairs = [(self.temporary(target), self._places[target]) for target in order]
        for target, (temporary, _) in zip(order, pairs, strict=True):
            if target in self._private:
                temporary.chmod(0o600)
            _to_disk(temporary)
        moves = self._moves(pairs)
        undo: list[Callable[[], Any]] = []
        with signals_deferred():
            try:
                for temporary, place in moves:
                    undo.append(_give_name(temporary, place, force=self._force))
            except BaseException:
                for step in reversed(undo):
                    step()
                raise
            self.named = True
        for folder in {place.parent for _, place in (*pairs, *moves)}:
            _folder_to_disk(folder)

    def _moves(self, pairs: list[tuple[Path, Path]]) -> list[tuple[Path, Path]]:
        """Return what is moved where: files, and instead of all files of a new folder the folder itself, in one step."""
        new = {folder for folder in self._folders if not folder.exists()}
        moves = [
            (temporary.parent, place.parent) if place.parent in new else (temporary, place)
            for temporary, place in pairs
        ]
        return list(dict.fromkeys(moves))


@contextlib.contextmanager
def replacing(path: Path, *, force: bool = False, needs: int = 0, private: bool = False) -> Iterator[Path]:
    """Yield a temporary file that takes the place of ``path`` only when the block ends well.

    ``needs`` is the number of bytes that must be free; ``private`` lets nobody but this user read the file. Whatever
    happens in between, no partial target is left.
    """
    with Transaction(force=force) as files:
        files.add(path, private=private)
        yield files.temporary(path, needs)


def _no_space(path: Path) -> FileError:
    return FileError(f"Not enough disk space for {path.name!r}.", hint="free some, or choose another folder.")


# --- how a file gets its name ------------------------------------------------------------------------------------


def _to_disk(path: Path) -> None:
    """Wait until a file's content is on the disk; Windows wants it open for writing."""
    with path.open("r+b") as stream:
        os.fsync(stream.fileno())


def _folder_to_disk(folder: Path) -> None:
    """Wait until a folder's names are on the disk, if the system can do that."""
    with contextlib.suppress(OSError, AttributeError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _give_name(temporary: Path, place: Path, *, force: bool) -> Callable[[], Any]:
    """Move a finished file to its place, and return how to undo it."""
    if temporary.is_dir():
        return _give_folder_name(temporary, place)
    if force and place.exists():
        old = temporary.with_name(f"{PREFIX}{secrets.token_hex(8)}")
        _keep(place, old)
        temporary.replace(place)
        return lambda: old.replace(place)
    _give_new_name(temporary, place)
    return lambda: place.unlink(missing_ok=True)


def _give_folder_name(temporary: Path, place: Path) -> Callable[[], Any]:
    """Move a folder with its finished files to a name that must be free."""
    if place.exists():
        raise already_there(place)
    temporary.rename(place)
    return lambda: place.rename(temporary)


def _keep(place: Path, old: Path) -> None:
    """Give a file that is about to be replaced a second name."""
    try:
        os.link(place, old)
    except OSError:  # a file system without links
        shutil.copy2(place, old)


def _give_new_name(temporary: Path, place: Path) -> None:
    """Move a file to a name that must be free; a link is the one step that never replaces a file."""
    try:
        os.link(temporary, place)
    except FileExistsError:
        raise already_there(place) from None
    except OSError:  # a file system without links
        if place.exists():
            raise already_there(place) from None
        temporary.replace(place)
