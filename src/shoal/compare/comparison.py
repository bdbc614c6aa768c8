"""The results of a comparison: a tidy table, a picture, a recommendation."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal._version import __version__
from shoal.compare.choice import RULE, frontier, recommend
from shoal.compare.points import Point
from shoal.errors import FileError, MissingExtraError
from shoal.frames import Frame, FrameKind, require
from shoal.io.files import write_table
from shoal.io.transaction import replacing
from shoal.notebook import card, rows, safely
from shoal.report.frontier import frontier_plot, render_comparison
from shoal.report.svg import render
from shoal.validation import check_path

_TYPES = {
    "method": pa.string(),
    "effort": pa.string(),
    "k": pa.int64(),
    "records": pa.int64(),
    "sampled": pa.bool_(),
    "loss": pa.float64(),
    "risk": pa.float64(),
    "mean_risk": pa.float64(),
    "groups": pa.int64(),
    "suppressed": pa.int64(),
    "seconds": pa.float64(),
    "fault": pa.string(),
    "recommended": pa.bool_(),
}


def check_form(path: Path) -> str:
    """Return the ending that decides the form of a file, or say what is missing to make it."""
    ending = path.suffix.lower()
    if ending not in {".svg", ".html", ".json", ".csv"}:
        raise FileError(f"The comparison {path.name!r} has no known ending.", hint="use .svg, .html, .json or .csv.")
    for package in {".html": ("jinja2", "vl_convert"), ".svg": ("vl_convert",)}.get(ending, ()):
        require(package, "report", "Drawing a comparison")
    return ending


@dataclass(frozen=True, repr=False)
class Comparison:
    """Releases side by side. Made by ``shoal.compare``; it holds figures and no rows.

    Examples
    --------
    >>> import shoal
    >>> people = {"age": [21, 22, 23, 45, 46, 47], "sex": ["f", "f", "f", "m", "m", "m"]}
    >>> found = shoal.compare(people, methods=["mondrian"], k=[2, 3], quasi_identifiers=["age", "sex"])
    >>> found.table.select(["k", "method"]).to_pylist()
    [{'k': 2, 'method': 'mondrian'}, {'k': 3, 'method': 'mondrian'}]
    """

    points: tuple[Point, ...]
    kind: FrameKind = "arrow"
    total: int = 0
    """Records of the whole table."""
    complete: bool = True
    """False if an interrupt left points out."""

    @cached_property
    def recommended(self) -> Point | None:
        """The point recommended by ``shoal.compare.RULE``, if any release could be made."""
        return recommend(self.points)

    @cached_property
    def table(self) -> pa.Table:
        """One row a point, as an Arrow table."""
        columns: dict[str, list[Any]] = {name: [] for name in _TYPES}
        for point in self.points:
            for field in fields(point):
                value = getattr(point, field.name)
                columns[field.name].append(str(value) if field.name == "effort" and value is not None else value)
            columns["recommended"].append(point is self.recommended)
        return pa.table({name: pa.array(values, _TYPES[name]) for name, values in columns.items()})

    @property
    def frame(self) -> Any:
        """One row a point, as the kind of table that came in."""
        return Frame(self.table, self.kind).restore(self.table)

    @cached_property
    def content(self) -> dict[str, Any]:
        """All of it as plain values."""
        shown = {id(point) for point in self._shown}
        edge = {id(point) for point in frontier(self._shown)}
        return {
            "version": 1,
            "shoal": __version__,
            "records": self.total,
            "complete": self.complete,
            "rule": RULE,
            "points": [
                asdict(point)
                | {
                    "series": point.series,
                    "recommended": point is self.recommended,
                    "frontier": id(point) in edge,
                    "drawn": id(point) in shown,
                }
                for point in self.points
            ],
        }

    @property
    def _shown(self) -> list[Point]:
        """What is drawn: of a point made from the sample and from the whole table the latter."""
        made = [point for point in self.points if point.loss is not None]
        whole = {(point.series, point.k) for point in made if not point.sampled}
        return [point for point in made if not point.sampled or (point.series, point.k) not in whole]

    def plot(self, width: int = 640, height: int = 340) -> dict[str, Any]:
        """Return the risk–utility frontier as a Vega-Lite specification, the recommended point ringed."""
        return frontier_plot(self.content, width, height)

    @property
    def html(self) -> str:
        """Picture and table as one self-contained page. Needs the extra ``report``."""
        return render_comparison(self.content)

    def save(self, path: str | Path, *, force: bool = False) -> Path:
        """Write it; the ending decides the form: ``.svg``, ``.html``, ``.json`` or ``.csv``."""
        target = check_path("Comparison.save", "path", path)
        ending = check_form(target)
        with replacing(target, force=force) as temporary:
            self._write(ending, temporary)
        return target

    def _write(self, ending: str, target: Path) -> None:
        if ending == ".csv":
            write_table(self.table, target)
            return
        texts: dict[str, Callable[[], str]] = {
            ".html": lambda: self.html,
            ".svg": lambda: render(self.plot()),
            ".json": lambda: json.dumps(self.content, indent=2, ensure_ascii=False) + "\n",
        }
        target.write_text(texts[ending](), encoding="utf-8")

    @safely
    def _repr_html_(self) -> str:
        try:
            # the picture has dark ink, so it brings its own paper
            return f'<div style="background:#fff;display:inline-block;padding:8px">{render(self.plot())}</div>'
        except MissingExtraError:
            cells = [
                (point.series, point.k, "-" if point.loss is None else f"{point.loss:.3f}", point.groups or "-")
                for point in self.points
            ]
            return card(repr(self).strip("<>"), rows(["method", "k", "loss", "groups"], cells))

    def __repr__(self) -> str:
        best = self.recommended
        chosen = "nothing to recommend" if best is None else f"recommended: {best.series}, k = {best.k}"
        return f"<shoal.Comparison: {len(self.points)} points, {chosen}>"
