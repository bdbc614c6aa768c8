"""One released column: its distinct cells, and what each of them stands for in numbers or values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from shoal_reader.cells import Cell, is_marked, parse
from shoal_reader.counts import Histogram, Weights, calibrated, histogram, weights_of
from shoal_reader.dictionary import Field
from shoal_reader.errors import ReleaseError
from shoal_reader.tree import Tree

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

MEASURED = ("integer", "number", "date", "datetime")
_EPOCH = np.datetime64("1970-01-01")
MOST_POINTS = 400
"""Whole numbers and days are looked at one by one in cells up to this wide."""
_GRID = 64


@dataclass(frozen=True)
class Column:
    """A column of a release. All arrays are by distinct cell; ``which`` says the cell of each record."""

    name: str
    told: Field
    """What the dictionary says of it, or the cells alone."""
    which: npt.NDArray[np.intp]
    cells: tuple[Cell, ...]
    texts: tuple[str | None, ...]
    low: Array = field(default_factory=lambda: np.empty(0))
    """Of numbers and dates: the lowest value (days or microseconds since 1970); meaningless if missing."""
    high: Array = field(default_factory=lambda: np.empty(0))
    values: tuple[str, ...] = ()
    """Of anything else: all values that the column can have."""
    members: Bools = field(default_factory=lambda: np.empty((0, 0), np.bool_))
    """Which of ``values`` each cell stands for; nothing for a missing value."""
    tree: Tree | None = None
    notes: tuple[str, ...] = ()
    """What cannot be known about the column."""
    coarsened: bool = True
    """Whether it is a quasi-identifier; cells of other columns are single values."""
    counted: Weights | None = None
    """How often each value occurs behind each cell, if counts of groups were released; a cell is then that of one group."""

    @property
    def measured(self) -> bool:
        """Whether the values are numbers or dates."""
        return self.told.kind in MEASURED

    @cached_property
    def missing(self) -> Bools:
        """Which cells are a missing value."""
        return np.array([cell.form == "missing" for cell in self.cells], np.bool_)

    @cached_property
    def widths(self) -> Floats:
        """How many values a cell stands for; of numbers that are not whole, the width, and 1 for a single value."""
        if not self.measured:
            return np.asarray(self.members.sum(axis=1), np.float64)
        width = self.high.astype(np.float64) - self.low
        return np.where(self.missing, 0.0, width + 1 if self.told.kind in {"integer", "date"} else np.maximum(width, 1))

    @cached_property
    def exact(self) -> Bools:
        """Which cells are one value, or missing."""
        if self.measured:
            return np.asarray(self.missing | (self.low == self.high), np.bool_)
        return np.asarray(self.missing | (self.members.sum(axis=1) == 1), np.bool_)

    # --- as pandas types -----------------------------------------------------------------------------------------

    def numbers(self, values: Array) -> Any:
        """Return numbers of the column as pandas shows them: dates as dates."""
        if self.told.kind == "date":
            return pd.DatetimeIndex(_EPOCH + np.rint(values).astype("timedelta64[D]"))
        if self.told.kind == "datetime":
            return pd.DatetimeIndex(_EPOCH + np.rint(values).astype("timedelta64[us]"))
        return pd.Index(values)

    def series(self, ends: Array) -> pd.Series[Any]:
        """Return one number for each record from one for each cell; missing values are missing."""
        gone = self.missing[self.which]
        values = pd.Series(self.numbers(ends[self.which]), name=self.name)
        return values.mask(gone) if gone.any() else values

    def typed(self) -> pd.Series[Any]:
        """Return the column as analysts use it: intervals, ordered categories or tuples; plain values if all are exact."""
        if self.measured:
            return self.series(self.low) if self.exact.all() else self._intervals()
        if self.told.form == "nodes":
            return pd.Series(self._categories(self._labels, bool(self.tree)), name=self.name)
        if self.exact.all():
            single = [
                None if gone else self.values[row.argmax()]
                for gone, row in zip(self.missing, self.members, strict=True)
            ]
            return pd.Series(self._categories(single, self.told.order is not None), name=self.name)
        sets = np.empty(len(self.cells), object)
        for place, row in enumerate(self.members):
            sets[place] = None if self.missing[place] else tuple(self.values[code] for code in np.flatnonzero(row))
        return pd.Series(sets[self.which], name=self.name, dtype=object)

    def _intervals(self) -> pd.Series[Any]:
        low, high = self.series(self.low), self.series(self.high)
        intervals = pd.arrays.IntervalArray.from_arrays(low, high, closed="both")
        return pd.Series(intervals, name=self.name)

    @cached_property
    def _labels(self) -> list[str | None]:
        return [_label(text, cell, self.tree) for text, cell in zip(self.texts, self.cells, strict=True)]

    def _categories(self, labels: Sequence[str | None], ordered: bool) -> pd.Categorical[Any]:
        seen = {label for label in labels if label is not None}
        known = list(self.tree.paths) if self.tree and self.told.form == "nodes" else list(self.values)
        order = [label for label in known if label in seen] + sorted(seen.difference(known))
        place = {label: code for code, label in enumerate(order)}
        codes = np.array([-1 if label is None else place[label] for label in labels], np.intp)
        return categorical(codes[self.which], order, ordered=ordered)

    # --- as numbers ----------------------------------------------------------------------------------------------

    @cached_property
    def shares(self) -> Floats:
        """The chance of each value in each cell: by released counts, or all its values alike."""
        return _shares(self.weights)

    @cached_property
    def weights(self) -> Floats:
        """How much each value of a column of categories, or each of the points of another one, counts in each cell."""
        if self.counted is not None:
            return self.counted.counts if not self.measured else self._at_points(self.points[0])
        values, inside = (list(self.values), self.members) if not self.measured else self.points[:2]
        if not self.told.counts:
            return inside.astype(np.float64)
        records = np.bincount(self.which, minlength=len(self.cells)).astype(np.float64)
        return calibrated(inside, np.where(inside.any(axis=1), records, 0.0), self.told_often(values))

    def told_often(self, values: Sequence[Any] | Floats) -> Floats:
        """Return how often each value, or what is nearest to each point, occurs as the dictionary tells; all others share the rest."""
        told = [(value, count) for value, count in self.told.counts if value is not None]
        often = np.zeros(len(values))
        if self.measured:
            numbers = np.array([number(value, Field("", kind=self.told.kind)) for value, _ in told], np.float64)
            np.add.at(often, nearest(np.asarray(values, np.float64), numbers), [count for _, count in told])
        else:
            place = {value: code for code, value in enumerate(values)}
            for value, count in told:
                often[place[value]] += count if value in place else 0
        unknown = often == 0
        often[unknown] = self.told.rest / max(int(unknown.sum()), 1)
        return often

    def _at_points(self, points: Floats) -> Floats:
        """Return the counts of groups by the point nearest to each value."""
        assert self.counted is not None  # noqa: S101  (asked before)
        at = np.zeros((len(self.cells), len(points)))
        np.add.at(at.T, nearest(points, np.asarray(self.counted.values, np.float64)), self.counted.counts.T)
        return at

    @cached_property
    def centers(self) -> Floats:
        """The value to expect in each cell of numbers or dates: by released counts, or the middle."""
        if self.counted is not None:
            values, counts = np.asarray(self.counted.values, np.float64), self.counted.counts
        elif self.told.counts and self.coarsened:
            values, counts = self.points[0], self.weights
        else:
            return self.midpoints
        known = counts.sum(axis=1)
        return np.where(known > 0, counts @ values / np.maximum(known, 1e-300), self.midpoints)

    @cached_property
    def midpoints(self) -> Floats:
        """The middle of each cell."""
        return np.asarray(self.low + (self.high.astype(np.float64) - self.low) / 2, np.float64)

    @cached_property
    def points(self) -> tuple[Floats, Bools, bool]:
        """Values that stand for the whole column, which of them are in each cell, and whether that is all of them."""
        if self.missing.all():
            return np.zeros(1), np.zeros((len(self.cells), 1), np.bool_), True
        low, high = self.low.astype(np.float64), self.high.astype(np.float64)
        if self.counted is not None and len(self.counted.values) <= MOST_POINTS:
            return np.asarray(self.counted.values, np.float64), self.counted.counts > 0, True
        first, last = low[~self.missing].min(), high[~self.missing].max()
        whole = self.told.kind in {"integer", "date"} and last - first <= MOST_POINTS
        if whole:
            points = np.arange(first, last + 1)
        else:
            often = np.bincount(self.which, minlength=len(self.cells))
            ends = np.repeat(
                np.r_[low[~self.missing], high[~self.missing]], np.r_[often[~self.missing], often[~self.missing]]
            )
            points = np.unique(np.quantile(ends, np.linspace(0, 1, _GRID), method="nearest"))
        inside = (points >= low[:, None]) & (points <= high[:, None])
        empty = np.flatnonzero(~inside.any(axis=1))
        inside[empty, np.abs(points - self.midpoints[empty, None]).argmin(axis=1)] = True
        if self.counted is not None:  # the points nearest to the values that there are
            inside = self._at_points(points) > 0
        inside[self.missing] = False
        return points, inside, bool(whole and self.counted is None)


def _shares(weights: Floats) -> Floats:
    """Return weights that add up to one in each cell, or to nothing in a missing one."""
    total = weights.sum(axis=1, keepdims=True)
    return np.asarray(weights / np.where(total > 0, total, 1.0), np.float64)


def nearest(points: Floats, values: Floats) -> npt.NDArray[np.intp]:
    """Return the place of the point nearest to each value; points ascend."""
    after = np.clip(np.searchsorted(points, values), 1, max(len(points) - 1, 1))
    before = after - 1
    after = np.minimum(after, len(points) - 1)
    return np.where(np.abs(points[before] - values) <= np.abs(points[after] - values), before, after)


def categorical(codes: Array, categories: Sequence[str], *, ordered: bool) -> pd.Categorical[Any]:
    """Return a categorical column from the numbers of its categories."""
    labels: Any = pd.Index(np.array(categories, object))
    return pd.Categorical.from_codes(codes, labels, ordered=ordered)


def _label(text: str | None, cell: Cell, tree: Tree | None) -> str | None:
    """Return the label of a node; one such as ``[30-39]`` is not taken for a range."""
    if text is None:
        return None
    if tree is not None:
        return tree.root if cell.form == "any" else text if text in tree.paths else cell.values[0]
    return cell.values[0] if cell.form == "value" else text


# --- making one --------------------------------------------------------------------------------------------------


def coarsened_column(
    name: str, cells: pd.Series[Any], told: Field | None, counted: pd.Series[Any] | None = None
) -> Column:
    """Read the texts of a released quasi-identifier; ``counted`` are the counts of each record's group, as text."""
    which, distinct = pd.factorize(cells, use_na_sentinel=False)
    texts = tuple(None if pd.isna(text) else str(text) for text in distinct)
    if counted is not None:
        shown, histograms = pd.factorize(counted)
        pairs, which = np.unique(which * len(histograms) + shown, return_inverse=True)
        texts = tuple(texts[pair // len(histograms)] for pair in pairs)
        told_counts = [histogram(histograms[pair % len(histograms)]) for pair in pairs]
        return _with_counts(_column(name, which.reshape(-1), texts, told), told_counts)
    return _column(name, which, texts, told)


def _column(name: str, which: npt.NDArray[np.intp], texts: tuple[str | None, ...], told: Field | None) -> Column:
    parsed = tuple(parse(text) for text in texts)
    field_ = told or _guessed(name, parsed)
    if field_.kind in MEASURED and field_.form in {"ranges", "exact", "representatives"}:
        return _measured(name, field_, which, parsed, texts, known=told is not None)
    return _categories(name, field_, which, parsed, texts, known=told is not None)


def _with_counts(column: Column, histograms: Sequence[Histogram]) -> Column:
    """Return a column whose cells are known to be of certain values; a missing one among them is not counted."""
    kind = Field("", kind=column.told.kind)
    known: list[dict[Any, int]] = [
        {number(value, kind) if column.measured else value: count for value, count in one if value is not None}
        for one in histograms
    ]
    weights = weights_of(known, () if column.measured else column.values)
    if column.measured:
        ends = [(min(one), max(one)) if one else None for one in known]
        pairs = [
            (low, high) if end is None else end for end, low, high in zip(ends, column.low, column.high, strict=True)
        ]
        low, high = (np.array([pair[end] for pair in pairs], column.low.dtype) for end in (0, 1))
        if ((low < column.low) | (high > column.high)).any():
            raise _outside_of(column.name)
        return replace(column, low=low, high=high, counted=weights)
    if column.told.form == "sets":
        place = {value: code for code, value in enumerate(column.values)}
        inside = np.zeros(weights.counts.shape, np.bool_)
        for code, value in enumerate(weights.values):
            inside[:, code] = column.members[:, place[value]] if value in place else False
        free = np.array([cell.form == "any" for cell in column.cells], np.bool_)
        if ((weights.counts > 0) & ~inside & ~free[:, None]).any():
            raise _outside_of(column.name)
    return replace(column, values=tuple(weights.values), members=weights.counts > 0, counted=weights)


def _outside_of(name: str) -> ReleaseError:
    return ReleaseError(
        f"A counted value of the column {name!r} lies outside its cell. Read the release with its own files."
    )


def is_coarsened(cells: pd.Series[Any]) -> bool:
    """Return whether some text of a column can only be a coarsened cell, and all of them are well formed."""
    texts = [text for text in pd.unique(cells) if isinstance(text, str)]
    try:
        marked = [is_marked(text) for text in texts]
        for text in texts:
            parse(text)
    except ReleaseError:
        return False
    return any(marked)


def exact_column(name: str, values: pd.Series[Any], told: Field | None) -> Column:
    """Return a kept column in the same form as coarsened ones, for questions about both."""
    codes, distinct = pd.factorize(values, use_na_sentinel=False)
    missing = np.asarray(pd.isna(distinct), np.bool_)
    kind = _kind_of(values)
    cells = tuple(
        Cell("missing") if gone else Cell("value", (str(one),)) for gone, one in zip(missing, distinct, strict=True)
    )
    texts = tuple(None if gone else str(one) for gone, one in zip(missing, distinct, strict=True))
    field_ = Field(**{**vars(told or Field(name)), "kind": kind, "form": "exact"})
    if kind in MEASURED:
        numbers = _as_numbers(pd.Series(distinct), kind, missing)
        return Column(name, field_, codes, cells, texts, numbers, numbers, coarsened=False)
    listed = [text for text in texts if text is not None]
    first = [one for one in (field_.order or field_.values) if one in set(listed)]
    if isinstance(values.dtype, pd.CategoricalDtype):
        first = [str(one) for one in values.dtype.categories if str(one) in set(listed)]
    order = tuple(first + sorted(set(listed).difference(first)))
    members = np.array([[text == value for value in order] for text in texts], np.bool_).reshape(len(texts), len(order))
    return Column(name, field_, codes, cells, texts, values=order, members=members, coarsened=False)


def _kind_of(values: pd.Series[Any]) -> str:
    if pd.api.types.is_bool_dtype(values):
        return "boolean"
    if pd.api.types.is_integer_dtype(values):
        return "integer"
    if pd.api.types.is_float_dtype(values):
        return "number"
    return "datetime" if pd.api.types.is_datetime64_any_dtype(values) else "text"


def _as_numbers(distinct: pd.Series[Any], kind: str, missing: Bools) -> Floats:
    if kind == "datetime":
        moments = pd.to_datetime(distinct, utc=True).dt.tz_localize(None)
        ticks = (moments.to_numpy("datetime64[us]") - _EPOCH) / np.timedelta64(1, "us")
        return np.where(missing, 0.0, ticks)
    numbers: Floats = pd.to_numeric(distinct).to_numpy(np.float64, na_value=np.nan)
    return np.where(missing, 0.0, numbers)


def _guessed(name: str, cells: Sequence[Cell]) -> Field:
    """Return what follows about a column from its cells alone."""
    values = [value for cell in cells for value in cell.values]
    if any(cell.form == "set" for cell in cells):
        return Field(name, role="quasi-identifier", form="sets")
    for kind in MEASURED:
        if values and all(_reads(value, kind) for value in values):
            decimal = "," if kind == "number" and any("," in value for value in values) else "."
            return Field(name, kind=kind, role="quasi-identifier", form="ranges", decimal=decimal)
    ranges = any(cell.form == "range" for cell in cells)
    return Field(name, role="quasi-identifier", form="ranges" if ranges else "nodes")


def _reads(text: str, kind: str) -> bool:
    """Return whether a text is a value of a kind; digits with leading zeros are a code, not a number."""
    if kind in {"integer", "number"} and text.lstrip("-")[:1] == "0" and text.lstrip("-")[1:2].isdigit():
        return False
    try:
        number(text, Field("", kind=kind, decimal="," if "," in text else "."))
    except ValueError:
        return False
    return True


def number(text: str, told: Field) -> int | float:
    """Return the number of a text; days since 1970 of a date, microseconds of a moment."""
    if told.kind == "integer":
        return int(text)
    if told.kind == "number":
        return float(text.replace(told.decimal, "."))
    iso = told.pattern in {"default", "any", ""}
    moment = datetime.fromisoformat(text) if iso else datetime.strptime(text, told.pattern)  # noqa: DTZ007  (or without a zone)
    since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - datetime(1970, 1, 1, tzinfo=UTC)
    if told.kind == "datetime":
        return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
    if since.seconds or since.microseconds:
        raise ValueError
    return since.days


def _measured(
    name: str,
    told: Field,
    which: npt.NDArray[np.intp],
    cells: tuple[Cell, ...],
    texts: tuple[str | None, ...],
    *,
    known: bool,
) -> Column:
    form: Any = np.float64 if told.kind == "number" else np.int64
    try:
        ends = [
            (number(cell.values[0], told), number(cell.values[-1], told)) if cell.values else None for cell in cells
        ]
    except ValueError:
        raise ReleaseError(
            f"A cell of the column {name!r} is not a {told.kind}. Read the release with its own dictionary."
        ) from None
    seen = [pair for pair in ends if pair is not None]
    lowest = _told_end(told.low, told, min((pair[0] for pair in seen), default=0))
    highest = _told_end(told.high, told, max((pair[1] for pair in seen), default=0))
    notes = []
    if any(cell.form == "any" for cell in cells):
        notes.append(f"{name}: a cell '*' is taken to lie between the lowest and the highest end in the release")
    if not known:
        notes.append(f"{name}: unit and rounding of the ends of ranges are unknown")
    low = np.array([lowest if pair is None else pair[0] for pair in ends], form)
    high = np.array([highest if pair is None else pair[1] for pair in ends], form)
    if (low > high).any():
        raise ReleaseError(
            f"A range of the column {name!r} ends below its start. Read the release with its dictionary."
        )
    return Column(name, told, which, cells, texts, low, high, notes=tuple(notes))


def _told_end(end: float | str | None, told: Field, seen: float) -> float:
    if end is None:
        return seen
    if isinstance(end, str):
        try:
            return number(end, Field(told.name, kind=told.kind))
        except ValueError:  # beyond what Python can represent, such as the year 12000
            return seen
    return end


def _categories(
    name: str,
    told: Field,
    which: npt.NDArray[np.intp],
    cells: tuple[Cell, ...],
    texts: tuple[str | None, ...],
    *,
    known: bool,
) -> Column:
    tree = Tree.of(told.tree) if told.tree is not None else None
    notes: list[str] = []
    listed = [_values_of(text, cell, told, tree, notes) for text, cell in zip(texts, cells, strict=True)]
    seen = {value for values in listed if values for value in values}
    first = list(tree.leaves[tree.root]) if tree else list(told.order or told.values)
    values = tuple(first + sorted(seen.difference(first)))
    place = {value: code for code, value in enumerate(values)}
    members = np.zeros((len(cells), len(values)), np.bool_)
    for row, inside in enumerate(listed):
        if inside is None:
            members[row] = True
        else:
            members[row, [place[value] for value in inside]] = True
    if tree is not None and told.tree is not None and told.tree.get("partial"):
        notes.append(f"{name}: a label may stand for values that no cell shows; its tree is partial")
    if any(cell.form == "any" for cell in cells):
        notes.append(f"{name}: a cell '*' is taken to be any of the values in the release")
    if not known and told.form == "nodes":
        notes.append(f"{name}: which values are below a label is unknown; each label counts as one value")
    if not known and told.form in {"nodes", "ranges"}:
        notes.append(f"{name}: the order of its values is unknown")
    return Column(
        name, told, which, cells, texts, values=values, members=members, tree=tree, notes=tuple(dict.fromkeys(notes))
    )


def _values_of(
    text: str | None, cell: Cell, told: Field, tree: Tree | None, notes: list[str]
) -> tuple[str, ...] | None:
    """Return the values a cell stands for; None for all."""
    if cell.form == "missing":
        return ()
    if tree is not None and told.form == "nodes" and cell.form != "set":
        label = _label(text, cell, tree)
        assert label is not None  # noqa: S101  (only a missing cell has none)
        return tree.leaves.get(label, (label,))
    if cell.form == "any":
        return None
    if cell.form != "range":
        return cell.values
    if told.order is not None and all(value in told.order for value in cell.values):
        first, last = map(told.order.index, cell.values)
        return told.order[first : last + 1]
    notes.append(f"{told.name}: the values between the ends of a range are unknown")
    return cell.values
