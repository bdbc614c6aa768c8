"""What a release on Spark may replace: none of its own inputs, and no folder that Spark has not written."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from pyarrow import fs

from shoal.errors import FileError
from shoal.io.folder_guard import open_address


def is_folder(target: str) -> bool:
    """Return whether a target names a folder; a name without a slash is a table of Spark's catalog."""
    return "/" in target


def check_target(spark: Any, target: str, inputs: Iterable[str], *, force: bool) -> None:
    """Refuse a target that exists, unless ``force`` says otherwise, and always one from which the release is made."""
    if is_folder(target):
        check_folder(target, inputs, force=force)
    elif spark.catalog.tableExists(target):
        if not force:
            raise FileError(f"The table {target} is there already.", hint="take another name, or force=True.")
        if {*map(plain_place, spark.table(target).inputFiles())} & {*map(plain_place, inputs)}:
            raise _is_input(target)


def check_folder(target: str, inputs: Iterable[str], *, force: bool) -> None:
    """Refuse a folder that is an input or has one in it, and one that exists; ``force`` replaces what Spark has written."""
    if any(overlap(target, one) for one in inputs):
        raise _is_input(target)
    system, path = open_address(target)
    kind = system.get_file_info(path).type
    if kind == fs.FileType.NotFound:
        return
    if kind != fs.FileType.Directory:
        raise FileError(f"{target} is a file, and Spark writes folders. It is left as it is.", hint="name a folder.")
    if not force:
        raise FileError(f"{target} is there already.", hint="take another name, or force=True.")
    found = system.get_file_info(fs.FileSelector(path, recursive=True))
    if not all(_is_sparks(one.base_name) for one in found if one.type == fs.FileType.File):
        raise FileError(
            f"The folder {target} holds files that Spark did not write. It is left as it is.", hint="name a new folder."
        )


def overlap(one: str, other: str) -> bool:
    """Return whether two addresses are one place, or one of them is in the other."""
    first, second = (f"{plain_place(place)}/" for place in (one, other))
    return first.startswith(second) or second.startswith(first)


def plain_place(address: str) -> str:
    """Return an address in the one form in which two of the same place are equal."""
    if re.match(r"file:/", address):  # Spark names files of this machine so, with signs escaped
        address = unquote(re.sub(r"^file:/+", "/", address))
    if "://" not in address and not address.startswith(("hdfs:", "dbfs:")):
        return os.path.realpath(Path(address))
    return re.sub(r"^s3[an]://", "s3://", address).rstrip("/")


def _is_sparks(name: str) -> bool:
    return name.startswith(("part-", "_")) or name.endswith(".crc")


def _is_input(target: str) -> FileError:
    return FileError(
        f"The target {target} is an input of this call, or one is in the other. It is left as it is.",
        hint="write to another place.",
    )
