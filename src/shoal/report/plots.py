"""The pictures of a report, as Vega-Lite specifications in plain dicts.

Before is always a pale filled bar, after a dark line or point: the two differ in shape and lightness, not
only in hue, so that a print in grey and a colour-blind reader tell them apart.
"""

from __future__ import annotations

from datetime import date
from typing import Any

from shoal.report.words import percent
from shoal.summary import Summary
from shoal.summary.schema import Bin, Column, Distribution

Spec = dict[str, Any]

INK, QUIET, GRID = "#14213d", "#5c6b80", "#e4e9ef"
BEFORE, AFTER, LIMIT, ACCENT = "#b7c3cf", "#0b6a8a", "#b3261e", "#c77700"
FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
WIDTH = 440
_FIRST_YEAR, _LAST_YEAR = 1500, 2200
_FEW_BARS = 12

_CONFIG: Spec = {
    "aria": False,
    "background": "white",
    "font": FONT,
    "view": {"stroke": None},
    "axis": {
        "domainColor": INK,
        "gridColor": GRID,
        "labelColor": INK,
        "labelFontSize": 11,
        "tickColor": QUIET,
        "titleColor": QUIET,
        "titleFontSize": 11,
        "titleFontWeight": "normal",
    },
    "legend": {"labelColor": INK, "labelFontSize": 11, "title": None, "orient": "top", "symbolSize": 120},
}


def drawing(layers: list[Spec], *, width: int = WIDTH, height: int | Spec = 220) -> Spec:
    """Return layers as one specification in the style of the report."""
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "width": width,
        "height": height,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "config": _CONFIG,
        "layer": layers,
    }


def quantity(field: str, title: str | None, **more: Any) -> Spec:
    """Return the encoding of a number."""
    axis: Spec = {"title": title, "tickCount": 5, **more.pop("axis", {})}
    return {"field": field, "type": "quantitative", "axis": axis, **more}


def loss_by_column(summary: Summary) -> Spec:
    """Draw the share of its detail each quasi-identifier lost."""
    rows: list[Spec] = [
        {"column": one.name, "loss": one.loss, "text": percent(one.loss)}
        for one in summary.columns
        if one.loss is not None
    ]
    order = {"field": "column", "type": "nominal", "sort": {"field": "loss", "order": "descending"}}
    y = {**order, "axis": {"title": None, "labelLimit": 130, "domain": False, "ticks": False, "labelPadding": 6}}
    x = quantity(
        "loss",
        "detail lost",
        axis={"format": ".0%"},
        scale={"domain": [0, 1.15 * max((row["loss"] for row in rows), default=0.0) or 1.0]},
    )
    layers: list[Spec] = [
        {"mark": {"type": "bar", "color": AFTER, "height": {"band": 0.72}}, "encoding": {"x": x, "y": y}},
        {
            "mark": {"type": "text", "align": "left", "dx": 4, "color": INK, "fontSize": 11},
            "encoding": {"x": x, "y": y, "text": {"field": "text"}},
        },
    ]
    spec = drawing(layers, height={"step": 34})
    return spec | {"data": {"values": rows}}


def group_sizes(summary: Summary) -> Spec:
    """Draw how many are in groups of which size, with the line at k."""
    bins, k = summary.group_sizes, summary.promise.k
    step = bins[-1].low - bins[-2].low
    open_end = f" (last bar: {bins[-1].low:,} or more)" if bins[-1].high is None else ""
    inset = 0.22 * step if any(one.before and one.after for one in bins) else 0.0  # so that neither hides the other
    rows = [
        {
            "low": one.low - 0.5 + narrower,
            "high": (one.high or one.low + step - 1) + 0.5 - narrower,
            "number": number,
            "when": when,
        }
        for when, narrower in (("original", 0.0), ("released", inset))
        for one in bins
        if (number := one.before if when == "original" else one.after)
    ]
    x = quantity("low", f"size of the group{open_end}", scale={"nice": False, "domainMin": 0.5})
    y = quantity("number", "people", axis={"format": ",d"})
    layers: list[Spec] = [
        {
            "data": {"values": rows},
            "mark": {"type": "rect", "stroke": "white", "strokeWidth": 0.6},
            "encoding": {"x": x, "x2": {"field": "high"}, "y": y, "y2": {"datum": 0}, "color": _when_scale()},
        },
        {
            "data": {"values": [{"k": k - 0.5}]},
            "mark": {"type": "rule", "color": LIMIT, "strokeDash": [5, 4], "strokeWidth": 1.5},
            "encoding": {"x": {"field": "k", "type": "quantitative"}},
        },
        {
            "data": {"values": [{"k": k - 0.5, "text": f"k = {k}"}]},
            "mark": {
                "type": "text",
                "color": LIMIT,
                "align": "left",
                "dx": 5,
                "y": 6,
                "fontSize": 12,
                "fontWeight": "bold",
            },
            "encoding": {"x": {"field": "k", "type": "quantitative"}, "text": {"field": "text"}},
        },
    ]
    return drawing(layers)


def _when_scale() -> Spec:
    return {
        "field": "when",
        "type": "nominal",
        "scale": {"domain": ["original", "released"], "range": [BEFORE, AFTER]},
        "legend": {},
    }


def distribution(column: Column, counted_in: str) -> Spec | None:
    """Draw a column before and after, counted in people or records, or nothing if there is nothing to see."""
    spread = column.distribution
    if spread is None:
        return None
    return _histogram(spread, counted_in) if spread.form == "histogram" else _bars(spread, counted_in)


