"""Files of SPSS, Stata and SAS, with value labels and codes for missing values kept in and out."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import DataError
from shoal.frames import Frame, require
from shoal.io.location import Location
from shoal.io.source import BATCH_ROWS, ReadOptions, Source, decoded
from shoal.notation import ValueLabels

_READERS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
_WRITERS = {".sav": "write_sav", ".zsav": "write_sav", ".dta": "write_dta", ".xpt": "write_xport"}
_KNOWS_USER_MISSING = frozenset({".sav", ".zsav", ".dta", ".sas7bdat"})


class Statistics(Source):
    """A file of SPSS, Stata or SAS."""

    name = "statistics file"
    endings: ClassVar[tuple[str, ...]] = tuple(_READERS)

    def read(self, location: Location, options: ReadOptions) -> Frame:  # noqa: ARG002  (the file says it all)
        """Return the whole table; labels and codes for missing values travel beside it."""
        with _local(location) as path:
            values, meta = _call(location.name, _READERS, path, **_options(path))
        return _frame(values, meta)

    def batches(self, location: Location, options: ReadOptions) -> pa.RecordBatchReader:
        """Return the table in batches of rows."""
        if not location.is_local:
            return super().batches(location, options)
        path, start = location.path, 0
        first, meta = _call(location.name, _READERS, path, row_limit=BATCH_ROWS, **_options(path))
        schema = _frame(first, meta).table.schema

        def parts() -> Iterator[pa.RecordBatch]:
            nonlocal start
            while True:
                found, more = _call(
                    location.name, _READERS, path, row_limit=BATCH_ROWS, row_offset=start, **_options(path)
                )
                table = _frame(found, more, whole=False).table
                if not table.num_rows:
                    return
                start += table.num_rows
                yield from table.cast(schema).to_batches()

        return pa.RecordBatchReader.from_batches(schema, parts())

    def write(self, table: pa.Table, path: Path, like: Frame | None = None) -> None:
        """Write a table; columns that stayed as they were keep their labels and codes for missing values."""
        require("pandas", "stats", "Writing a statistics file")
        suffix = _suffix(path)
        if suffix not in _WRITERS:
            raise DataError(f"Files that end in {suffix} can be read but not written.", hint="write .sav or .dta.")
        kept = _kept_labels(table, like)
        options: dict[str, Any] = {"column_labels": {name: one.title for name, one in kept.items() if one.title}}
        if suffix != ".xpt":
            options["variable_value_labels"] = {name: dict(one.labels) for name, one in kept.items() if one.labels}
        if suffix in {".sav", ".zsav"}:
            options["missing_ranges"] = {
                name: [{"lo": low, "hi": high} for low, high in one.missing]
                for name, one in kept.items()
                if one.missing
            }
            options["row_compress"] = suffix == ".sav"
        frame = decoded(table).to_pandas(date_as_object=True)
        _call(path.name, _WRITERS, path, frame=frame, **{name: value for name, value in options.items() if value})


def _suffix(path: Path) -> str:
    return path.suffix.lower()


def _options(path: Path) -> dict[str, Any]:
    return {"output_format": "dict"} | ({"user_missing": True} if _suffix(path) in _KNOWS_USER_MISSING else {})


def _call(name: str, functions: dict[str, str], path: Path, frame: Any = None, **options: Any) -> Any:
    """Call a function of pyreadstat; what it says may hold values, so only the kind of fault is told."""
    pyreadstat = require("pyreadstat", "stats", "A file of SPSS, Stata or SAS")
    function = getattr(pyreadstat, functions[_suffix(path)])
    arguments = [str(path)] if frame is None else [frame, str(path)]
    try:
        return function(*arguments, **options)
    except _faults(pyreadstat):
        what = "read" if frame is None else "written"
        hint = "it may be damaged." if frame is None else "names must be short and made of letters, digits and _."
        raise DataError(f"The file {name!r} cannot be {what} as {_suffix(path)[1:]}.", hint=hint) from None


def _faults(pyreadstat: Any) -> tuple[type[Exception], ...]:
    """Return what pyreadstat raises of its own; only one of the two has a public name before version 1.3.4."""
    parser = sys.modules[pyreadstat.ReadstatError.__module__]
    return parser.ReadstatError, parser.PyreadstatError


@contextlib.contextmanager
def _local(location: Location) -> Iterator[Path]:
    """Give a path on this machine; the library underneath reads nothing else."""
    if location.is_local:
        yield location.path
        return
    with location.open() as stream, tempfile.NamedTemporaryFile(suffix=Path(location.name).suffix) as copy:
        copy.write(stream.read())
        copy.flush()
        yield Path(copy.name)


def _frame(values: dict[str, Any], meta: Any, *, whole: bool = True) -> Frame:
    columns = {name: _column(list(values[name]), whole=whole) for name in meta.column_names}
    missing = getattr(meta, "missing_ranges", None) or {}
    titles = meta.column_names_to_labels or {}
    labels = {}
    for name in meta.column_names:
        ranges = tuple((one["lo"], one["hi"]) for one in missing.get(name, []))
        one = ValueLabels(dict(meta.variable_value_labels.get(name, {})), ranges, titles.get(name) or "")
        if one.labels or one.missing or one.title:
            labels[name] = one
    return Frame(pa.table(columns), labels=labels)


def _column(values: list[Any], *, whole: bool) -> pa.Array:
    """Return a column; numbers that are all whole are whole numbers, though the file stores only decimals."""
    try:
        array = pa.array(values, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # letters for missing values among numbers (Stata's .a to .z)
        array = pa.array([None if isinstance(value, str) else value for value in values], from_pandas=True)
    if pa.types.is_null(array.type):
        return array.cast(pa.string())
    if whole and pa.types.is_floating(array.type) and pc.all(pc.equal(array, pc.floor(array))).as_py():
        with contextlib.suppress(pa.ArrowInvalid):
            return array.cast(pa.int64())
    return array


def _kept_labels(table: pa.Table, like: Frame | None) -> dict[str, ValueLabels]:
    """Return the labels of columns whose type is still that of the original."""
    if like is None:
        return {}
    return {
        name: one
        for name, one in like.labels.items()
        if name in table.column_names and table.column(name).type == like.table.column(name).type
    }
