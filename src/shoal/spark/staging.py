"""Where a release lies until it is counted: a folder of its own that every executor can write, and that nobody takes for a release."""

from __future__ import annotations

import secrets
import tempfile
from pathlib import Path
from typing import Any

from pyarrow import fs

from shoal.errors import ParameterError


def staging_folder(data: Any, staging: str | None) -> str:
    """Return the address of a new folder below ``staging``; with Spark on this machine alone a private temporary one will do."""
    if staging is not None:
        return f"{staging.rstrip('/')}/shoal-{secrets.token_hex(8)}.partial"
    if not str(data.sparkSession.conf.get("spark.master", "")).startswith("local["):
        raise ParameterError(
            "The 'staging' parameter must name a folder that every executor can write. Got none.",
            hint="for example staging='hdfs:///tmp' or staging='s3://bucket/tmp'; the release lies there until it is counted.",
        )
    return tempfile.mkdtemp(prefix="shoal-", suffix=".partial")


def remove(address: str) -> None:
    """Remove a folder, if it is there."""
    system, path = _open(address)
    if system.get_file_info(path).type == fs.FileType.Directory:
        system.delete_dir(path)


def exists(address: str) -> bool:
    """Tell whether there is something at an address."""
    system, path = _open(address)
    return bool(system.get_file_info(path).type != fs.FileType.NotFound)


def move(address: str, target: str) -> None:
    """Give a folder its name."""
    system, path = _open(address)
    system.move(path, _open(target)[1])


def _open(address: str) -> tuple[Any, str]:
    if "://" not in address and not address.startswith(("file:", "hdfs:")):
        address = str(Path(address).absolute())
    system, path = fs.FileSystem.from_uri(address)
    return system, path
