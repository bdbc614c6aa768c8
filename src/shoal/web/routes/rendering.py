"""Filling in the templates: a step, and what stands around every step."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import jinja2
from fastapi import Request
from fastapi.responses import HTMLResponse

from shoal.report.words import chance, listed, number, percent
from shoal.web.session import Session, describe_job

STEPS = {
    "open": "Open",
    "columns": "Columns",
    "hierarchies": "Hierarchies",
    "protect": "Protect",
    "compare": "Compare",
    "look": "Look",
    "publish": "Publish",
}


_PARTS_OF_TIME = {
    "%d": "day", "%m": "month", "%b": "month", "%B": "month", "%Y": "year", "%y": "year",
    "%H": "hour", "%M": "minute", "%S": "second",
}  # fmt: skip
_MOST_LISTED = 7
"""How many columns a sentence names."""


@cache
def templates() -> jinja2.Environment:
    """Return what fills in the templates; every value is escaped."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("shoal.web"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {
        "percent": percent,
        "chance": chance,
        "listed": _listed,
        "spelled": _spelled,
        "count": "{:,}".format,
        "number": number,
    }
    return environment


def _listed(names: Sequence[str]) -> str:
    """Return names as a sentence has them; of many the first few and how many more."""
    few = names if len(names) <= _MOST_LISTED else [*names[: _MOST_LISTED - 1], f"{len(names) - _MOST_LISTED + 1} more"]
    return listed(few)


def _spelled(words: str) -> str:
    """Return words about dates as people say them: day.month.year for %d.%m.%Y."""
    for code, name in _PARTS_OF_TIME.items():
        words = words.replace(code, name)
    return words


def render(step: str, request: Request, session: Session, view: dict[str, Any]) -> HTMLResponse:
    """Return the page of a step."""
    page = templates().get_template(f"{step}.html.j2")
    return HTMLResponse(page.render(**frame(step, request.app.state.keys.change, session), **view))


def frame(step: str, change_key: str, session: Session) -> dict[str, Any]:
    """Return what stands around every step."""
    order = list(STEPS)
    place = order.index(step) if step in order else None
    return {
        "step": step,
        "steps": STEPS,
        "before": None if not place else order[place - 1],
        "after": None if place is None or place + 1 >= len(order) else order[place + 1],
        "change_key": change_key,
        "version": session.history.version,
        "draft": session.draft,
        "table": session.table,
        "release": session.release,
        "done": _done(session),
        "people": session.people_now() if session.table else None,
        "history_place": session.history.place,
        "history_steps": session.history.steps,
        "jobs": {kind: describe_job(job) for kind, job in session.jobs.items() if job.active},
    }


def _done(session: Session) -> dict[str, bool]:
    made = session.release is not None
    return dict.fromkeys(STEPS, False) | {
        "open": session.table is not None,
        "columns": session.draft.ready,
        "protect": made,
        "publish": made and session.release_key in session.releases.published,
    }
