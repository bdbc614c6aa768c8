"""The pictures of README and docs, drawn by shoal from its built-in register.

``python -m benchmarks.pictures`` writes them into ``docs/pictures``; they change only with the methods.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import shoal
from shoal.report.svg import render

FOLDER = Path(__file__).parent.parent / "docs" / "pictures"
METHODS = ("mondrian", "merge-split", "optimize")
KS = (2, 5, 10, 20, 50)
RECORDS = 5_000
PEOPLE = 60
STEPS = (
    ("table", "one row a person"),
    ("roles", "what may outsiders know?"),
    ("groups", "at least k alike"),
    ("cells", "ranges, nodes, sets"),
    ("recount", "finished rows, read again"),
    ("files", "release and dictionary"),
)


def draw_frontier() -> shoal.Comparison:
    """Compare three methods on the register and return what was found."""
    register = shoal.datasets.hospital(n=RECORDS, seed=0)
    return shoal.compare(
        register.patients,
        methods=METHODS,
        k=KS,
        efforts="fast",
        quasi_identifiers=["birth_date", "sex", "zip", "job"],
        sensitive=["diagnosis"],
        identifiers=["name", "admission_date"],
        hierarchies={name: register.hierarchies[name] for name in ("zip", "job")},
        on_point=lambda point: print(f"{point.series}, k = {point.k}: loss {point.loss:.4f}"),
    )


def draw_groups() -> str:
    """Return points of a plane and the boxes of their groups, as a picture."""
    random = np.random.default_rng(7)
    ages = np.rint(np.clip(random.normal(48, 16, PEOPLE), 18, 90))
    zips = np.rint(np.clip(random.normal(40215, 9, PEOPLE), 40190, 40240))
    people = pa.table({"age": ages, "zip": zips})
    groups = shoal.anonymize(people, k=3, quasi_identifiers=["age", "zip"], ends="exact").groups
    dots = [{"age": a, "zip": z, "group": int(g)} for a, z, g in zip(ages, zips, groups, strict=True)]
    boxes = [
        {"age": ages[groups == g].min(), "age2": ages[groups == g].max(), "group": int(g)}
        | {"zip": zips[groups == g].min(), "zip2": zips[groups == g].max()}
        for g in range(int(groups.max()) + 1)
    ]
    axis = {"scale": {"zero": False}, "axis": {"grid": False, "format": "d"}, "type": "quantitative"}
    place = {"x": {"field": "age", "title": "age", **axis}, "y": {"field": "zip", "title": "zip code", **axis}}
    colour = {"color": {"field": "group", "type": "nominal", "legend": None, "scale": {"scheme": "tableau10"}}}
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "width": 520,
        "height": 300,
        "background": "white",
        "config": {"aria": False},
        "layer": [
            {
                "data": {"values": boxes},
                "mark": {"type": "rect", "fillOpacity": 0.15, "strokeWidth": 1.5},
                "encoding": {
                    **place,
                    "x2": {"field": "age2"},
                    "y2": {"field": "zip2"},
                    **colour,
                    "stroke": colour["color"],
                },
            },
            {
                "data": {"values": dots},
                "mark": {"type": "circle", "size": 40, "opacity": 1},
                "encoding": {**place, **colour},
            },
        ],
    }
    return render(spec)


def draw_way() -> str:
    """Draw the way of a release, with a group of the built-in register in the boxes."""
    register = shoal.datasets.hospital(n=1_000, seed=0)
    roles: dict[str, Any] = {
        "quasi_identifiers": ["birth_date", "sex", "zip"],
        "sensitive": ["diagnosis"],
        "identifiers": ["name"],
    }
    patients = register.patients.select([*roles["identifiers"], *roles["quasi_identifiers"], *roles["sensitive"]])
    result = shoal.anonymize(patients, k=5, hierarchies={"zip": register.hierarchies["zip"]}, effort="fast", **roles)
    group = next(g for g in range(int(result.groups.max())) if (result.groups == g).sum() == 5)
    rows = np.flatnonzero(result.groups == group)[:3]
    before, after = patients.take(rows).to_pylist(), result.data.take(rows).to_pylist()
    inside = {
        "table": [" · ".join(str(row[name]) for name in ("birth_date", "sex", "zip")) for row in before],
        "roles": ["name: identifier", "birth_date, sex, zip:", "quasi-identifiers", "diagnosis: sensitive"],
        "groups": [f"{result.audit.groups} groups", f"of {result.audit.k} or more"],
        "cells": [str(after[0][name]) for name in ("birth_date", "sex", "zip")],
        "recount": [f"k = {result.audit.k}", "asked for: 5"],
        "files": ["release.csv", "release.", "datapackage.json"],
    }
    parts = [
        (
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1190 190" role="img" font-family="sans-serif" font-size="12"'
            ' aria-label="The way of a release: table, roles, groups, cells, recount, files">'
        ),
        (
            "<style>rect{fill:#eef4fa;stroke:#1f5f99}text{fill:#1b1b1b}.quiet{fill:#555}path{stroke:#1f5f99;fill:none}"
            "@media (prefers-color-scheme: dark){rect{fill:#16324a;stroke:#7db4e0}text{fill:#f2f2f2}.quiet{fill:#bbb}"
            "path{stroke:#7db4e0}}</style>"
        ),
    ]
    for place, (name, words) in enumerate(STEPS):
        left = 10 + 197 * place
        parts.append(f'<rect x="{left}" y="40" width="180" height="110" rx="8"/>')
        parts.append(
            f'<text x="{left + 90}" y="28" text-anchor="middle" font-size="15" font-weight="bold">{name}</text>'
        )
        parts.append(f'<text class="quiet" x="{left + 90}" y="170" text-anchor="middle">{words}</text>')
        lines = enumerate(inside[name])
        parts += [
            f'<text x="{left + 10}" y="{66 + 22 * line}" font-size="11">{escape(text)}</text>' for line, text in lines
        ]
        if place:
            parts.append(f'<path d="M{left - 16} 95h13m-6 -5l6 5l-6 5"/>')
    return "\n".join([*parts, "</svg>\n"])


def main() -> None:
    """Write the pictures."""
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "way.svg").write_text(draw_way(), "utf-8")
    (FOLDER / "groups.svg").write_text(draw_groups(), "utf-8")
    draw_frontier().save(FOLDER / "frontier.svg", force=True)


if __name__ == "__main__":
    main()
