"""The risk–utility frontier of a comparison, as a picture and as a page."""

from __future__ import annotations

import math
from typing import Any

from shoal.report.html import page_environment, page_style
from shoal.report.plots import AFTER, INK, LIMIT, Spec, drawing, quantity
from shoal.report.svg import inline
from shoal.report.words import percent

COLOURS = (AFTER, "#c77700", "#6f4a9c", "#19734f", "#b3261e", "#56b4e9", "#8a6d3b", INK)
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")

_LOW = 0.12
"""Below this share of the picture's height a label under a point would meet the axis."""
_ADVICE = 130
"""Pixels the advice takes next to its point."""
_SMALL = 0.05
"""Below this loss whole percents on the axis would repeat each other."""
_NARROW = 400
"""Below this width a picture has room for short words only."""


def frontier_plot(content: dict[str, Any], width: int = 640, height: int = 340) -> Spec:
    """Draw every release between risk (left is safer) and loss (down is more useful), the recommended one ringed."""
    rows = [_row(point) for point in content["points"] if point["drawn"]]
    highest = max((row["loss"] for row in rows), default=0.0)
    advice = "recommended: " if width > _NARROW else "★ "
    rows = [row | {"low": row["loss"] < _LOW * highest, "advice": advice + row["label"]} for row in rows]
    names = list(dict.fromkeys(row["series"] for row in rows))
    spec = drawing([], width=width, height=height)
    x, y = _axes(
        rows,
        "← safer · largest chance to find a person, 1 in k" if width > _NARROW else "← safer · chance to find a person",
    )
    series = {"field": "series", "type": "nominal", "scale": {"domain": names}}
    colour = {
        **series,
        "scale": {"domain": names, "range": _cycle(COLOURS, len(names))},
        "legend": {"columns": 2 if width < 500 else 4},
    }
    shape = {
        **series,
        "scale": {"domain": names, "range": _cycle(SHAPES, len(names))},
        "legend": {"columns": 2 if width < 500 else 4},
    }
    label = {"type": "text", "fontSize": 11, "color": INK}
    spec["layer"] = [
        {
            "mark": {"type": "line", "strokeWidth": 1.8},
            "encoding": {"x": x, "y": y, "color": colour, "order": {"field": "risk"}},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 75, "opacity": 1},
            "encoding": {"x": x, "y": y, "color": colour, "shape": shape},
        },
        {
            "transform": [{"filter": "datum.frontier && !datum.recommended && !datum.low"}],
            "mark": {**label, "align": "right", "dx": -8, "dy": 12},
            "encoding": {"x": x, "y": y, "text": {"field": "label"}},
        },
        {
            # below such a point the axis has its own labels
            "transform": [{"filter": "datum.frontier && !datum.recommended && datum.low"}],
            "mark": {**label, "align": "left", "dx": 6, "dy": -10},
            "encoding": {"x": x, "y": y, "text": {"field": "label"}},
        },
        {
            "transform": [{"filter": "datum.recommended"}],
            "mark": {"type": "point", "size": 420, "strokeWidth": 2.5, "color": LIMIT, "opacity": 1, "shape": "circle"},
            "encoding": {"x": x, "y": y},
        },
        {
            "transform": [{"filter": "datum.recommended"}],
            "mark": {**label, **_beside(rows, width), "fontWeight": "bold", "color": LIMIT},
            "encoding": {"x": x, "y": y, "text": {"field": "advice"}},
        },
    ]
    return spec | {"data": {"values": rows}}


def _beside(rows: list[Spec], width: int) -> Spec:
    """Place the advice below and left of its point, if no line runs; right of it if the left has no room."""
    places = [math.log(row["risk"]) for row in rows]
    advised, low = next(((math.log(row["risk"]), row["low"]) for row in rows if row["recommended"]), (0.0, False))
    if (advised - min(places, default=0.0)) * width <= _ADVICE * (max(places, default=0.0) - min(places, default=0.0)):
        return {"align": "left", "dx": 14, "dy": -14}
    return {"align": "right", "dx": -12, "dy": -16 if low else 16}  # below a low point the axis has its own labels


def _cycle(values: tuple[str, ...], number: int) -> list[str]:
    return [values[place % len(values)] for place in range(number)]


def _row(point: dict[str, Any]) -> Spec:
    return {
        "series": point["series"] + (" (sample)" if point["sampled"] else ""),
        "risk": 1 / point["k"],
        "loss": point["loss"],
        "label": f"k = {point['k']}",
        "frontier": point["frontier"],
        "recommended": point["recommended"],
    }


def _axes(rows: list[Spec], title: str) -> tuple[Spec, Spec]:
    risks = sorted({row["risk"] for row in rows}) or [0.5]
    x = quantity(
        "risk",
        title,
        axis={
            "values": _apart(risks),
            "labelExpr": "'1 in ' + format(round(1 / datum.value), ',')",
            "grid": True,
        },
        scale={"type": "log", "domain": [risks[0] / 1.4, risks[-1] * 1.35], "nice": False},
    )
    digits = 0 if max((row["loss"] for row in rows), default=0.0) >= _SMALL else 1
    y = quantity(
        "loss", "information lost · down is more useful", axis={"format": f".{digits}%"}, scale={"domainMin": 0}
    )
    return x, y


def _apart(risks: list[float]) -> list[float]:
    """Return the risks that are far enough from each other for their labels, the largest among them."""
    shown: list[float] = []
    for risk in reversed(risks):
        if not shown or shown[-1] / risk > 1.35:
            shown.append(risk)
    return shown


def render_comparison(content: dict[str, Any]) -> str:
    """Return picture and table as one page. Needs Jinja2 and vl-convert, the extra ``report``."""
    environment = page_environment("A comparison as a page")
    best = next((point for point in content["points"] if point["recommended"]), None)
    note = (
        "Every point is a finished release, counted again. Left is safer, down is more useful."
        if best is None
        else f"Recommended: {best['series']} with k = {best['k']}, which loses {percent(best['loss'])} of the detail."
    )
    title = "Risk and loss of each release"
    pictures = {
        "wide": inline(frontier_plot(content, 860, 400), "wide", title, note),
        "narrow": inline(frontier_plot(content, 430, 360), "narrow", title, note),
    }
    page: str = environment.get_template("comparison.html.j2").render(
        c=content,
        best=best,
        style=page_style(),
        pictures=pictures,
        sampled=any(one["sampled"] for one in content["points"]),
    )
    return page
