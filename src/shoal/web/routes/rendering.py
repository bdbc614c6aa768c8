"""Filling in the templates: a step, and what is around every step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
        "brief": _brief,
    }
    return environment


def _brief(value: float) -> str:
    """Return a figure with three digits, or all before its decimal point."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


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
    """Return what is around every step."""
    order = list(STEPS)
    place = order.index(step) if step in order else None
    return {
        "step": step,
        "steps": STEPS,
        "before": None if not place else order[place - 1],
        "after": None if place is None or place + 1 >= len(order) else order[place + 1],
        "change_key": change_key,
        "version": session.history.version,
        "edition": session.history.edition,
        "session": session.number,
        "changed_source": session.changed_source,
        "written_any": bool(session.releases.written),
        "written_numbers": set(session.releases.written),
        "draft": session.draft,
        "table": session.table,
        "release": session.release,
        "done": _done(session),
        "live": live_view(session),
        "undecided": [name for name in session.table.names if name in session.draft.undecided] if session.table else [],
        "people": session.people_now() if session.table else None,
        "history_place": session.history.place,
        "history_steps": session.history.steps,
        "jobs": {kind: describe_job(kind, job) for kind, job in session.jobs.items() if job.active},
    }


def live_view(session: Session) -> dict[str, Any]:
    """Return what the choices give, as far as it is known: the quick release of them, or the last one while it is made."""
    found, job = session.preview, session.jobs.get("preview")
    refused = found.get("fault") if found else None
    found = None if refused else found
    about = job is not None and job.about == session.preview_key
    if found is not None:
        session.last_preview = found
    return {
        "possible": session.draft.ready,
        "now": found,
        "last": found or session.last_preview,
        "making": about and job is not None and job.active,
        "compiling": job is not None and "compiling" in job.text,
        "fault": refused or (job.fault if about and job is not None and job.state == "failed" else None),
        "remarks": [
            {
                "words": one.words,
                "ways": [
                    {"name": way.name, "words": way.words, "price": price_words(session.prices, way.name, found)}
                    for way in one.ways
                ],
            }
            for one in session.remarks
        ],
        "tokens": len(session.draft.get("pseudonymize")),
    }


def price_words(prices: Mapping[str, Mapping[str, Any]], name: str, shown: Mapping[str, Any] | None) -> str:
    """Return what a way out gives instead of what is shown of the present choices, once both are measured.

    Ways out are measured on fewer rows than a large table's preview, next to the present choices; the difference is then given in
    whole percent, from what the preview shows.
    """
    now, then = prices.get(""), prices.get(name)
    if then is None or now is None:
        return ""
    if not then:
        return "gives no release"
    k = f"k stays {then['k']}" if now and now["k"] == then["k"] else f"k = {then['k']}"
    if not now or shown is None:
        return f"{k}, detail kept {percent(then['kept'])}"
    kept = min(max(shown["kept"] + then["kept"] - now["kept"], 0.0), 1.0)
    exact = now["kept"] == shown["kept"]
    before, after = (percent(one) if exact else f"{100 * one:.0f} %" for one in (shown["kept"], kept))
    return f"{k}, detail kept {'' if exact else 'about '}{after}" + ("" if before == after else f" instead of {before}")


def _done(session: Session) -> dict[str, bool]:
    made = session.release is not None
    return dict.fromkeys(STEPS, False) | {
        "open": session.table is not None,
        "columns": session.draft.ready and not session.draft.undecided,
        "protect": made,
        "publish": session.release is not None and session.release.number in session.releases.written,
    }
