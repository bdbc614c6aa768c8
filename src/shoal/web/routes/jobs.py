"""Ending work that takes long."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter

from shoal.web.routes.common import Answer, Here, free, go

router = APIRouter()


@router.post("/jobs/{kind}/cancel")
@free
async def cancel(kind: Literal["open", "protect", "compare", "questions", "publish"], session: Here) -> Answer:
    """End a job at once and leave everything else as it is."""
    session.cancel(kind)
    return go(session)


@router.post("/jobs/{kind}/stop")
@free
async def stop(kind: Literal["protect"], session: Here) -> Answer:
    """Let a search end with the best it has found."""
    job = session.jobs.get(kind)
    if job is not None:
        session.workshop.search.stop(job)
    return go(session)
