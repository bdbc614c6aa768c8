"""How the values of a column are spread before and after, in bins that each hold at least k records or none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.arrays import FloatArray, IntArray, LongArray
from shoal.encoding import CodedColumn
from shoal.summary.cells import Cells, expected_counts
from shoal.summary.schema import Bin, Distribution

_MOST_BINS = 24
_MOST_BARS = 12
_EPOCH = np.datetime64("1970-01-01")
OTHER = "other values"


def distribution(column: CodedColumn, before: Cells, after: Cells, k: int) -> Distribution | None:
    """Return the spread of a column before and after, or None if every value is rarer than k."""
    if column.position is not None and not column.ordinal:
        return _histogram(column, before, after, k)
    return _bars(column, before, after, k)


def _apart(before: Cells, after: Cells, k: int) -> dict[str, Any]:
    """Count what no bin shows; a count of the original below k is left out."""
    missing = int(before.size[before.missing].sum())
    left = int(after.size[after.missing].sum())
    told = missing == 0 or missing >= k
    return {
        "missing_before": missing if told else None,
        "missing_after": left if told else None,
        "hidden_after": int(after.size[after.hidden].sum()),
    }


# --- numbers and dates -------------------------------------------------------------------------------------------


def _histogram(column: CodedColumn, before: Cells, after: Cells, k: int) -> Distribution | None:
    assert column.position is not None  # noqa: S101
    shown = [np.flatnonzero(~(one.hidden | one.missing) & (one.size > 0)) for one in (before, after)]
    if not len(shown[0]):
        return None
    kind = column.original_type
    dated = pa.types.is_date(kind) or pa.types.is_timestamp(kind)
    whole = pa.types.is_integer(kind) or pa.types.is_date(kind)
    position = column.numbers * _days_per_unit(kind)
    ends = [
        position[cell[one]]
        for cells, one in zip((before, after), shown, strict=True)
        for cell in (cells.low, cells.high)
    ]
    reached = np.concatenate(ends)  # not the whole column, because values of withheld records may be beyond
    edges = _date_edges(reached) if dated else _edges(reached, whole)
    counts = _in_bins(position, before, edges, whole)
    spread = _in_bins(position, after, edges, whole)
    first = _merge(counts, k)
    if first is None:
        return None
    bins = [
        _range_bin(edges[low], edges[high], float(counts[low:high].sum()), float(spread[low:high].sum()), dated=dated)
        for low, high in zip(first, [*first[1:], len(counts)], strict=True)
    ]
    return Distribution(form="histogram", unit="date" if dated else "number", bins=bins, **_apart(before, after, k))


def _days_per_unit(kind: pa.DataType) -> float:
    """Return the factor from positions to days for time stamps, else 1."""
    if pa.types.is_timestamp(kind):
        return 1.0 / (86_400 * {"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}[kind.unit])
    return 1.0 / 86_400_000 if pa.types.is_date64(kind) else 1.0


def nice_step(span: float, bins: int) -> float:
    """Return the least of 1, 2, 5, 10, … (and their tenths) that cuts ``span`` into at most ``bins`` parts."""
    raw = max(span, 1e-12) / bins
    power = 10.0 ** math.floor(math.log10(raw))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= raw * (1 - 1e-9))


def _edges(position: FloatArray, whole: bool) -> FloatArray:
    low, high = float(position.min()), float(position.max())
    step = nice_step(high - low or 1.0, _MOST_BINS)
    if whole:
        step = max(1.0, step)
    first = math.floor(low / step)
    last = max(math.floor(high / step) + 1, first + 1)
    return np.asarray(np.arange(first, last + 1) * step, np.float64)


def _date_edges(days: FloatArray) -> FloatArray:
    """Return the first days of years, several of them a bin, or plain days if the span is short."""
    years = (np.array([math.floor(days.min()), math.floor(days.max())]).astype("timedelta64[D]") + _EPOCH).astype(
        "datetime64[Y]"
    )
    first, last = (int(year) for year in years.astype(np.int64))
    if last - first < 8:
        return _edges(days, whole=True)
    step = int(max(1, nice_step(last - first, _MOST_BINS)))
    starts = np.arange(first - (first + 1970) % step, last + step + 1, step)
    starts = starts[: int(np.searchsorted(starts, last, side="right")) + 1]
    return (starts.astype("datetime64[Y]").astype("datetime64[D]") - _EPOCH).astype(np.float64)


def _in_bins(position: FloatArray, cells: Cells, edges: FloatArray, whole: bool) -> FloatArray:
    """Return the records of each bin if every cell is spread evenly over its width."""
    shown = np.flatnonzero(~(cells.hidden | cells.missing))
    size = cells.size[shown].astype(np.float64)
    low, high = position[cells.low[shown]], position[cells.high[shown]] + (1.0 if whole else 0.0)
    point = high <= low
    spread = _spread(low[~point], high[~point], size[~point], edges)
    place = np.clip(np.searchsorted(edges, low[point], side="right") - 1, 0, len(edges) - 2)
    return spread + np.bincount(place, size[point], len(edges) - 1)


def _spread(low: FloatArray, high: FloatArray, size: FloatArray, edges: FloatArray) -> FloatArray:
    below = [float((size * np.clip((edge - low) / (high - low), 0.0, 1.0)).sum()) for edge in edges]
    return np.diff(np.array(below))


def _merge(counts: FloatArray, k: int) -> list[int] | None:
    """Return the first bins of runs that each hold at least ``k`` records or none at all."""
    first: list[int] = []
    held = 0.0
    open_run = False
    for place, count in enumerate(counts.tolist()):
        if not open_run:
            first.append(place)
            held = 0.0
        held += count
        open_run = 0 < round(held) < k
    while first and 0 < round(float(counts[first[-1] :].sum())) < k:
        first.pop()
    return first or None


def _range_bin(low: float, high: float, before: float, after: float, *, dated: bool) -> Bin:
    if dated:
        ends = [str(_EPOCH + np.timedelta64(round(edge), "D")) for edge in (low, high)]
        return Bin(label=f"{ends[0]} to {ends[1]}", low=ends[0], high=ends[1], before=before, after=round(after, 2))
    low, high = float(f"{low:.12g}"), float(f"{high:.12g}")
    return Bin(label=f"{low:,g} to {high:,g}", low=low, high=high, before=before, after=round(after, 2))


# --- categories --------------------------------------------------------------------------------------------------


def _bars(column: CodedColumn, before: Cells, after: Cells, k: int) -> Distribution | None:
    codes = len(column.values)
    if not codes:
        return None
    counts, spread = expected_counts(before, codes), expected_counts(after, codes)
    if column.hierarchy is not None and codes > _MOST_BARS:
        labels, starts = _coarser(column)
        counts, spread = np.add.reduceat(counts, starts), np.add.reduceat(spread, starts)
    else:
        labels = column.texts
    keep = _frequent(counts, k)
    if not len(keep):
        return None
    order = keep if column.ordinal else keep[np.argsort(-counts[keep], kind="stable")]
    bins = [Bin(label=labels[i], before=round(float(counts[i])), after=round(float(spread[i]), 2)) for i in order]
    rest = np.setdiff1d(np.arange(len(counts)), keep)
    pooled = int((counts[rest] > 0).sum())
    if pooled or spread[rest].sum() > 0.005:
        bins.append(
            Bin(label=OTHER, before=round(float(counts[rest].sum())), after=round(float(spread[rest].sum()), 2))
        )
    return Distribution(form="bars", unit="category", bins=bins, pooled=pooled, **_apart(before, after, k))


def _coarser(column: CodedColumn) -> tuple[Sequence[str], LongArray]:
    """Return nodes of the hierarchy that cover all leaves side by side, as many as are easily read."""
    tree = column.hierarchy
    assert tree is not None  # noqa: S101
    nodes = [tree.root]
    while True:
        wider = [
            child for node in nodes for child in ([node] if node < tree.n_leaves else _children(tree.parent, node))
        ]
        if len(wider) > _MOST_BARS or wider == nodes:
            break
        nodes = wider
    if len(nodes) == 1 and tree.root in nodes:  # one step down, however wide: rare values are pooled
        nodes = wider
    nodes.sort(key=lambda node: int(tree.low[node]))
    return [tree.labels[node] for node in nodes], np.array([tree.low[node] for node in nodes], np.int64)


def _children(parent: IntArray, node: int) -> list[int]:
    return [int(child) for child in np.flatnonzero(parent == node) if int(child) != node]


def _frequent(counts: FloatArray, k: int) -> LongArray:
    """Return the values to show, at most twelve; those left out together hold at least ``k`` records, or none."""
    order = np.argsort(-counts, kind="stable")
    shown = order[np.rint(counts[order]) >= k]
    if len(shown) > _MOST_BARS:
        shown = shown[: _MOST_BARS - 1]
    left = round(float(counts.sum() - counts[shown].sum()))
    while len(shown) and 0 < left < k:
        left += round(float(counts[shown[-1]]))
        shown = shown[:-1]
    return np.sort(shown)
