"""Ending work that takes long."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter

from shoal.web.routes.common import Answer, Here, go

router = APIRouter()


@router.post("/jobs/{kind}/cancel")
async def cancel(kind: Literal["open", "protect", "compare", "publish"], session: Here) -> Answer:
    """End a job at once and leave everything else as it is."""
    session.cancel(kind)
    return go()


@router.post("/jobs/{kind}/stop")
async def stop(kind: Literal["protect"], session: Here) -> Answer:
    """Let a search end with the best it has found."""
    job = session.jobs.get(kind)
    if job is not None:
        session.search.stop(job)
    return go()
