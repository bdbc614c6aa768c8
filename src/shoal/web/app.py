"""The web application: the guard in front, one router a step behind it."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterable
from importlib.resources import files
from typing import Any

from fastapi import Depends, FastAPI, Request
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
    questions,
)
from shoal.web.routes.common import OldError, check_edition
from shoal.web.workshop import Workshop

UNBOUNDED = ("/events", "/open/drop")
"""How paths end that stream, or take a file of any size; each has bounds of its own."""

ROUTED = (open_table, columns, hierarchies, orders, protect, compare, look, questions, publish, history, jobs, pages)


def create_app(workshop: Workshop, keys: Keys, hosts: Iterable[str]) -> Guard:
    """Return the application for one workshop, answering only to the names in ``hosts``."""

    @contextlib.asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        workshop.start()
        yield
        workshop.close()

    app = FastAPI(lifespan=life, docs_url=None, redoc_url=None, openapi_url=None)
    app.state.workshop, app.state.keys = workshop, keys
    app.add_exception_handler(ShoalError, _tell_error)
    app.add_exception_handler(RequestValidationError, _tell_misuse)
    app.mount("/static", StaticFiles(directory=str(files("shoal.web") / "static")), name="static")
    for module in ROUTED:
        app.include_router(module.router, prefix="/{number}", dependencies=[Depends(check_edition)])
    app.include_router(pages.entrance)
    return Guard(app, keys, hosts, UNBOUNDED)


async def _tell_error(request: Request, fault: Any) -> JSONResponse:
    """Return the sentence of a refusal; for a change that is an answer, and no error in the browser's console."""
    told = {"message": fault.message, "hint": fault.hint, "old": False}
    if isinstance(fault, OldError):
        told |= {"old": True, **(fault.now or {})}
    if request.method == "POST":
        return JSONResponse({"refused": told})
    return JSONResponse(told, status_code=400)


async def _tell_misuse(_: Request, fault: Any) -> JSONResponse:
    """Name the field that is wrong, never what was in it."""
    place = ".".join(str(part) for part in fault.errors()[0]["loc"][1:])
    return JSONResponse({"message": f"The page sent something unexpected in {place!r}.", "hint": None}, 422)
