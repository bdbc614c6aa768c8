"""The page itself, one address a step, and the stream of what happens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse

from shoal.web.routes import columns, compare, history, look, open_table, protect, publish
from shoal.web.routes.common import Here
from shoal.web.routes.rendering import render
from shoal.web.session import Session

router = APIRouter()

VIEWS: dict[str, Callable[[Session], dict[str, Any]]] = {
    "open": open_table.view,
    "columns": columns.view,
    "protect": protect.view,
    "compare": compare.view,
    "look": look.view,
    "publish": publish.view,
    "recipe": history.view,
}


@router.get("/")
async def start(session: Here) -> RedirectResponse:
    """Go to the first step that is not done."""
    return RedirectResponse("/columns" if session.table else "/open", status_code=303)


@router.get("/events")
async def events(session: Here) -> StreamingResponse:
    """Tell how all work stands, then what happens, as long as the page listens."""
    return StreamingResponse(session.events.listen(session.standing), media_type="text/event-stream")


@router.get("/favicon.ico")
async def icon() -> Response:
    """There is none."""
    return Response(status_code=204)


@router.get("/{step}", response_class=HTMLResponse)
async def show(step: str, request: Request, session: Here) -> HTMLResponse:
    """Show a step."""
    if step not in VIEWS:
        raise HTTPException(404)
    if step != "open" and session.table is None and step != "recipe":
        return RedirectResponse("/open", status_code=303)  # type: ignore[return-value]
    return render(step, request, session, VIEWS[step](session))
