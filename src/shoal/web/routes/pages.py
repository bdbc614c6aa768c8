"""The page itself, one address a step, and the stream of what happens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse

from shoal.web.routes import columns, compare, history, look, open_table, protect, publish, questions
from shoal.web.routes.common import Bench, Here
from shoal.web.routes.rendering import STEPS, render
from shoal.web.session import Session

router = APIRouter()
entrance = APIRouter()
"""Addresses that name no session: they lead to the newest."""

VIEWS: dict[str, Callable[[Session], dict[str, Any]]] = {
    "open": open_table.view,
    "columns": columns.view,
    "protect": protect.view,
    "compare": compare.view,
    "look": lambda session: look.view(session) | questions.view(session),
    "publish": publish.view,
    "recipe": history.view,
}


@router.get("/events")
async def events(session: Here) -> StreamingResponse:
    """Send the state of all work, then what happens, as long as the page listens."""
    return StreamingResponse(session.events.listen(session.standing), media_type="text/event-stream")


@router.get("/{step}", response_class=HTMLResponse)
async def show(step: str, request: Request, session: Here) -> HTMLResponse:
    """Show a step."""
    if step not in VIEWS:
        raise HTTPException(404)
    if step != "open" and session.table is None and step != "recipe":
        return RedirectResponse("open", status_code=303)  # type: ignore[return-value]
    return render(step, request, session, VIEWS[step](session))


@entrance.get("/")
async def start(workshop: Bench) -> RedirectResponse:
    """Go to the first step that is not done."""
    newest = workshop.newest
    return RedirectResponse(f"/{newest.number}/{'columns' if newest.table else 'open'}", status_code=303)


@entrance.get("/favicon.ico")
async def icon() -> Response:
    """There is none."""
    return Response(status_code=204)


entrance.get("/vega.js")(compare.vega)


@entrance.get("/{step}")
async def lead_on(step: str, request: Request, workshop: Bench) -> RedirectResponse:
    """Lead to a step of the newest session."""
    if step not in STEPS and step not in VIEWS:
        raise HTTPException(404)
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"/{workshop.newest.number}/{step}{query}", status_code=303)
