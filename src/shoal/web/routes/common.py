"""What all routes share."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Request

from shoal.web.jobs.lane import Job
from shoal.web.session import Session


def session_of(request: Request) -> Session:
    """Return the session of this server."""
    found: Session = request.app.state.session
    return found


Here = Annotated[Session, Depends(session_of)]
Answer = dict[str, Any]


def go(step: str | None = None, job: Job | None = None) -> Answer:
    """Tell the page to show a step anew, or the one it is at, and which job it may wait for."""
    return {"go": None if step is None else f"/{step}", "job": job.order.number if job else None}
