"""Draw how Merge & Split and similarity-based clustering group points of a plane, for the documentation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import vl_convert

from benchmarks.papers.merge_split import clustered_points, code_points
from shoal.methods import make_method
from shoal.methods.base import Task

FOLDER = Path(__file__).resolve().parent.parent.parent / "docs" / "methods"
POINTS, K = 160, 8


def points() -> Any:
    """Return a small non-uniform table, rounded so that the file stays small."""
    random = np.random.default_rng(4)
    chosen = random.choice(1000, POINTS, replace=False)
    return np.round(np.clip(clustered_points(random)[chosen], 0, 1), 3)


def boxes(places: Any, labels: Any) -> list[dict[str, Any]]:
    """Return the box and size of each group."""
    found = []
    for label in range(labels.max() + 1):
        inside = places[labels == label]
        low, high = inside.min(axis=0).tolist(), inside.max(axis=0).tolist()
        found.append({"x": low[0], "y": low[1], "x2": high[0], "y2": high[1], "size": len(inside), "group": label})
    return found


def picture(places: Any, labels: Any) -> dict[str, Any]:
    """Return a Vega-Lite picture of points and the boxes of their groups."""
    dots = [{"x": x, "y": y, "group": int(label)} for (x, y), label in zip(places.tolist(), labels, strict=True)]
    colour = {"field": "group", "type": "nominal", "legend": None, "scale": {"scheme": "category10"}}
    frame = {"scale": {"domain": [0, 1]}, "title": None, "axis": {"grid": False, "labels": False, "ticks": False}}
    place = {axis: {"field": axis, "type": "quantitative", **frame} for axis in ("x", "y")}
    sized = {"text": {"field": "size", "type": "quantitative"}, "color": colour}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "width": 380,
        "height": 380,
        "background": "white",
        "config": {"aria": False},
        "layer": [
            {
                "data": {"values": boxes(places, labels)},
                "mark": {"type": "rect", "fillOpacity": 0.15, "strokeWidth": 1.5},
                "encoding": {**place, "x2": {"field": "x2"}, "y2": {"field": "y2"}, "color": colour, "stroke": colour},
            },
            {
                "data": {"values": dots},
                "mark": {"type": "circle", "size": 18, "opacity": 1},
                "encoding": {**place, "color": colour},
            },
            {
                "data": {"values": boxes(places, labels)},
                "mark": {"type": "text", "align": "left", "baseline": "bottom", "dx": 1, "dy": -2, "fontSize": 10},
                "encoding": {"x": place["x"], "y": {**place["y"], "field": "y2"}, **sized},
            },
        ],
    }


def main() -> None:
    """Write one picture a method."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    places = points()
    for name in ("merge-split", "sbca"):
        labels = make_method(name).run(code_points(places), Task(k=K)).labels
        (FOLDER / f"{name}.svg").write_text(vl_convert.vegalite_to_svg(picture(places, labels)), "utf-8")


if __name__ == "__main__":
    main()
