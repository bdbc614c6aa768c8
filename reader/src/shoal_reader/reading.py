"""From a file to columns: finds the dictionary, reads cells as text, and gives everything else its type."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from shoal_reader.columns import Column, coarsened_column, is_coarsened
from shoal_reader.counts import counts_of_groups
from shoal_reader.dictionary import PARQUET_KEY, Dictionary, Field, dictionary_path, read_dictionary
from shoal_reader.errors import DictionaryWarning, ReleaseError
from shoal_reader.release import Release

DictionarySource = str | Path | Mapping[str, Any] | None


def read(
    source: str | Path | pd.DataFrame, dictionary: DictionarySource = None, groups: str | Path | None = None
) -> Release:
    """Read a release of shoal.

    Parameters
    ----------
    source
        A file (``.csv``, ``.tsv``, either with ``.gz``, ``.parquet``, ``.arrow``, ``.feather``), or a table already read, with cells
        as text.
    dictionary
        The descriptor, if it is not next to the file under its own name or inside it.
    groups
        The file with the counts of groups, if the release has one and it is not next to the file under its own name.

    Without a dictionary the cells alone are read, a warning says so, and ``Release.unknown`` lists what cannot be known.

    Examples
    --------
    >>> import pandas as pd, shoal_reader, warnings
    >>> cells = pd.DataFrame({"age": ["[20-29]", "[30-39]"], "hours": [38, 40]})
    >>> with warnings.catch_warnings(action="ignore"):
    ...     release = shoal_reader.read(cells)
    >>> release.midpoints()["age"].tolist()
    [24.5, 34.5]
    """
    if isinstance(source, pd.DataFrame):
        table, told = source, None if dictionary is None else read_dictionary(dictionary)
        return make_release(table, told, _counts_file(None, told, groups))
    path = Path(source)
    if not path.is_file():
        raise ReleaseError(f"There is no file {path.name!r}. Give the path of a released file.")
    lower = path.name.lower()
    if lower.endswith((".parquet", ".arrow", ".feather")):
        table, inside = _read_arrow(path)
        found = dictionary if dictionary is not None else inside or _beside(path)
        told = None if found is None else read_dictionary(found, path.name)
        return make_release(table, told, _counts_file(path, told, groups))
    if lower.removesuffix(".gz").endswith((".csv", ".tsv", ".txt")):
        found = dictionary if dictionary is not None else _beside(path)
        told = None if found is None else read_dictionary(found, path.name)
        return make_release(_read_text(path, told), told, _counts_file(path, told, groups))
    raise ReleaseError(
        f"{path.name!r} is not a format the reader knows. It reads .csv, .tsv, .parquet, .arrow, .feather."
    )


def _counts_file(release: Path | None, told: Dictionary | None, groups: str | Path | None) -> pd.DataFrame | None:
    """Return the counts of groups; None if there are none, or if their file is not there, which a warning says."""
    path = Path(groups) if groups is not None else None
    if path is None and told is not None and told.groups is not None:
        path = release.with_name(told.groups) if release is not None else None
        if path is None or not path.is_file():
            warnings.warn(
                f"The file {told.groups!r} with the counts of groups is not there, so the cells alone are read. Give it as groups=.",
                DictionaryWarning,
                stacklevel=_outside(),
            )
            return None
    if path is None:
        return None
    try:
        return pd.read_csv(path, dtype=object, na_filter=False, encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError, pd.errors.ParserError, pd.errors.EmptyDataError):
        raise ReleaseError(f"{path.name!r} cannot be read as counts of groups. Read it as shoal wrote it.") from None


def make_release(table: pd.DataFrame, told: Dictionary | None, groups: pd.DataFrame | None = None) -> Release:
    """Return a table of cells as a release, described by its dictionary, by counts of its groups, or by the cells alone."""
    if not table.columns.is_unique:
        raise ReleaseError("Two columns have one name. Read a release as shoal wrote it.")
    if told is None:
        warnings.warn(
            "This release has no dictionary, so only the cells are read; see the attribute 'unknown'. "
            "Give its release.datapackage.json as dictionary= if you have it.",
            DictionaryWarning,
            stacklevel=_outside(),
        )
    elif missing := [name for name in told.fields if name not in table.columns]:
        raise ReleaseError(
            f"The dictionary has a column {missing[0]!r} that the release lacks. It belongs to another one."
        )
    columns: dict[str, Column] = {}
    kept: dict[str, pd.Series[Any]] = {}
    counted = {} if groups is None else counts_of_groups(groups, table)
    for name in table.columns:
        _sort_column(str(name), table[name], told, columns, kept, counted.get(str(name)))
    return Release(tuple(map(str, table.columns)), columns, kept, told, len(table))


def _outside() -> int:
    """Return how many calls up the caller of this package is."""
    import inspect  # noqa: PLC0415  (only to place a warning)

    frame, level = inspect.currentframe(), 0
    here = str(Path(__file__).parent)
    while frame is not None and frame.f_code.co_filename.startswith(here):
        frame, level = frame.f_back, level + 1
    return level


def _sort_column(
    name: str,
    cells: pd.Series[Any],
    told: Dictionary | None,
    columns: dict[str, Column],
    kept: dict[str, pd.Series[Any]],
    counted: pd.Series[Any] | None = None,
) -> None:
    described = told.fields.get(name) if told is not None else None
    text = _is_text(cells)
    if described is not None and described.role == "quasi-identifier":
        # a release of representatives, or of exact numbers in Parquet, may hold numbers
        if text or described.form not in {"exact", "representatives"}:
            columns[name] = coarsened_column(name, cells if text else cells.astype(object), described, counted)
            return
    elif described is None and text:
        blank = cells.mask(cells == "")
        if is_coarsened(blank):
            columns[name] = coarsened_column(name, blank, None)
            return
    kept[name] = _typed_text(cells, described) if text else _without_marks(cells.reset_index(drop=True), described)


def _without_marks(numbers: pd.Series[Any], described: Field | None) -> pd.Series[Any]:
    """Return numbers without the codes that stand for a missing value."""
    marks = [] if described is None else [mark for mark in described.missing if mark]
    if not marks or not pd.api.types.is_numeric_dtype(numbers):
        return numbers
    return numbers.mask(numbers.isin(pd.to_numeric(pd.Series(marks)).tolist()))


def _is_text(cells: pd.Series[Any]) -> bool:
    return bool(pd.api.types.is_object_dtype(cells) or pd.api.types.is_string_dtype(cells))


def _typed_text(cells: pd.Series[Any], described: Field | None) -> pd.Series[Any]:
    """Return a column that is not coarsened in its own type: as the dictionary says, or as all its texts allow."""
    cells = cells.reset_index(drop=True)
    if not all(isinstance(one, str) for one in pd.unique(cells.dropna())):
        return cells
    if described is not None:
        marks = [*described.missing, *([""] if described.kind != "text" else [])]
        return _as_kind(cells.mask(cells.isin(marks)), described)
    blank = cells.mask(cells == "")
    for kind in ("integer", "number", "date", "datetime", "boolean"):
        if blank.notna().any() and (column := _tried(blank, kind)) is not None:
            return column
    return cells


def _tried(cells: pd.Series[Any], kind: str) -> pd.Series[Any] | None:
    texts = pd.Series(pd.unique(cells.dropna()), dtype=object)
    if kind == "boolean":
        return _as_kind(cells, Field("", kind=kind)) if texts.isin(["true", "false"]).all() else None
    if kind in {"integer", "number"}:
        whole = r"-?(0|[1-9]\d*)"
        if not texts.str.fullmatch(whole if kind == "integer" else whole + r"(\.\d+)?([eE][+-]?\d+)?").all():
            return None
    elif not texts.str.fullmatch(
        r"\d{4}-\d\d-\d\d" + ("" if kind == "date" else r"[T ]\d\d:\d\d(:\d\d(\.\d+)?)?")
    ).all():
        return None
    try:
        return _as_kind(cells, Field("", kind=kind))
    except ReleaseError:
        return None


def _as_kind(cells: pd.Series[Any], told: Field) -> pd.Series[Any]:
    pattern = None if told.pattern in {"default", "any", ""} else told.pattern
    try:
        if told.kind in {"integer", "number"}:
            numbers = pd.to_numeric(_plain_numbers(cells, told.decimal))
            return numbers if told.kind == "integer" else numbers.astype(np.float64)
        if told.kind in {"date", "datetime"}:
            return pd.to_datetime(cells, format=pattern or "ISO8601")
        if told.kind == "boolean":
            lower = cells.str.lower()
            truth = lower.map({"true": True, "false": False})
            return truth if truth.isna().any() else truth.astype(bool)
    except (ValueError, TypeError):
        raise ReleaseError(
            f"A value of the column {told.name!r} is not a {told.kind}. Read it with its own dictionary."
        ) from None
    return cells


def _plain_numbers(cells: pd.Series[Any], decimal: str) -> pd.Series[Any]:
    """Return numbers as text without marks between thousands, and with a decimal point."""
    marks = r"[.\s'’]" if decimal == "," else r"[,\s'’]"
    plain = cells.str.replace(marks, "", regex=True)
    return plain.str.replace(",", ".", regex=False) if decimal == "," else plain


def _beside(path: Path) -> Path | None:
    found = dictionary_path(path)
    return found if found.is_file() else None


def _read_text(path: Path, told: Dictionary | None) -> pd.DataFrame:
    tabs = path.name.lower().removesuffix(".gz").endswith(".tsv")
    separator = (told.delimiter if told else None) or ("\t" if tabs else _separator(path))
    encoding = told.encoding if told else "utf-8"
    try:
        table = pd.read_csv(
            path,
            sep=separator,
            dtype=object,
            na_filter=False,
            encoding="utf-8-sig" if encoding.lower().replace("-", "") == "utf8" else encoding,
        )
    except (UnicodeDecodeError, pd.errors.ParserError, pd.errors.EmptyDataError):
        raise ReleaseError(f"{path.name!r} cannot be read as a text table. Read it as shoal wrote it.") from None
    marks = list(told.missing) if told else [""]
    return table.mask(table.isin(marks)) if marks else table


def _separator(path: Path) -> str:
    """Return the sign that separates the names in the first line."""
    import gzip  # noqa: PLC0415  (rarely needed)

    with (
        gzip.open(path, "rt", errors="replace") if path.name.lower().endswith(".gz") else path.open(errors="replace")
    ) as lines:
        first = lines.readline()
    return max(",;\t|", key=first.count)


def _read_arrow(path: Path) -> tuple[pd.DataFrame, Mapping[str, Any] | None]:
    try:
        import pyarrow as pa  # noqa: PLC0415  (text files need none)
        import pyarrow.feather as pf  # noqa: PLC0415
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError:
        raise ReleaseError(
            "Parquet and Arrow files need pyarrow. Install it: pip install 'shoal-reader[parquet]'."
        ) from None
    try:
        table = pq.read_table(path) if path.suffix.lower() == ".parquet" else pf.read_table(path)
    except (pa.ArrowInvalid, OSError):
        raise ReleaseError(f"{path.name!r} cannot be read as a Parquet or Arrow file.") from None
    text = (table.schema.metadata or {}).get(PARQUET_KEY)
    if text is None:
        return table.to_pandas(), None
    import json  # noqa: PLC0415 (the descriptor is inside)

    return table.to_pandas(), json.loads(text)
