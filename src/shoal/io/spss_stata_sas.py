"""Files of SPSS, Stata and SAS, with value labels and codes for missing values kept in and out."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import DataError
from shoal.frames import Frame, require
from shoal.frames.canonical import as_whole
from shoal.io.location import Location
from shoal.io.source import BATCH_ROWS, ReadOptions, Source
from shoal.io.spss_stata_sas_names import fitting_names
from shoal.io.spss_stata_sas_writer import WRITERS, explain_unwritten, writing_options, written_frame
from shoal.notation import ValueLabels
from shoal.notation.labels import LETTERS, code_of_letter

_READERS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
    ".v8xpt": "read_xport",
}
_KNOWS_USER_MISSING = frozenset({".sav", ".zsav", ".dta", ".sas7bdat"})
_KEEPS_CODES = frozenset({".sav", ".zsav", ".dta"})


class Statistics(Source):
    """A file of SPSS, Stata or SAS."""

    name = "statistics file"
    endings: ClassVar[tuple[str, ...]] = tuple(_READERS)

    def read(self, location: Location, options: ReadOptions) -> Frame:  # noqa: ARG002  (the file says it all)
        """Return the whole table; labels and codes for missing values come with it."""
        with _local(location) as path:
            values, meta = _read(location.name, path, **_options(location.name, path))
        return _frame(values, meta)

    def batches(self, location: Location, options: ReadOptions) -> pa.RecordBatchReader:
        """Return the table in batches of rows, without codes for missing values, and with labels if every code of a column has one.

        The file is read twice, because only its last row tells whether all numbers of a column are whole and all codes labelled.
        """
        if not location.is_local:
            return super().batches(location, options)
        texts, kinds = _looked_through(_frames(location))
        schema = pa.schema([(name, pa.string() if name in texts else kind) for name, kind in kinds.items()])

        def parts() -> Iterator[pa.RecordBatch]:
            for frame in _frames(location):
                columns = {name: _plain_column(frame, name, text=name in texts) for name in frame.names}
                yield from pa.table(columns).cast(schema).to_batches()

        return pa.RecordBatchReader.from_batches(schema, parts())

    def keeps_codes(self, name: str) -> bool:
        """Return whether a file of this name holds labels of codes, and says which codes stand for a missing value."""
        return _suffix(Path(name)) in _KEEPS_CODES

    def fitting_names(self, names: Sequence[str], path: Path) -> dict[str, str]:
        """Return the names that the format can hold, for those it cannot."""
        return fitting_names(names, _suffix(path))

    def write(self, table: pa.Table, path: Path, like: Frame | None = None) -> None:
        """Write a table; columns that stayed as they were keep their labels, formats and codes for missing values."""
        require("pandas", "stats", "Writing a statistics file")
        suffix = _suffix(path)
        if suffix not in WRITERS:
            raise DataError(f"Files that end in {suffix} can be read but not written.", hint="write .sav or .dta.")
        labels = {name: one for name, one in like.labels.items() if name in table.column_names} if like else {}
        pyreadstat = require("pyreadstat", "stats", "A file of SPSS, Stata or SAS")
        options = writing_options(table, labels, suffix)
        frame = written_frame(table, labels, suffix)
        try:
            getattr(pyreadstat, WRITERS[suffix])(frame, str(path), **options)
        except _faults(pyreadstat):
            raise explain_unwritten(table, path, suffix) from None


def _frames(location: Location) -> Iterator[Frame]:
    """Yield the rows of a file, some at a time, with their labels."""
    path, start = location.path, 0
    asked = _options(location.name, path)
    while True:  # ends: each round begins behind the rows of the last
        values, meta = _read(location.name, path, row_limit=BATCH_ROWS, row_offset=start, **asked)
        frame = _frame(values, meta, whole=False)
        if start and not frame.records:
            return
        yield frame
        if frame.records < BATCH_ROWS:
            return
        start += frame.records


def _looked_through(frames: Iterable[Frame]) -> tuple[set[str], dict[str, pa.DataType]]:
    """Return the columns whose codes all have labels, and the type of the values of each column."""
    labelled: dict[str, bool] = {}
    kinds: dict[str, pa.DataType] = {}
    for frame in frames:
        for name in frame.names:
            column, one = frame.table.column(name), frame.labels.get(name)
            values = column if one is None else one.without_missing(column)
            if values.null_count == len(values):
                kinds.setdefault(name, pa.null())
                continue
            kinds[name] = _joined(kinds.get(name, pa.null()), _kind_of(values))
            codes = pc.unique(values).drop_null().to_pylist() if one is not None and one.labels else None
            known = codes is not None and one is not None and all(code in one.labels for code in codes)
            labelled[name] = labelled.get(name, True) and known
    found = {name: pa.string() if pa.types.is_null(kind) else kind for name, kind in kinds.items()}
    return {name for name, known in labelled.items() if known}, found


def _kind_of(values: pa.ChunkedArray) -> pa.DataType:
    """Return the type of a column; numbers that are all whole are whole numbers."""
    if pa.types.is_floating(values.type) and pc.all(pc.equal(values, pc.floor(values))).as_py():
        return pa.int64()
    return values.type


def _joined(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    """Return the type that holds the values of both."""
    if pa.types.is_null(one) or one == other:
        return other
    return pa.float64()


def _plain_column(frame: Frame, name: str, *, text: bool) -> pa.ChunkedArray:
    """Return a column without codes for missing values, as labels if ``text``."""
    column, one = frame.table.column(name), frame.labels.get(name)
    if one is None:
        return column
    values = one.without_missing(column)
    return one.texts(values).cast(pa.string()) if text else values


def _suffix(path: Path) -> str:
    return path.suffix.lower()


def _options(name: str, path: Path) -> dict[str, Any]:
    """Return how a file is to be read; Stata can show a date in any form."""
    options: dict[str, Any] = {"output_format": "dict"}
    if _suffix(path) in _KNOWS_USER_MISSING:
        options["user_missing"] = True
    if _suffix(path) == ".dta":
        _, meta = _read(name, path, metadataonly=True)
        dates = [form for form in meta.original_variable_types.values() if form.startswith(("%td", "%d"))]
        if dates:
            options["extra_date_formats"] = dates
    return options


def _read(name: str, path: Path, **options: Any) -> Any:
    """Call a reader of pyreadstat; what it says may hold values, so only the kind of fault is reported."""
    pyreadstat = require("pyreadstat", "stats", "A file of SPSS, Stata or SAS")
    try:
        return getattr(pyreadstat, _READERS[_suffix(path)])(str(path), **options)
    except _faults(pyreadstat):
        raise DataError(
            f"The file {name!r} cannot be read as {_suffix(path)[1:]}.", hint="it may be damaged."
        ) from None


def _faults(pyreadstat: Any) -> tuple[type[Exception], ...]:
    """Return what pyreadstat raises of its own; only one of the two has a public name before version 1.3.4."""
    parser = sys.modules[pyreadstat.ReadstatError.__module__]
    return parser.ReadstatError, parser.PyreadstatError


@contextlib.contextmanager
def _local(location: Location) -> Iterator[Path]:
    """Yield a path on this machine; the library underneath reads nothing else."""
    if location.is_local:
        yield location.path
        return
    with location.open() as stream, tempfile.NamedTemporaryFile(suffix=Path(location.name).suffix) as copy:
        copy.write(stream.read())
        copy.flush()
        yield Path(copy.name)


def _frame(values: dict[str, Any], meta: Any, *, whole: bool = True) -> Frame:
    columns = {name: _column(list(values[name]), whole=whole) for name in meta.column_names}
    found = {name: _labels(name, meta, columns[name]) for name in meta.column_names}
    labels = {name: one for name, one in found.items() if one != ValueLabels()}
    numbers = frozenset(
        name
        for name, column in columns.items()
        if pa.types.is_floating(column.type) or pa.types.is_integer(column.type)
    )
    return Frame(pa.table(columns), labels=labels, types_found=numbers)


def _labels(name: str, meta: Any, column: pa.Array) -> ValueLabels:
    """Return what a file says of one column; letters of Stata are the codes they were read as."""
    numeric = not pa.types.is_string(column.type)
    missing = tuple((one["lo"], one["hi"]) for one in (getattr(meta, "missing_ranges", None) or {}).get(name, []))
    if (getattr(meta, "missing_user_values", None) or {}).get(name) and numeric:
        missing = ((code_of_letter(LETTERS[0]), code_of_letter(LETTERS[-1])),)
    labels = dict(meta.variable_value_labels.get(name, {}))
    if numeric:
        labels = {code_of_letter(code) if isinstance(code, str) else code: text for code, text in labels.items()}
    measure = (getattr(meta, "variable_measure", None) or {}).get(name, "unknown")
    found = ValueLabels(
        labels,
        missing,
        (meta.column_names_to_labels or {}).get(name) or "",
        "" if measure == "unknown" else measure,
    )
    form = (getattr(meta, "original_variable_types", None) or {}).get(name) or ""
    return found if found == ValueLabels() and _is_usual(form, column.type) else replace(found, form=form)


def _is_usual(form: str, kind: pa.DataType) -> bool:
    """Return whether a column has the format that it gets if nothing is said."""
    return pa.types.is_string(kind) or form in {"", "F8.2", "%10.0g", "%9.0g", "%12.0g", "%td", "%tc"}


def _column(values: list[Any], *, whole: bool) -> pa.Array:
    """Return a column; numbers that are all whole are whole numbers, though the file stores only decimals."""
    try:
        array = pa.array(values, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # letters for missing values among numbers or dates (Stata's .a to .z)
        array = _without_letters(values)
    if pa.types.is_null(array.type):
        return array.cast(pa.string())
    return as_whole(array) if whole else array


def _without_letters(values: list[Any]) -> pa.Array:
    """Return numbers with a code for each letter, dates without letters."""
    numbers = all(isinstance(value, (int, float, str)) or value is None for value in values)
    coded = [(code_of_letter(value) if numbers else None) if isinstance(value, str) else value for value in values]
    return pa.array([float(value) if numbers and value is not None else value for value in coded], from_pandas=True)
