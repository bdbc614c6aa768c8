"""Xu et al. (2006), Figure 19: weights 8, 4, 2, 1 on uniform data, and what they do to queries on the heavy columns.

python -m benchmarks.papers.weights    writes the table, and the picture for docs/how-to/choose-weights.md
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import shoal
from benchmarks.measuring import Row
from benchmarks.papers.tables import Table, parse_arguments, write_tables
from benchmarks.plots import Plot
from shoal.datasets import uniform
from shoal.metrics import query_error

COLUMNS = ["A1", "A2", "A3", "A4"]
WEIGHTS = dict(zip(COLUMNS, (8, 4, 2, 1), strict=True))
PICTURE = Path(__file__).parents[2] / "docs" / "how-to" / "choose-weights.svg"


def measure(records: int = 10_000, k: int = 10) -> list[Row]:
    """Return the mean error of 1,000 counts on A1, A1A2, … for each method, with equal and with chosen weights."""
    table = uniform(records, seed=0)
    rows: list[Row] = []
    for method in ("bottom-up", "top-down"):
        for name, weights in (("equal", None), ("8, 4, 2, 1", WEIGHTS)):
            result = shoal.anonymize(
                table, k=k, quasi_identifiers=COLUMNS, method=method, weights=weights, ends="exact"
            )
            rows += [
                {
                    "method": method,
                    "weights": name,
                    "columns asked": "".join(COLUMNS[:count]),
                    "number of columns asked": count,
                    "mean error": query_error(table, result, 1000, columns=COLUMNS[:count], seed=1).mean,
                }
                for count in range(1, 5)
            ]
    return rows


def specification(rows: list[Row]) -> dict[str, Any]:
    """Return the picture as a Vega-Lite specification."""
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "data": {"values": rows},
        "facet": {"column": {"field": "method", "title": None}},
        "spec": {
            "width": 240,
            "height": 180,
            "mark": "bar",
            "encoding": {
                "x": {"field": "columns asked", "title": "columns asked about", "axis": {"labelAngle": 0}},
                "xOffset": {"field": "weights"},
                "y": {"field": "mean error", "type": "quantitative", "title": "mean error of a count"},
                "color": {"field": "weights", "scale": {"range": ["#9aa5b1", "#1f6f8b"]}},
            },
        },
    }


def draw(rows: list[Row]) -> None:
    """Write the picture."""
    import vl_convert

    picture = vl_convert.vegalite_to_svg(specification(rows), vl_version="5.20")
    PICTURE.write_text(picture + "\n", encoding="utf-8")


def main() -> None:
    """Write the table, and the picture where the run was a full one."""
    arguments = parse_arguments(__doc__)
    rows = measure(1_000) if arguments.quick else measure()
    title = "Weights 8, 4, 2, 1 on uniform data, k = 10"
    note = "The paper: weighted, both methods answer queries on A1, A1A2 and A1A2A3 more accurately, and on all four may lose some."
    plot = Plot(
        "number of columns asked", ["mean error"], series="weights", facet="method", label="mean error of a count"
    )
    write_tables("weights", title, [Table("Error of counts (figure 19)", note, rows, plot)], arguments.output)
    if not arguments.quick:
        draw(rows)


if __name__ == "__main__":
    main()
