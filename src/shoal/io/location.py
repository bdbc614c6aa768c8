"""Where a table is: a path of this machine, or an address that the user names."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from shoal.errors import FileError
from shoal.frames import require

_ADDRESS = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]+)://")
_STORES = frozenset({"s3", "gs", "gcs", "abfs", "abfss", "hdfs", "file"})
"""Schemes that Arrow opens by itself."""


@dataclass(frozen=True)
class Location:
    """A path or an address. Only an address opens the network, and only the one the user names."""

    text: str

    @property
    def scheme(self) -> str:
        """What comes before ``://``; empty for a path."""
        found = _ADDRESS.match(self.text)
        return found[1].lower() if found else ""

    @property
    def path(self) -> Path:
        """The path on this machine."""
        return Path(self.text.removeprefix("file://"))

    @property
    def is_local(self) -> bool:
        """Return whether this is a path of this machine."""
        return self.scheme in {"", "file"}

    def files(self) -> list[Path]:
        """Return the files of this machine that are meant, those of a folder in order; none for an address or a name nobody has."""
        if self.scheme or not os.path.exists(self.text):  # noqa: PTH110  (Path.exists raises for a name too long)
            return []
        return sorted(one for one in self.path.rglob("*") if one.is_file()) if self.path.is_dir() else [self.path]

    @property
    def name(self) -> str:
        """The last part, which names the file; it never holds a password or a token."""
        return self.text.split("?")[0].rstrip("/").rsplit("/", 1)[-1] if self.scheme else Path(self.text).name

    @contextlib.contextmanager
    def open(self) -> Iterator[Any]:
        """Yield a stream of bytes."""
        if self.is_local:
            with self.path.open("rb") as stream:
                yield stream
            return
        with self._faults_told(), self._open_remote() as stream:
            yield stream

    def dataset(self, form: Literal["parquet", "ipc"]) -> Any:
        """Return a file or folder as an Arrow data set; folders may be partitioned as Hive does it."""
        import pyarrow.dataset as ds  # noqa: PLC0415

        if self.is_local:
            return ds.dataset(str(self.path), format=form, partitioning="hive")
        with self._faults_told():
            filesystem, path = self._filesystem()
            return ds.dataset(path, filesystem=filesystem, format=form, partitioning="hive")

    def _open_remote(self) -> Any:
        filesystem, path = self._filesystem()
        return filesystem.open_input_file(path)

    def _filesystem(self) -> tuple[Any, str]:
        from pyarrow import fs  # noqa: PLC0415

        if self.scheme in _STORES:
            return open_store(self.text)
        core = require("fsspec.core", "remote", f"Reading from {self.scheme}://")
        try:
            store, path = core.url_to_fs(self.text)
        except ImportError:
            raise FileError(
                f"Reading from {self.scheme}:// needs a package that is not installed.",
                hint=f"install the fsspec package for {self.scheme}, or download the file first.",
            ) from None
        except ValueError:
            raise FileError(
                f"Addresses that begin with {self.scheme}:// are not known.",
                hint="name a file, or an address such as s3://, gs://, abfs://, https:// or postgresql://.",
            ) from None
        return fs.PyFileSystem(fs.FSSpecHandler(store)), str(path)

    @contextlib.contextmanager
    def _faults_told(self) -> Iterator[None]:
        """Turn what a store says into one sentence; its own words may hold an address with a token."""
        try:
            yield
        except FileNotFoundError:
            raise FileError(f"There is no {self.name!r} at this {self.scheme}:// address.", hint="check it.") from None
        except PermissionError:
            raise FileError(
                f"The {self.scheme}:// store does not let you read {self.name!r}.",
                hint="check the credentials in the environment.",
            ) from None
        except FileError:
            raise
        except OSError as fault:
            raise FileError(
                f"{self.name!r} could not be read from its {self.scheme}:// address ({type(fault).__name__}).",
                hint="check the address, the network and the credentials in the environment.",
            ) from None


def open_store(address: str) -> tuple[Any, str]:
    """Return the file system of Arrow's own behind an address, and the path in it."""
    from pyarrow import fs  # noqa: PLC0415

    filesystem, path = fs.FileSystem.from_uri(address)
    return filesystem, str(path)


def locate(place: str | os.PathLike[str]) -> Location:
    """Return the location that a user names."""
    text = os.fspath(place)
    # a Path turns the two slashes of an address into one
    return Location(re.sub(r"^([A-Za-z][A-Za-z0-9+.-]+):/(?=[^/])", r"\1://", text) if ":/" in text[2:] else text)
