"""Tables in and out of files, folders, addresses and databases, whatever their format."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from shoal.errors import DataError, FileError, ParameterError, ShoalError
from shoal.frames import Frame
from shoal.io.location import Location, locate
from shoal.io.registry import file_source, find_source
from shoal.io.source import ReadOptions, Source
from shoal.notation import Notation
from shoal.validation import check_path, refuse_pipe, shown


def file_format(path: Path) -> str:
    """Return a word for the format a file's name stands for; ``text`` for all text files."""
    source = file_source(path.name)
    return "text" if source.is_text else source.name


def open_table(
    place: str | os.PathLike[str],
    *,
    separator: str | None = None,
    encoding: str | None = None,
    notation: Notation | None = None,
    table: str | None = None,
    query: str | None = None,
) -> Frame:
    """Read the table in a file, a folder, at an address or in a database."""
    options = ReadOptions(separator, encoding, notation or Notation(), table, query)
    location, source = _find(place, options)
    with _faults_told(location):
        return replace(source.read(location, options), notation=options.notation)


def open_batches(place: str | os.PathLike[str], options: ReadOptions | None = None) -> pa.RecordBatchReader:
    """Read a table in batches of rows, so that it need not fit into memory; columns of text files are text."""
    options = options or ReadOptions()
    location, source = _find(place, options)
    with _faults_told(location):
        return source.batches(location, options)


def _find(place: str | os.PathLike[str], options: ReadOptions) -> tuple[Location, Source]:
    check_path("read_table", "path", place)
    location = locate(place)
    if not location.scheme:
        refuse_pipe(location.path)
        if not os.path.exists(location.path):  # noqa: PTH110  (Path.exists raises for a name too long)
            raise FileError(f"The file {shown(location.name)} does not exist.", hint="check the path.")
    source = find_source(location)
    if not source.takes_table and (options.table or options.query):
        raise ParameterError(
            f"Only databases and workbooks hold several tables, and {location.name!r} is a {source.name}. "
            "Got the name of a table, or a query.",
            hint="leave it out.",
        )
    if not source.is_text and (options.separator or options.encoding):
        what = "a separator" if options.separator else "an encoding"
        raise ParameterError(
            f"Only text files have {what}, and {location.name!r} is a {source.name}.", hint="leave it out."
        )
    return location, source


def gives_text(place: str | os.PathLike[str]) -> bool:
    """Return whether all columns of a source are text because it is a text file."""
    return find_source(locate(place)).is_text


def source_faults_told(place: str | os.PathLike[str]) -> AbstractContextManager[None]:
    """Return a context in which errors of reading a source become one sentence."""
    return _faults_told(locate(place))


@contextmanager
def _faults_told(location: Location) -> Iterator[None]:
    """Turn errors of reading a file into one sentence."""
    try:
        yield
    except PermissionError:
        raise FileError(f"The file {location.name!r} may not be read.", hint="check its permissions.") from None
    except UnicodeError:
        raise DataError(f"The text of {location.name!r} cannot be read.", hint="give its encoding.") from None
    except csv.Error:  # such as a cell of more than 131,072 characters
        raise DataError(
            f"The first lines of {location.name!r} cannot be read as cells.",
            hint="check what it is, or give its separator.",
        ) from None
    except (pa.ArrowException, OSError) as fault:
        if isinstance(fault, OSError) and (fault.errno is not None or isinstance(fault, ShoalError)):
            raise  # of the system, or said already; Arrow's own has no number
        ending = Path(location.name).suffix[1:] or "a folder of tables"
        raise DataError(f"{location.name!r} cannot be read as {ending}; it may be damaged.") from None


def write_table(table: pa.Table, path: Path, like: Frame | None = None) -> None:
    """Write a table in the format of the path's name; ``like`` is what it was made from, whose layout is kept."""
    source = file_source(path.name)
    try:
        source.write(table, path, like)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        raise DataError(
            f"The table holds a column that cannot be written as a {source.name}.",
            hint="write Parquet, or leave the column out.",
        ) from None