def _histogram(spread: Distribution, counted_in: str) -> Spec:
    """Draw areas as counts: a bar twice as wide stands for twice the people at the same height."""
    dated = spread.unit == "date"
    narrowest = min(_width(one, dated=dated) for one in spread.bins)
    rows = [
        {
            "low": one.low,
            "high": one.high,
            "before": one.before * narrowest / _width(one, dated=dated),
            "after": one.after * narrowest / _width(one, dated=dated),
        }
        for one in spread.bins
    ]
    kind = "temporal" if dated else "quantitative"
    axis: Spec = {"title": None, "grid": False, "tickCount": 6}
    if dated:
        axis["format"] = "%Y" if narrowest > 200 else "%Y-%m-%d"
    else:
        axis |= _number_axis(spread)
    x: Spec = {"field": "low", "type": kind, "axis": axis, "scale": {"nice": False, "zero": False}}
    if dated:
        x["scale"]["type"] = "utc"
    y = quantity("before", counted_in, axis={"format": ",d"})
    last = {"low": rows[-1]["high"], "after": rows[-1]["after"]}
    return drawing(
        [
            {
                "data": {"values": rows},
                "mark": {"type": "rect", "color": BEFORE, "stroke": "white", "strokeWidth": 0.8},
                "encoding": {"x": x, "x2": {"field": "high"}, "y": y, "y2": {"datum": 0}},
            },
            {
                "data": {
                    "values": [{"low": rows[0]["low"], "after": 0}, *rows, last, {"low": last["low"], "after": 0}]
                },
                "mark": {"type": "line", "color": AFTER, "strokeWidth": 2, "interpolate": "step-after"},
                "encoding": {
                    "x": x,
                    "y": {"field": "after", "type": "quantitative"},
                    "order": {"field": "order", "type": "quantitative"},
                },
            },
        ],
        height=180,
    )


def _number_axis(spread: Distribution) -> Spec:
    """Return the format of numbers on an axis: a year has no comma, and a few whole numbers are below their own bars."""
    lows = [float(one.low) for one in spread.bins if one.low is not None]
    highs = [float(one.high) for one in spread.bins if one.high is not None]
    axis: Spec = {}
    if min(lows) >= _FIRST_YEAR and max(highs) <= _LAST_YEAR:
        axis["format"] = "d"
    steps = [high - low for low, high in zip(lows, highs, strict=True)]
    if len(lows) <= _FEW_BARS and all(low.is_integer() for low in lows) and set(steps) == {1.0}:
        axis |= {"values": [low + 0.5 for low in lows], "labelExpr": "format(datum.value - 0.5, 'd')", "ticks": False}
    return axis


def _width(one: Bin, *, dated: bool) -> float:
    if dated:
        return float((date.fromisoformat(str(one.high)) - date.fromisoformat(str(one.low))).days)
    assert one.low is not None and one.high is not None  # noqa: S101, PT018
    return float(one.high) - float(one.low)


def _bars(spread: Distribution, counted_in: str) -> Spec:
    shown = spread.bins[:-1] if spread.pooled else spread.bins
    rows = [{"value": one.label, "before": one.before, "after": one.after} for one in shown]
    if spread.hidden_after:
        rows.append({"value": "* (shows nothing)", "before": 0, "after": spread.hidden_after})
    y = {
        "field": "value",
        "type": "nominal",
        "sort": None,
        "axis": {"title": None, "labelLimit": 150, "domain": False, "ticks": False, "labelPadding": 6},
    }
    x = quantity("before", counted_in, axis={"format": ",d"})
    layers: list[Spec] = [
        {"mark": {"type": "bar", "color": BEFORE, "height": {"band": 0.7}}, "encoding": {"x": x, "y": y}},
        {
            "mark": {"type": "tick", "orient": "vertical", "color": AFTER, "thickness": 3, "size": 18, "opacity": 1},
            "encoding": {"x": {"field": "after", "type": "quantitative"}, "y": y},
        },
    ]
    return drawing(layers, height={"step": 20}) | {"data": {"values": rows}}


def associations(summary: Summary) -> Spec | None:
    """Draw how strongly columns go together before (hollow) and after (filled)."""
    if not summary.associations:
        return None
    rows = [
        {"pair": f"{one.first} · {one.second}", "when": when, "strength": abs(strength)}
        for one in summary.associations
        for when, strength in (("original", one.before), ("released", one.after))
    ]
    y = {
        "field": "pair",
        "type": "nominal",
        "sort": None,
        "axis": {"title": None, "labelLimit": 190, "domain": False, "ticks": False, "labelPadding": 6, "grid": True},
    }
    x = quantity("strength", "strength, 0 (none) to 1", scale={"domain": [0, 1]})
    shape = {"domain": ["original", "released"]}
    layers: list[Spec] = [
        {"mark": {"type": "line", "color": QUIET}, "encoding": {"x": x, "y": y, "detail": {"field": "pair"}}},
        {
            "mark": {"type": "point", "filled": True, "size": 80, "opacity": 1},
            "encoding": {
                "x": x,
                "y": y,
                "shape": {"field": "when", "scale": shape | {"range": ["circle", "diamond"]}, "legend": {}},
                "color": {"field": "when", "scale": shape | {"range": ["#8496a8", AFTER]}, "legend": {}},
            },
        },
    ]
    return drawing(layers, height={"step": 24}) | {"data": {"values": rows}}
