"""Tables in files: CSV (also ``.tsv``, ``.gz``) and Parquet.

A text file is read as text: what a column holds is decided afterwards, so that the zip code ``00123`` keeps its zeros.
Error texts name lines and columns, never what stands there.
"""

from __future__ import annotations

import contextlib
import csv
import errno
import gzip
import os
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as papq

from shoal.errors import DataError, FileError
from shoal.frames import Frame, check_names, to_frame

_SAMPLE = 1 << 18
_SEPARATORS = ",;\t|"
_TEXT = pa.dictionary(pa.int32(), pa.string())
_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".csv.gz": "csv",
    ".tsv.gz": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
}
_BYTE_ORDER_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


def file_format(path: Path) -> Literal["csv", "parquet"]:
    """Return the format a file's name stands for."""
    name = path.name.lower()
    for suffix in sorted(_SUFFIXES, key=len, reverse=True):
        if name.endswith(suffix):
            return _SUFFIXES[suffix]  # type: ignore[return-value]
    raise FileError(
        f"The file {path.name!r} has no known ending.",
        hint=f"use one of {', '.join(sorted(_SUFFIXES))}.",
    )


def read_table(path: str | os.PathLike[str], *, separator: str | None = None, encoding: str | None = None) -> Frame:
    """Read a CSV or Parquet file; separator and encoding of a text file are detected unless given."""
    source = Path(path)
    if not source.exists():
        raise FileError(f"The file {source.name!r} does not exist.", hint="check the path.")
    if source.is_dir():
        raise FileError(f"{source.name!r} is a folder. Name a CSV or Parquet file.")
    try:
        if file_format(source) == "parquet":
            return to_frame(papq.read_table(source))
        return _read_csv(source, separator, encoding)
    except PermissionError:
        raise FileError(f"The file {source.name!r} may not be read.", hint="check its permissions.") from None
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise DataError(f"The file {source.name!r} ends in .gz but is no whole gzip file.") from None
    except pa.ArrowInvalid:
        raise DataError(
            f"The file {source.name!r} cannot be read as {file_format(source)}; it may be damaged."
        ) from None


def _read_csv(path: Path, separator: str | None, encoding: str | None) -> Frame:
    sample = _read_sample(path)
    if not sample.strip():
        raise DataError(f"The file {path.name!r} is empty. A table needs a header line and rows.")
    encoding = encoding or detect_encoding(sample)
    text = _decode(path, sample, encoding)
    separator = separator or detect_separator(text)
    header = next(csv.reader(text.splitlines(keepends=True), delimiter=separator), [])
    names = [name.strip() for name in header]
    check_names(names)
    parse = pacsv.ParseOptions(delimiter=separator, newlines_in_values=True)
    return Frame(_parse(path, names, parse, encoding), untyped=True)


def _is_gzip(path: Path) -> bool:
    return path.name.lower().endswith(".gz")


def _open(path: Path) -> Any:
    return gzip.open(path, "rb") if _is_gzip(path) else path.open("rb")


def _read_sample(path: Path) -> bytes:
    with _open(path) as stream:
        return bytes(stream.read(_SAMPLE))


