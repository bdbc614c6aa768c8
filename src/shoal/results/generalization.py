"""The mapping of values to released values of a global recoding. It can be read, saved and applied to new records."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import pyarrow as pa
import tomli_w
from pydantic import BaseModel, ConfigDict, model_validator

from shoal.arrays import AnyArray, IntArray
from shoal.cells.parse import read_number
from shoal.cells.recode import ANY, EndTexts, nodes_at, range_form, range_forms
from shoal.encoding import CodedColumn, CodedTable, Unit, exact_numbers, value_texts
from shoal.errors import DataError, FileError
from shoal.frames import Frame, encode_dictionary, to_frame
from shoal.frames.compact import compact
from shoal.hierarchy.texts import match_texts
from shoal.io.transaction import replacing
from shoal.validation import check_choice, check_columns, check_path, refuse_pipe

Unseen = Literal["refuse", "suppress"]


class Range(BaseModel):
    """A range of numbers or dates, both ends included, and what it is released as."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    low: str
    high: str
    released: str


class ColumnMapping(BaseModel):
    """What the values of one column are released as."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    values: dict[str, str] | None = None
    """Categories: each value, in the data or only in the hierarchy, and its released text."""
    ranges: list[Range] | None = None
    """Numbers and dates: where each range begins and ends."""
    type: str = "string"
    """The Arrow type of numbers and dates."""
    missing: str | None = None
    """What a missing value is released as; left out if it stays missing."""
    knows_missing: bool = False
    """The table the mapping was made for had missing values in this column."""

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if (self.values is None) == (self.ranges is None):
            raise ValueError("a column has values or ranges")
        return self

    @property
    def hides_all(self) -> bool:
        """Return whether every category is released as ``*``, so that a new one may be too."""
        return self.values is not None and set(self.values.values()) == {ANY}


class Generalization(BaseModel):
    """A mapping for each quasi-identifier. ``apply`` recodes a table with it; ``save`` writes JSON or TOML.

    Examples
    --------
    >>> import shoal
    >>> jobs = shoal.Hierarchy.from_dict({"*": {"health": ["nurse", "doctor"], "craft": ["baker", "smith"]}})
    >>> people = {"job": ["nurse", "doctor", "nurse", "baker", "smith", "smith"], "ill": ["y", "y", "y", "n", "n", "n"]}
    >>> roles = {"quasi_identifiers": ["job"], "sensitive": ["ill"], "hierarchies": {"job": jobs}}
    >>> mapping = shoal.anonymize(people, k=3, method="datafly", **roles).generalization
    >>> mapping.apply({"job": ["doctor"], "ill": ["n"]})
    {'job': ['health'], 'ill': ['n']}
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    audience: Literal["holder"] = "holder"
    """It lists values of the original table, so it is not for publication."""
    format: Literal["shoal generalization 1"] = "shoal generalization 1"
    k: int
    """What the release the mapping was made for holds; new records may not."""
    columns: dict[str, ColumnMapping]
    keep: list[str] = []
    """Columns that are passed through unchanged if a table has them; all others are left out."""
    person: str | None = None
    """Column that identifies the person a record belongs to: new records are then counted by person."""
    household: str | None = None
    """Column that identifies the household a record belongs to."""

    def apply(self, data: Any, *, unseen: Unseen = "refuse") -> Any:
        """Recode a table in the way the release was; the same kind of table comes back.

        ``unseen="suppress"`` releases ``*`` for a value that the mapping does not know; by default it is refused.
        k is not counted; see ``shoal.audit``.
        """
        check_choice("Generalization.apply", "unseen", unseen, ("refuse", "suppress"))
        frame = to_frame(data)
        return frame.release(self.recode(frame, unseen), list(self.columns), np.arange(frame.records))

    def recode(self, frame: Frame, unseen: Unseen) -> pa.Table:
        """Return the recoded quasi-identifiers and the columns to keep, in the order of ``frame``."""
        check_columns("a quasi-identifier", list(self.columns), frame.names)
        recoded = {}
        for name in frame.names:
            if name in self.columns:
                recoded[name] = _recode_column(frame, name, self.columns[name], unseen)
            elif name in self.keep:
                recoded[name] = compact(frame.table.column(name))
        return pa.table(recoded)

    def owners(self, frame: Frame) -> dict[str, pa.ChunkedArray]:
        """Return the columns that identify the person and household of each new record, by name of the unit; refuse a table without them."""
        named = {"persons": self.person, "households": self.household}
        names = [name for name in named.values() if name is not None]
        check_columns("the person or household of new records, who are counted,", names, frame.names)
        return {unit: frame.table.column(name) for unit, name in named.items() if name is not None}

    def save(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the mapping as JSON or TOML, by the ending of the name."""
        target = check_path("Generalization.save", "path", path)
        check_mapping_file(target)
        with replacing(target, force=force, private=True) as temporary:
            temporary.write_text(self.text(target), encoding="utf-8")
        return target

    def text(self, target: Path) -> str:
        """Return what a file of this name holds."""
        content = self.model_dump(exclude_none=True)
        text = json.dumps(content, indent=2, ensure_ascii=False) if target.suffix == ".json" else tomli_w.dumps(content)
        return text.rstrip() + "\n"

    @classmethod
    def load(cls, path: str | Path) -> Generalization:
        """Read a mapping that ``save`` wrote."""
        source = Path(path)
        refuse_pipe(source)
        try:
            text = source.read_text(encoding="utf-8")
            content = tomllib.loads(text) if source.suffix == ".toml" else json.loads(text)
            return cls.model_validate(content)
        except OSError as fault:
            raise FileError(f"The file {str(source)!r} cannot be read: {fault.strerror}.") from None
        except (ValueError, RecursionError):  # no text, no JSON or TOML, or not what a generalization holds
            raise DataError(
                f"The file {str(source)!r} is not a generalization.", hint="save one with result.generalization.save."
            ) from None


def check_mapping_file(target: Path) -> None:
    """Refuse a name for a mapping that says neither JSON nor TOML."""
    if target.suffix not in {".json", ".toml"}:
        raise FileError(f"A generalization is saved as .json or .toml. Got {target.suffix or 'no ending'!r}.")


def make_generalization(
    table: CodedTable,
    cuts: Sequence[IntArray],
    k: int,
    keep: Sequence[str],
    ends: Mapping[int, EndTexts] | None = None,
    units: Mapping[Unit, str | None] | None = None,
) -> Generalization:
    """Describe cuts by the values they release; ``ends`` are the ends of ranges, ``units`` the people who are counted."""
    columns = {
        column.name: _describe_column(table, row, column, cut, (ends or {}).get(row))
        for row, (column, cut) in enumerate(zip(table.columns, cuts, strict=True))
    }
    who = units or {}
    return Generalization(
        k=k, columns=columns, keep=list(keep), person=who.get("person"), household=who.get("household")
    )


def _describe_column(
    table: CodedTable, row: int, column: CodedColumn, cut: IntArray, ends: EndTexts | None
) -> ColumnMapping:
    known = range(len(column.values))
    low, high = cut[:2, known.start : known.stop]
    released = range_forms(table, row, low, high, ends, nodes_at(cut))
    missing = None
    if column.has_missing:
        missing = range_form(table, row, column, int(cut[0][column.missing]), int(cut[1][column.missing]))
    absent: dict[str, Any] = {"missing": missing, "knows_missing": column.has_missing}
    if column.measured:
        return ColumnMapping(ranges=_ranges(column, cut, released), type=str(column.values.type), **absent)
    return ColumnMapping(values={column.texts[code]: str(released[code]) for code in known}, **absent)


def _ranges(column: CodedColumn, cut: IntArray, released: Sequence[str | None]) -> list[Range]:
    """Return one range for each run of codes that is released alike."""
    codes = np.arange(len(column.values))
    key = cut[0][codes].astype(np.int64) * (cut.shape[1] + 1) + cut[1][codes]
    starts = np.flatnonzero(np.diff(key, prepend=-1)).tolist()
    ends = [*starts[1:], len(codes)]
    return [
        Range(low=column.texts[first], high=column.texts[last - 1], released=str(released[first]))
        for first, last in zip(starts, ends, strict=True)
    ]


def _recode_column(frame: Frame, name: str, mapping: ColumnMapping, unseen: Unseen) -> pa.Array:
    column = frame.cells(name) if mapping.values is not None else frame.typed(name)
    encoded = encode_dictionary(column)
    if mapping.values is not None:
        forms = _category_forms(value_texts(encoded.dictionary).to_pylist(), mapping)
    else:
        forms = _range_forms(name, encoded.dictionary, mapping)
    indices = np.asarray(encoded.indices.fill_null(len(forms)))
    holes = indices == len(forms)
    known = np.array([form is not None for form in forms] + [mapping.knows_missing or mapping.hides_all], np.bool_)
    if unseen == "refuse":
        _refuse_unknown(name, known[indices], holes)
    absent = mapping.missing if mapping.knows_missing else ANY
    table = pa.array([ANY if form is None else form for form in forms] + [absent], pa.string())
    return table.take(pa.array(indices))


def _category_forms(texts: Sequence[str], mapping: ColumnMapping) -> list[str | None]:
    values = mapping.values or {}
    released = list(values.values())
    unknown = ANY if mapping.hides_all else None
    return [unknown if place < 0 else released[place] for place in match_texts(list(values), texts)]


def _range_forms(name: str, values: pa.Array, mapping: ColumnMapping) -> list[str | None]:
    """Return the text of the range each value is in, None for one between or beyond the ranges."""
    ranges = mapping.ranges or []
    try:
        kind = _type_named(mapping.type)
        edges = np.array([read_number(bound, kind) for one in ranges for bound in (one.low, one.high)])
        where = exact_numbers(values.cast(kind) if pa.types.is_temporal(kind) else values)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError):
        raise DataError(
            f"The column {name!r} cannot be read as {mapping.type}, the type it had in the release.",
            hint="give it the same type; 39 and '39' in a text file are the same.",
        ) from None
    if not ranges:  # every value was missing
        return [None] * len(values)
    place = np.searchsorted(edges[::2], where, side="right") - 1
    inside = (place >= 0) & (where <= edges[1::2][np.maximum(place, 0)])
    return [ranges[at].released if good else None for at, good in zip(place.tolist(), inside.tolist(), strict=True)]


def _type_named(text: str) -> pa.DataType:
    """Return the type that Arrow writes as ``text``."""
    zoned = re.fullmatch(r"timestamp\[(\w+), tz=(.+)\]", text)
    if zoned:
        return pa.timestamp(zoned[1], zoned[2])
    return pa.type_for_alias(text.split("[", maxsplit=1)[0] if text.startswith("date") else text)


def _refuse_unknown(name: str, known: AnyArray, holes: AnyArray) -> None:
    if known.all():
        return
    rows, empty = int((~known).sum()), int((~known & holes).sum())
    what = "no value" if empty == rows else "values the generalization does not know"
    raise DataError(
        f"The column {name!r} has {what} in {rows} of {len(known)} new records.",
        hint='correct them, or release them as * with unseen="suppress".',
    )
