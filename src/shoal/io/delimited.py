"""Text files with one row a line: CSV, TSV, also compressed.

A text file is read as text: what a column holds is decided afterwards, so that the zip code ``00123`` keeps its zeros.
Error texts name lines and columns, never their content.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import gzip
import io
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import pyarrow as pa
import pyarrow.csv as pacsv

from shoal.errors import DataError
from shoal.frames import Frame, Layout, check_names
from shoal.io.column_names import name_first
from shoal.io.location import Location
from shoal.io.packed import Bounded, refuse_archive_bomb
from shoal.io.source import ReadOptions, Source

_SAMPLE = 1 << 18
_SEPARATORS = ",;\t|"
_BYTE_ORDER_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_TEXT_ENDINGS = (".csv", ".tsv", ".txt")
_NO_ENCODINGS_OF_TABLES = frozenset(
    {"punycode", "idna", "undefined", "unicode_escape", "raw_unicode_escape", "unicode-escape", "raw-unicode-escape"}
)
"""What Python calls encodings: escapes and names of hosts."""
_PACKED = (".gz", ".zst", ".zip")


class Delimited(Source):
    """CSV and TSV files, plain or packed as ``.gz``, ``.zst`` or ``.zip``."""

    name = "CSV file"
    endings: ClassVar[tuple[str, ...]] = (*_TEXT_ENDINGS, *(text + pack for text in _TEXT_ENDINGS for pack in _PACKED))
    folder_endings: ClassVar[tuple[str, ...]] = (".csv", ".tsv")
    is_text = True
    in_parts = True

    def read(self, location: Location, options: ReadOptions) -> Frame:
        """Return the whole table, all of it text; the files of a folder are read one after the other."""
        parts = _parts(location, options)
        kind = pa.dictionary(pa.int32(), pa.string())
        tables = []
        for one, form in parts:
            with _packing_told(one):
                tables.append(_parse(one, form, kind))
        form = parts[0][1]
        layout = Layout(form.separator, form.encoding)
        return Frame(pa.concat_tables(tables), untyped=True, notes=form.notes, layout=layout)

    def batches(self, location: Location, options: ReadOptions) -> pa.RecordBatchReader:
        """Return the table in batches of text."""
        parts = _parts(location, options)
        schema = pa.schema([(name, pa.string()) for name in parts[0][1].names])
        return pa.RecordBatchReader.from_batches(schema, (batch for one in parts for batch in _batches(*one)))

    def write(self, table: pa.Table, path: Path, like: Frame | None = None) -> None:
        """Write a table, separated and encoded as the table it was made from."""
        layout = like.layout if like is not None else None
        separator = "\t" if ".tsv" in path.name.lower() else layout.separator if layout else ","
        options = pacsv.WriteOptions(delimiter=separator)
        encoding = layout.encoding if layout else "utf-8"
        with packing(path) as stream:
            table = without_blank_lines(table) if any(column.null_count for column in table.columns) else table
            pacsv.write_csv(table, stream if encoding == "utf-8" else _Recoded(stream, encoding), options)

    @contextlib.contextmanager
    def writer(self, path: Path, schema: pa.Schema) -> Iterator[PartWriter]:
        """Yield a writer that writes a file part by part."""
        options = pacsv.WriteOptions(delimiter="\t" if ".tsv" in path.name.lower() else ",")
        written = without_blank_lines(schema.empty_table()).schema
        with packing(path) as stream, pacsv.CSVWriter(stream, written, write_options=options) as writer:
            yield PartWriter(writer)


class PartWriter(NamedTuple):
    """Writes a file part by part."""

    writer: pacsv.CSVWriter

    def write_table(self, table: pa.Table) -> None:
        """Write the next rows."""
        self.writer.write_table(without_blank_lines(table))


def without_blank_lines(table: pa.Table) -> pa.Table:
    """Return a table of one column with empty texts for missing values: they are written as ``""``, and no reader takes the row for a blank line."""
    if table.num_columns != 1:
        return table
    return pa.table({table.column_names[0]: table.column(0).cast(pa.string()).fill_null("")})


@dataclass(frozen=True)
class _Form:
    """How a text file is laid out."""

    names: list[str]
    separator: str
    encoding: str
    notes: tuple[str, ...]

    @property
    def parsing(self) -> dict[str, Any]:
        return {"delimiter": self.separator, "newlines_in_values": True}

    def reading(self, *, threads: bool = True) -> pacsv.ReadOptions:
        plain = self.encoding.replace("-sig", "")
        return pacsv.ReadOptions(column_names=self.names, skip_rows=1, encoding=plain, use_threads=threads)

    def converting(self, kind: pa.DataType) -> pacsv.ConvertOptions:
        return pacsv.ConvertOptions(
            column_types=dict.fromkeys(self.names, kind),
            strings_can_be_null=True,
            null_values=[""],
            quoted_strings_can_be_null=False,
        )


@contextlib.contextmanager
def _open(location: Location) -> Iterator[Any]:
    """Yield the bytes of a file, unpacked."""
    name = location.name.lower()
    with location.open() as stream:
        if name.endswith(".gz"):
            with gzip.open(stream) as inside:
                yield Bounded(inside, location.name, stream.tell)
        elif name.endswith(".zst"):
            with pa.CompressedInputStream(pa.PythonFile(stream, "r"), "zstd") as inside:
                yield Bounded(inside, location.name, stream.tell)
        elif name.endswith(".zip"):
            with zipfile.ZipFile(stream) as archive, archive.open(_only_member(archive, location.name)) as inside:
                refuse_archive_bomb(location.name, archive)
                yield inside
        else:
            yield stream


def _only_member(archive: zipfile.ZipFile, name: str) -> str:
    members = [one for one in archive.namelist() if not one.endswith("/") and not one.startswith("__MACOSX")]
    if len(members) != 1:
        raise DataError(
            f"The archive {name!r} must hold exactly one file. Got {len(members)}.", hint="unpack it and name the file."
        )
    return members[0]


@contextlib.contextmanager
def _packing_told(location: Location) -> Iterator[None]:
    """Turn errors of a damaged packed file into one sentence."""
    pack = Path(location.name).suffix
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error, zipfile.BadZipFile):
        raise DataError(f"The file {location.name!r} ends in {pack} but is not a whole {pack[1:]} file.") from None
    except OSError as fault:
        if "ZSTD" in str(fault) or "zstd" in str(fault):
            raise DataError(f"The file {location.name!r} ends in .zst but is not a whole zst file.") from None
        raise


def _parts(location: Location, options: ReadOptions) -> list[tuple[Location, _Form]]:
    """Return a file, or the files of a folder in the order of their names, each with how it is laid out."""
    folder = location.is_local and location.path.is_dir()
    files = (
        sorted(path for path in location.path.rglob("*") if path.is_file() and path.name[0] not in "._")
        if folder
        else []
    )
    parts = []
    for one in [Location(str(path)) for path in files] if folder else [location]:
        with _packing_told(one):
            parts.append((one, _look(one, options)))
    for one, form in parts[1:]:
        if form.names != parts[0][1].names:
            raise DataError(
                f"The files of the folder {location.name!r} have different columns: {one.name!r} has not those of "
                f"{parts[0][0].name!r}.",
                hint="give all files the same header line.",
            )
    return parts


def _look(location: Location, options: ReadOptions) -> _Form:
    """Find out how a text file is laid out, from its first bytes."""
    with _open(location) as stream:
        sample = bytes(stream.read(_SAMPLE))
    if not sample.strip():
        raise DataError(f"The file {location.name!r} is empty. A table needs a header line and rows.")
    encoding = options.encoding or detect_encoding(sample)
    text = _decode(location.name, sample, encoding)
    if "\0" in text:  # a picture or a workbook under another name, or two bytes a sign without their mark
        raise DataError(
            f"The file {location.name!r} is not text in {encoding}.",
            hint="check what it is, or give its encoding, such as utf-16.",
        )
    separator = options.separator or detect_separator(text)
    rows = csv.reader(text.splitlines(keepends=True), delimiter=separator)
    header, first = next(rows, []), next(rows, [])
    if not header:
        raise DataError(f"The first line of {location.name!r} is blank. A table begins with a header line.")
    names, notes = name_first([name.strip() for name in header], len(first))
    check_names(names)
    return _Form(names, separator, encoding, notes)


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


def _decode(name: str, sample: bytes, encoding: str) -> str:
    unknown = DataError(
        f"The encoding of {name!r} is unknown. Got {encoding!r}.", hint="for example utf-8, cp1252, utf-16."
    )
    try:
        named = codecs.lookup(encoding).name
        text = sample.decode(encoding, errors="ignore")
    except (LookupError, ValueError):  # an unknown name, or an encoding of Python that is not for text
        raise unknown from None
    if named in _NO_ENCODINGS_OF_TABLES:
        raise unknown
    return text


def detect_separator(text: str) -> str:
    """Return the separator that cuts the first lines into the same, largest number of fields."""
    lines = text.splitlines(keepends=True)
    lines = lines[: min(50, max(len(lines) - 1, 1))]  # the last line of a sample may be cut off
    best, best_score = ",", (0.0, 0)
    for separator in _SEPARATORS:
        widths = [len(row) for row in csv.reader(lines, delimiter=separator) if row]
        width = widths[0] if widths else 0
        even = sum(one in {width, width + 1} for one in widths) / max(len(widths), 1)
        score = (even if width > 1 else 0.0, width)
        if score > best_score:
            best, best_score = separator, score
    return best


def _parse(location: Location, form: _Form, kind: pa.DataType) -> pa.Table:
    try:
        with _at_start(location, form) as stream:
            return pacsv.read_csv(stream, form.reading(), pacsv.ParseOptions(**form.parsing), form.converting(kind))
    except pa.ArrowInvalid:
        raise _explain(location, form) from None
    except UnicodeDecodeError:
        raise _not_written_in(location, form) from None


def _batches(location: Location, form: _Form) -> Iterator[pa.RecordBatch]:
    try:
        with _packing_told(location), _at_start(location, form) as stream:
            yield from pacsv.open_csv(
                stream, form.reading(), pacsv.ParseOptions(**form.parsing), form.converting(pa.string())
            )
    except pa.ArrowInvalid:
        raise _explain(location, form) from None
    except UnicodeDecodeError:
        raise _not_written_in(location, form) from None


def _not_written_in(location: Location, form: _Form) -> DataError:
    return DataError(f"The file {location.name!r} is not written in {form.encoding}.", hint="give its encoding.")


@contextlib.contextmanager
def _at_start(location: Location, form: _Form) -> Iterator[Any]:
    """Yield the bytes of a file behind its byte-order mark."""
    with _open(location) as stream:
        if form.encoding == "utf-8-sig":
            stream.read(3)
        yield stream


def _explain(location: Location, form: _Form) -> DataError:
    """Read again, slowly, to name the first line that does not fit."""
    faults: list[tuple[int, int]] = []

    def note(row: Any) -> str:
        faults.append((row.number or 0, row.actual_columns))
        return "skip"

    watched = pacsv.ParseOptions(**form.parsing, invalid_row_handler=note)
    with contextlib.suppress(pa.ArrowInvalid, UnicodeDecodeError), _at_start(location, form) as stream:
        pacsv.read_csv(stream, form.reading(threads=False), watched, form.converting(pa.string()))
    if not faults:
        return DataError(f"The file {location.name!r} cannot be read as CSV.", hint="give its separator and encoding.")
    number, width = faults[0]
    more = f", and {len(faults) - 1} more rows" if len(faults) > 1 else ""
    return DataError(
        f"Row {number} of {location.name!r} has {width} fields, but the header has {len(form.names)}{more}.",
        hint="correct the rows, or give the separator the file uses.",
    )


@contextlib.contextmanager
def packing(path: Path) -> Iterator[Any]:
    """Yield a stream of bytes that is packed as the file's name says."""
    name = path.name.lower()
    with contextlib.ExitStack() as stack:
        if name.endswith(".gz"):
            plain = stack.enter_context(path.open("wb"))  # the head of the file names neither a file nor the time
            yield stack.enter_context(gzip.GzipFile("", "wb", 6, plain, mtime=0))
        elif name.endswith(".zst"):
            yield stack.enter_context(pa.CompressedOutputStream(str(path), "zstd"))
        elif name.endswith(".zip"):
            archive = stack.enter_context(zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED))
            member = zipfile.ZipInfo(_member_name(path))  # dated 1980, not now
            member.compress_type = zipfile.ZIP_DEFLATED
            yield stack.enter_context(archive.open(member, "w", force_zip64=True))
        else:
            yield stack.enter_context(path.open("wb"))


def _member_name(path: Path) -> str:
    """Return the name inside an archive; a temporary name outside is not used."""
    return "release" + next(ending for ending in _TEXT_ENDINGS if path.name.lower().endswith(ending + ".zip"))


class _Recoded(io.RawIOBase):
    """Takes UTF-8 and passes it on in another encoding."""

    def __init__(self, stream: Any, encoding: str) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._encoder = codecs.getincrementalencoder(encoding)("strict")

    def writable(self) -> bool:
        """Return that bytes can be written."""
        return True

    def write(self, data: Any) -> int:
        """Write bytes of UTF-8."""
        self._stream.write(self._encoder.encode(self._decoder.decode(bytes(data))))
        return len(data)
