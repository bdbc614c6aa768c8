"""What all routes share."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, HTTPException, Request

from shoal.errors import ParameterError
from shoal.web.draft import Draft
from shoal.web.jobs.worker_queue import Job
from shoal.web.session import Session
from shoal.web.workshop import Workshop

EDITION_HEADER = "x-shoal-edition"


class OldError(ParameterError):
    """A change that was made on something that is no longer so; it names what is, where the page may go on from that."""

    now: dict[str, Any] | None = None


def workshop_of(request: Request) -> Workshop:
    """Return what this server works on."""
    found: Workshop = request.app.state.workshop
    return found


def session_of(request: Request) -> Session:
    """Return the session that the address names."""
    number = request.path_params.get("number", "")
    found = workshop_of(request).sessions.get(int(number)) if number.isdigit() else None
    if found is None:
        raise HTTPException(404)
    return found


Here = Annotated[Session, Depends(session_of)]
Bench = Annotated[Workshop, Depends(workshop_of)]
Answer = dict[str, Any]


async def check_edition(request: Request, session: Here) -> None:
    """Refuse a change that was made on an older state than the one that counts, or on a table that is another by now.

    Each change names the edition that its tab shows. Only what changes no choice and writes nothing needs none (``free``).
    """
    if request.method != "POST" or getattr(request.scope["route"].endpoint, "free", False):
        return
    await session.look_at_source()
    source = session.draft.source
    if session.changed_source and source is not None:
        raise OldError(f"{source.name} has changed since it was read. Nothing was done.", hint="read it again first.")
    given = request.headers.get(EDITION_HEADER, "")
    if given != str(session.history.edition):
        refusal = OldError(
            "This tab shows an earlier state: something was changed in another one. Nothing was done.",
            hint="look at what is shown now, and repeat it if it is still wanted.",
        )
        refusal.now = {"edition": session.history.edition, "table": source.identity if source else ""}
        raise refusal
    session.workshop.newest = session


def check_draft(draft: Draft) -> None:
    """Refuse choices that the library does not take, in its own words; a key may not be chosen yet."""
    import shoal  # noqa: PLC0415
    from shoal.api import recipe_parameters  # noqa: PLC0415  (heavy; the first page is shown without it)

    if draft.ready:
        shoal.Anonymizer(**recipe_parameters(draft.recipe()) | {"pseudonymize": []})


def free(route: Any) -> Any:
    """Let a route be asked on any edition: opening a table, ending work, looking again."""
    route.free = True
    return route


def go(session: Session, step: str | None = None, job: Job | None = None, at: int | None = None) -> Answer:
    """Return to the page the edition that it made, which step to show (none: the one it is at), and which job it may wait for.

    ``at`` is the session the step is of, if it may be another.
    """
    place = "" if at is None else f"/{at}/"
    return {
        "go": None if step is None else f"{place}{step}",
        "job": job.order.number if job else None,
        "edition": session.history.edition,
    }
