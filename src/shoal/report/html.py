"""A summary as one self-contained page."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from shoal.frames import require
from shoal.report import plots, words
from shoal.report.svg import inline
from shoal.summary import Summary


@dataclass(frozen=True)
class Figure:
    """A picture with its words and the numbers behind it."""

    title: str
    note: str
    svg: str
    headings: tuple[str, ...]
    rows: list[tuple[str, ...]]
    apart: tuple[str, ...] = ()


def render_html(summary: Summary) -> str:
    """Return the page. Needs Jinja2 and vl-convert, the extra ``report``."""
    page: str = (
        page_environment("An HTML report")
        .get_template("report.html.j2")
        .render(
            s=summary,
            words=words,
            style=page_style(),
            figures=figures(summary),
            spreads=column_figures(summary),
        )
    )
    return page


def page_style() -> str:
    """Return the style of all pages."""
    return files("shoal.report").joinpath("templates/style.css").read_text(encoding="utf-8")


def page_environment(purpose: str) -> Any:
    """Return what fills in templates; every value is escaped unless a template says it is safe."""
    jinja2 = require("jinja2", "report", purpose)
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("shoal.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {
        "percent": words.percent,
        "chance": words.chance,
        "listed": words.listed,
        "number": words.number,
    }
    return environment


def figures(summary: Summary) -> dict[str, Figure | None]:
    """Return the pictures of the whole table."""
    return {
        "loss": _loss(summary),
        "sizes": _sizes(summary),
        "associations": _associations(summary) if summary.associations else None,
    }


def column_figures(summary: Summary) -> list[Figure]:
    """Return a picture of each released column, before and after."""
    return [_spread(summary, place) for place, one in enumerate(summary.columns) if one.released_as != "removed"]


def _figure(name: str, spec: dict[str, Any], title: str, note: str, headings: tuple[str, ...], rows: Any) -> Figure:
    return Figure(title, note, inline(spec, name, title, note), headings, list(rows))


def _loss(summary: Summary) -> Figure:
    lost = sorted((column for column in summary.columns if column.loss is not None), key=lambda one: -(one.loss or 0.0))
    return _figure(
        "loss",
        plots.loss_by_column(summary),
        "What each column pays",
        "Share of the column's detail that is lost: 0 % nothing, 100 % everything.",
        ("column", "released", *words.FELT, "detail lost"),
        ((one.name, words.released_form(one), *words.felt_cells(one), words.percent(one.loss or 0.0)) for one in lost),
    )


def _sizes(summary: Summary) -> Figure:
    return _figure(
        "sizes",
        plots.group_sizes(summary),
        "Group sizes",
        words.size_note(summary),
        words.SIZE_HEADINGS,
        words.size_rows(summary),
    )


def _associations(summary: Summary) -> Figure:
    spec = plots.associations(summary)
    assert spec is not None  # noqa: S101
    return _figure(
        "associations",
        spec,
        "Do columns still go together?",
        "The strongest relations of the original, and what is left of them if every released cell is read as a value "
        "drawn evenly from it.",
        words.ASSOCIATION_HEADINGS,
        words.association_rows(summary),
    )


def _spread(summary: Summary, place: int) -> Figure:
    """Return the picture of one column before and after."""
    column = summary.columns[place]
    note = f"{column.role}, released {words.released_form(column)}"
    spec = plots.distribution(column, words.whose(summary))
    title = column.name
    left = tuple(words.apart(summary, column.name))
    if spec is None or column.distribution is None:
        return Figure(title, note, "", (), [], left)
    rows = words.spread_rows(column.distribution)
    drawn = inline(spec, f"column-{place}", f"{column.name} before and after", note)
    return Figure(title, note, drawn, words.spread_headings(summary), rows, left)