def detect_encoding(sample: bytes) -> str:
    """Guess a text file's encoding from its first bytes: byte-order mark, UTF-8, else Windows-1252."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if sample.startswith(mark):
            return encoding
    try:
        sample.decode("utf-8")
    except UnicodeDecodeError as fault:
        if fault.start < len(sample) - 4:  # not just a character cut off at the sample's end
            return "cp1252"
    return "utf-8"


def _decode(path: Path, sample: bytes, encoding: str) -> str:
    try:
        return sample.decode(encoding, errors="ignore")
    except LookupError:
        raise DataError(
            f"The encoding of {path.name!r} is unknown. Got {encoding!r}.", hint="for example utf-8, cp1252, utf-16."
        ) from None


def detect_separator(text: str) -> str:
    """Return the separator that cuts the first lines into the same, largest number of fields."""
    lines = text.splitlines(keepends=True)
    lines = lines[: min(50, max(len(lines) - 1, 1))]  # the last line of a sample may be cut off
    best, best_score = ",", (0.0, 0)
    for separator in _SEPARATORS:
        widths = [len(row) for row in csv.reader(lines, delimiter=separator) if row]
        width = widths[0] if widths else 0
        even = sum(one == width for one in widths) / max(len(widths), 1)
        score = (even if width > 1 else 0.0, width)
        if score > best_score:
            best, best_score = separator, score
    return best


def _parse(path: Path, names: list[str], parse: pacsv.ParseOptions, encoding: str) -> pa.Table:
    convert = pacsv.ConvertOptions(
        column_types=dict.fromkeys(names, _TEXT),
        strings_can_be_null=True,
        null_values=[""],
        quoted_strings_can_be_null=False,
    )
    plain = encoding.replace("-sig", "")

    def read(options: pacsv.ParseOptions, *, threads: bool) -> pa.Table:
        with _open(path) as stream:
            if encoding == "utf-8-sig":
                stream.read(3)
            reading = pacsv.ReadOptions(column_names=names, skip_rows=1, encoding=plain, use_threads=threads)
            return pacsv.read_csv(stream, read_options=reading, parse_options=options, convert_options=convert)

    try:
        return read(parse, threads=True)
    except pa.ArrowInvalid:
        raise _explain(path, names, parse, read) from None
    except UnicodeDecodeError:
        raise DataError(f"The file {path.name!r} is not written in {encoding}.", hint="give its encoding.") from None


def _explain(path: Path, names: list[str], parse: pacsv.ParseOptions, read: Any) -> DataError:
    """Read again, slowly, to name the first line that does not fit."""
    faults: list[tuple[int, int]] = []

    def note(row: Any) -> str:
        faults.append((row.number or 0, row.actual_columns))
        return "skip"

    watched = pacsv.ParseOptions(
        delimiter=parse.delimiter, newlines_in_values=parse.newlines_in_values, invalid_row_handler=note
    )
    with contextlib.suppress(pa.ArrowInvalid, UnicodeDecodeError):
        read(watched, threads=False)
    if not faults:
        return DataError(f"The file {path.name!r} cannot be read as CSV.", hint="give its separator and encoding.")
    number, width = faults[0]
    more = f", and {len(faults) - 1} more rows" if len(faults) > 1 else ""
    return DataError(
        f"Row {number} of {path.name!r} has {width} fields where the header has {len(names)}{more}.",
        hint="correct the rows, or give the separator the file uses.",
    )


def write_table(table: pa.Table, path: Path) -> None:
    """Write a table in the format of the path's name."""
    if file_format(path) == "parquet":
        papq.write_table(table, path)
        return
    options = pacsv.WriteOptions(delimiter="\t" if ".tsv" in path.name.lower() else ",")
    with gzip.open(path, "wb", compresslevel=6) if _is_gzip(path) else path.open("wb") as stream:
        pacsv.write_csv(table, stream, options)


def check_target(path: Path, *, force: bool = False) -> None:
    """Refuse a target that exists, or whose folder is missing or may not be written."""
    folder = path.parent
    if not folder.is_dir():
        raise FileError(f"The folder of the target {path.name!r} does not exist.", hint="create it first.")
    if path.is_dir():
        raise FileError(f"The target {path.name!r} is a folder. Name a file.")
    if path.exists() and not force:
        raise FileError(f"The target {path.name!r} exists and is left as it is.", hint="use force to replace it.")
    if not os.access(folder, os.W_OK):
        raise FileError(f"The folder of the target {path.name!r} may not be written.", hint="choose another folder.")


@contextlib.contextmanager
def replacing(path: Path, *, force: bool = False, needs: int = 0) -> Iterator[Path]:
    """Give a temporary file beside ``path`` that takes its place only when the block ends well.

    ``needs`` is the number of bytes that must be free. Whatever happens in between, no partial target is left.
    """
    check_target(path, force=force)
    if shutil.disk_usage(path.parent).free < needs:
        raise FileError(f"Not enough disk space for {path.name!r}.", hint="free some, or choose another folder.")
    handle, name = tempfile.mkstemp(prefix=".shoal-", suffix=path.name, dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        _publish(temporary, path, force=force)
    except OSError as fault:
        if fault.errno == errno.ENOSPC:
            raise FileError(
                f"Not enough disk space for {path.name!r}.", hint="free some, or choose another folder."
            ) from None
        raise
    finally:
        temporary.unlink(missing_ok=True)


def _publish(temporary: Path, path: Path, *, force: bool) -> None:
    """Move a finished file into place, on disk before it is seen."""
    with temporary.open("rb") as stream:
        os.fsync(stream.fileno())
    umask = os.umask(0)
    os.umask(umask)
    temporary.chmod(0o666 & ~umask)
    if not force and path.exists():
        raise FileError(f"The target {path.name!r} exists and is left as it is.", hint="use force to replace it.")
    temporary.replace(path)
