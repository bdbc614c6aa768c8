"""What the page knows, shared by all its tabs: the history of drafts, tables, releases and running work.

Everything here happens in the server's loop; workers are heard through it.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from shoal.errors import ColumnError, ParameterError
from shoal.web.draft import Draft, Source, opened
from shoal.web.events import Event, Events
from shoal.web.history import History, Step
from shoal.web.jobs.lane import Job, Lane
from shoal.web.jobs.worker import explain_fault
from shoal.web.releases import Made, Releases
from shoal.web.stored import StoredTable

_log = logging.getLogger("shoal.web")
_MOST_TABLES = 8
_LONGEST_QUESTION = 280.0


@dataclass(frozen=True)
class Table:
    """A table that was opened."""

    stored: StoredTable
    records: int
    columns: list[dict[str, Any]]
    """What each column looks like: ``shoal.inspection.ColumnView`` as plain values, and a few cells."""
    understood: dict[str, Any]
    hierarchies: dict[str, str]
    person: str | None = None
    """The column that seems to name the same people in several rows."""

    @property
    def guessed(self) -> dict[str, str]:
        """The role each column seems to have."""
        return {
            column["name"]: "person" if column["name"] == self.person else column["role"] for column in self.columns
        }

    @property
    def names(self) -> list[str]:
        """The column names."""
        return [column["name"] for column in self.columns]


class Session:
    """One server's one piece of work."""

    def __init__(self, folder: Path, private: Path, draft: Draft | None = None) -> None:
        self.folder, self.private = folder, private
        self.history: History[Draft] = History([Step(draft or Draft(), "the beginning")])
        self.events = Events()
        self.tables: dict[str, Table] = {}
        self.releases = Releases()
        self.offered: tuple[str, list[str]] | None = None
        """A database and its tables, of which one is to be chosen."""
        self.saved = ""
        """The recipe file that was written last."""
        self.people: dict[tuple[str, ...], dict[str, Any]] = {}
        self.values: dict[tuple[str, str], dict[str, int]] = {}
        """How often each value occurs, by table and column."""
        self.points: dict[str, list[dict[str, Any]]] = {}
        """The points of comparisons, by what they have in common."""
        self.jobs: dict[str, Job] = {}
        """The newest job of each kind."""
        self.desk = Lane(self._heard, ends_older=False)
        """Quick questions: reading, counting, explaining."""
        self.search = Lane(self._heard, ends_older=True)
        """Long searches: releases and comparisons."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._names = itertools.count(1)

    def start(self) -> None:
        """Begin, inside the server's loop; the workers wake up meanwhile."""
        self._loop = asyncio.get_running_loop()
        self.desk.warm()
        self.search.warm()
        self._loop.run_in_executor(None, import_module, "shoal.compare")  # heavy: ready before it is asked for

    def close(self) -> None:
        """End the workers and the streams."""
        self.events.close()
        self.desk.close()
        self.search.close()

    # --- state -------------------------------------------------------------------------------------------------

    @property
    def draft(self) -> Draft:
        """The draft that counts now."""
        return self.history.state

    @property
    def table(self) -> Table | None:
        """The table the draft is about, once it is read."""
        source = self.draft.source
        return self.tables.get(source.key) if source else None

    def need_table(self) -> Table:
        """Return the table, or say that none is open."""
        if self.table is None:
            raise ParameterError("No table is open yet.", hint="choose one in the first step.")
        return self.table

    def change(self, draft: Draft, words: str) -> None:
        """Make a step of the history and tell all pages; what failed before it is no longer told."""
        self.jobs = {kind: job for kind, job in self.jobs.items() if job.state != "failed"}
        self.history.add(draft, words)
        self.changed()

    def go(self, place: int) -> None:
        """Go to another place of the history; a table that was let go is read again."""
        self.history.go(place)
        source = self.draft.source
        if source is not None and self.table is None:
            self._read(source)
        self.changed()

    def changed(self) -> None:
        """Tell all pages that there is something new, and count whom the columns single out."""
        self.events.publish("state", {"version": self.history.version})
        self._count_people()

    def touch(self) -> None:
        """Tell all pages to look again although the draft is the same."""
        self.history.version += 1
        self.events.publish("state", {"version": self.history.version})

    def standing(self) -> list[Event]:
        """Return what a page must know to be up to date."""
        return [
            ("state", {"version": self.history.version}),
            ("jobs", [describe_job(job) for job in self.jobs.values()]),
        ]

    # --- work --------------------------------------------------------------------------------------------------

    def run(self, lane: Lane, kind: str, task: str, then: Callable[[Any], None], **given: Any) -> Job:
        """Start a job; ``then`` gets its result, in the server's loop. The newest job of its kind wins."""
        job = lane.submit(kind, task, self._part_hearer(given.pop("on_part", None)), **given)
        self.jobs[kind] = job

        def finish(_: Any) -> None:
            if job.state == "done" and self.jobs.get(kind) is job:
                self._in_loop(then, job.future.result())

        job.future.add_done_callback(finish)
        return job

    async def ask(self, task: str, **given: Any) -> Any:
        """Put a quick question to the desk and wait for the answer."""
        job = self.desk.submit(f"{task}-{next(self._names)}", task, **given)
        answer = asyncio.wrap_future(job.future)
        try:
            return await asyncio.wait_for(asyncio.shield(answer), _LONGEST_QUESTION)
        except TimeoutError:
            self.desk.cancel(job)
            raise

    def cancel(self, kind: str) -> None:
        """End the newest job of a kind, if it is not over."""
        job = self.jobs.get(kind)
        if job is not None and job.active:
            for lane in (self.desk, self.search):
                lane.cancel(job)

    def new_name(self) -> str:
        """Return a name for a private file."""
        return f"{next(self._names):06d}"

    def _part_hearer(self, hear: Callable[[Any], None] | None) -> Callable[[Any], None] | None:
        return None if hear is None else lambda value: self._in_loop(hear, value)

    def _heard(self, job: Job) -> None:
        self._in_loop(self._tell_job, job)

    def _tell_job(self, job: Job) -> None:
        if self.jobs.get(job.kind) is job:
            self.events.publish("job", describe_job(job))

    def _in_loop(self, call: Callable[..., None], *given: Any) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._call, call, given)

    def _call(self, call: Callable[..., None], given: tuple[Any, ...]) -> None:
        """Do what a worker's news ask for; the loop itself would write cells of the table into its log."""
        try:
            call(*given)
        except Exception as fault:  # noqa: BLE001
            message, hint = explain_fault(fault)
            _log.error("%s", message)
            self.events.publish("fault", {"message": message, "hint": hint})

    # --- tables ------------------------------------------------------------------------------------------------

    def open(self, source: Source) -> Job | None:
        """Read a table; when it is there, the draft is about it. No job is needed for one that is there already."""
        if source.key not in self.tables:
            return self._read(source, lambda: self._opened(source))
        self._opened(source)
        return None

    def _read(self, source: Source, then: Callable[[], None] | None = None) -> Job:
        def keep(found: dict[str, Any]) -> None:
            self._let_go_of_oldest()
            self.tables[source.key] = Table(**found)
            if then:
                then()
            else:
                self.changed()

        return self.run(
            self.desk, "open", "open_table", keep,
            place=source.place, path=source.path, options=dict(source.options),
            folder=str(self.private), name=self.new_name(),
        )  # fmt: skip

    def _let_go_of_oldest(self) -> None:
        while len(self.tables) >= _MOST_TABLES:
            oldest = self.tables.pop(next(iter(self.tables)))
            Path(oldest.stored.path).unlink(missing_ok=True)

    def _opened(self, source: Source) -> None:
        self.offered = None
        table = self.tables[source.key]
        draft = opened(self.draft, source, table.guessed)
        if table.hierarchies and not draft.get("hierarchies"):
            draft = replace(draft, content={**draft.content, "hierarchies": table.hierarchies})
        self.change(draft, f"{source.name} opened")

    async def count_values(self, column: str) -> dict[str, int]:
        """Return how often each value of a column occurs."""
        table, source = self.need_table(), self.draft.source
        if column not in table.names or source is None:
            raise ColumnError(f"The table has no column {column!r}.")
        key = (source.key, column)
        if key not in self.values:
            self.values[key] = await self.ask("count_values", table=table.stored, column=column)
        return self.values[key]

    # --- releases ----------------------------------------------------------------------------------------------

    @property
    def release_key(self) -> str:
        """What a release depends on: the table and the recipe."""
        source = self.draft.source
        if not self.draft.ready:
            return ""
        return digest(source.key if source else "", self.draft.recipe().model_dump_json(), self.draft.key_file)

    @property
    def release(self) -> Made | None:
        """The release that belongs to the draft, if it was made."""
        return self.releases.made.get(self.release_key)

    def need_release(self) -> Made:
        """Return the release, or say that it is not made."""
        if self.release is None:
            raise ParameterError("There is no release of this recipe yet.", hint="make it in the step Protect.")
        return self.release

    def make_release(self) -> Job:
        """Make the release that the draft describes."""
        key = self.release_key
        recipe = self.draft.recipe()

        def keep(found: dict[str, Any]) -> None:
            self.releases.add(key, Made(**found))
            self.touch()

        return self.run(
            self.search, "protect", "make_release", keep,
            table=self.need_table().stored, recipe=recipe.model_dump(exclude_unset=True), key=self.draft.key_file,
            folder=str(self.private / f"release-{self.new_name()}"),
        )  # fmt: skip

    @property
    def own_hierarchies(self) -> list[str]:
        """The columns whose hierarchy was made on the page, and lies in a private file."""
        chosen = self.draft.get("hierarchies").items()
        return [column for column, choice in chosen if str(choice).startswith(str(self.private))]

    # --- people ------------------------------------------------------------------------------------------------

    def people_now(self) -> dict[str, Any] | None:
        """Return whom the chosen quasi-identifiers single out, as far as it is counted."""
        key = self._people_key()
        return self.people.get(key) if key else None

    def _people_key(self) -> tuple[str, ...] | None:
        known = self.draft.get("quasi_identifiers")
        if self.draft.source is None or not known:
            return None
        return (self.draft.source.key, self.draft.get("person") or "", *sorted(known))

    def _count_people(self) -> None:
        key, table = self._people_key(), self.table
        if key is None or table is None or key in self.people:
            return

        def keep(found: dict[str, Any]) -> None:
            self.people[key] = found
            self.touch()

        columns = [name for name in table.names if name in key[2:]]
        self.run(
            self.desk, "people", "count_people", keep, on_part=keep,
            table=table.stored, columns=columns, person=self.draft.get("person"),
        )  # fmt: skip


def describe_job(job: Job) -> dict[str, Any]:
    """Return how a job stands, for the page."""
    message, hint = job.fault or (None, None)
    return {
        "kind": job.kind,
        "number": job.order.number,
        "state": job.state,
        "share": job.share,
        "text": job.text,
        "left": job.seconds_left,
        "message": message,
        "hint": hint,
    }


def digest(*parts: Any) -> str:
    """Return a short name for what ``parts`` say."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:24]
