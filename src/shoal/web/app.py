"""The web application: the guard in front, one router a step behind it."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterable
from importlib.resources import files
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.staticfiles import StaticFiles

from shoal.errors import ShoalError
from shoal.web.guard import Guard, Keys
from shoal.web.routes import (
    columns,
    compare,
    hierarchies,
    history,
    jobs,
    look,
    open_table,
    orders,
    pages,
    protect,
    publish,
)
from shoal.web.session import Session

UNBOUNDED = ("/events", "/open/drop")
"""Paths that stream, or take a file of any size; each has bounds of its own."""

ROUTED = (open_table, columns, hierarchies, orders, protect, compare, look, publish, history, jobs, pages)


def create_app(session: Session, keys: Keys, hosts: Iterable[str]) -> Guard:
    """Return the application for one session, answering only to the names in ``hosts``."""

    @contextlib.asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        session.start()
        yield
        session.close()

    app = FastAPI(lifespan=life, docs_url=None, redoc_url=None, openapi_url=None)
    app.state.session, app.state.keys = session, keys
    app.add_exception_handler(ShoalError, _tell_error)
    app.add_exception_handler(RequestValidationError, _tell_misuse)
    app.mount("/static", StaticFiles(directory=str(files("shoal.web") / "static")), name="static")
    for module in ROUTED:
        app.include_router(module.router)
    return Guard(app, keys, hosts, UNBOUNDED)


async def _tell_error(request: Request, fault: Any) -> JSONResponse:
    """Say in a sentence what was refused; for a change that is an answer, and no fault in the browser's console."""
    told = {"message": fault.message, "hint": fault.hint}
    if request.method == "POST":
        return JSONResponse({"refused": told})
    return JSONResponse(told, status_code=400)


async def _tell_misuse(_: Request, fault: Any) -> JSONResponse:
    """Name the field that is wrong, never what was in it."""
    place = ".".join(str(part) for part in fault.errors()[0]["loc"][1:])
    return JSONResponse({"message": f"The page sent something unexpected in {place!r}.", "hint": None}, 422)
