"""Curves of a table of figures, in the style of shoal's report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from shoal.report.frontier import COLOURS, SHAPES
from shoal.report.plots import INK, LIMIT, Spec, drawing, quantity

_HALF = 40
"""Names of more letters than this do not fit side by side above a picture."""


@dataclass(frozen=True)
class Plot:
    """Which columns of a table are drawn, one curve a column of ``y``, or a value of the column ``series``."""

    x: str
    y: Sequence[str]
    series: str | None = None
    facet: str | None = None
    """One picture a value of this column, side by side."""
    caption: str = ""
    """What the picture shows; by default the title of the table."""
    label: str = ""
    """What the numbers are; by default the name of the column."""
    log_x: bool = False
    log_y: bool = False
    from_zero: bool = True
    """Whether the axis of numbers begins at 0; a share that hardly changes would be a flat line."""
    band: bool = False
    """Whether rows hold, beside each number, its least and largest value (``… least``, ``… most``), drawn as a band."""
    stated: tuple[tuple[str, float], ...] = ()
    """What the paper says, drawn as broken lines across."""


def curves(rows: Sequence[dict[str, Any]], plot: Plot) -> Spec:
    """Return a Vega-Lite picture of the curves, what the paper states across them."""
    points = _points(rows, plot)
    names = list(dict.fromkeys(point["series"] for point in points))
    places = list(dict.fromkeys(point["facet"] for point in points))
    width = 560 if len(places) == 1 else 300
    pictures = [
        drawing([*_lines([p for p in points if p["facet"] == place], names, plot), *_stated(plot)], width=width)
        for place in places
    ]
    for place, picture in zip(places, pictures, strict=True):
        if place:
            picture["title"] = {"text": place, "anchor": "start", "fontSize": 12}
    if len(pictures) == 1:
        return pictures[0]
    whole = {key: pictures[0][key] for key in ("$schema", "config")}
    apart = ("$schema", "config", "autosize")  # belong to the whole, or to single pictures
    return {
        **whole,
        "hconcat": [{key: value for key, value in picture.items() if key not in apart} for picture in pictures],
        "resolve": {"scale": {"y": "shared"}},
    }


def _points(rows: Sequence[dict[str, Any]], plot: Plot) -> list[Spec]:
    """Return one entry a point; cells that hold no number are left out."""
    return [
        {
            "x": row[plot.x],
            "y": row[column],
            "series": str(row[plot.series]) if plot.series else column,
            "facet": str(row[plot.facet]) if plot.facet else "",
            **({"least": row[f"{column} least"], "most": row[f"{column} most"]} if plot.band else {}),
        }
        for row in rows
        for column in plot.y
        if isinstance(row.get(column), int | float) and isinstance(row.get(plot.x), int | float)
    ]


def _lines(points: list[Spec], names: list[str], plot: Plot) -> list[Spec]:
    x = quantity("x", plot.x, scale=_scale(log=plot.log_x))
    y = quantity("y", plot.label or plot.y[0], scale=_scale(log=plot.log_y, zero=plot.from_zero))

    def told_apart(marks: tuple[str, ...]) -> Spec:
        many = [marks[place % len(marks)] for place in range(len(names))]
        return {
            "field": "series",
            "type": "nominal",
            "scale": {"domain": names, "range": many},
            "legend": {"columns": 2 if max(map(len, names)) <= _HALF else 1, "labelLimit": 560, "symbolOpacity": 1},
        }

    shared = {"x": x, "y": y, "color": told_apart(COLOURS)}
    band = {**shared, "y": {**y, "field": "least"}, "y2": {"field": "most"}}
    return [
        *(
            [{"data": {"values": points}, "mark": {"type": "area", "opacity": 0.15}, "encoding": band}]
            if plot.band
            else []
        ),
        {"data": {"values": points}, "mark": {"type": "line", "strokeWidth": 1.8}, "encoding": shared},
        {
            "data": {"values": points},
            "mark": {"type": "point", "filled": True, "size": 55, "opacity": 1},
            "encoding": {**shared, "shape": told_apart(SHAPES)},
        },
    ]


def _scale(*, log: bool, zero: bool = True) -> Spec:
    return {"type": "log"} if log else {"zero": zero}


def _stated(plot: Plot) -> list[Spec]:
    """Draw what the paper says as broken lines, each with its words."""
    if not plot.stated:
        return []
    values = [{"y": value, "text": text} for text, value in plot.stated]
    y = {"field": "y", "type": "quantitative"}
    return [
        {
            "data": {"values": values},
            "mark": {"type": "rule", "strokeDash": [6, 4], "color": LIMIT},
            "encoding": {"y": y},
        },
        {
            "data": {"values": values},
            "mark": {"type": "text", "align": "right", "dy": -6, "color": INK, "x": "width", "fontSize": 11},
            "encoding": {"y": y, "text": {"field": "text"}},
        },
    ]
