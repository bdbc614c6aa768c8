"""What all sessions of a server share: the folders, the tables that were read, the workers and the server's loop."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.web.draft import Draft, Source
from shoal.web.identity import Stamp, digest_file, stamp_files
from shoal.web.jobs.worker import explain_fault
from shoal.web.jobs.worker_queue import Job, WorkerQueue
from shoal.web.stored import StoredTable

if TYPE_CHECKING:
    from shoal.web.session import Session

_log = logging.getLogger("shoal.web")
_MOST_TABLES = 8
_MOST_PREVIEWS = 60
_LONGEST_QUESTION = 280.0
_BETWEEN_LOOKS = 2.0
"""Seconds between two looks at the stamps of the files that are open."""


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
    identity: str = ""
    """Distinguishes its content from any other."""
    stamp: Stamp = ()
    """What the system said about its file when it was read."""

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


class Workshop:
    """One server: its sessions, one for each table somebody works on, and what they share."""

    def __init__(self, folder: Path, private: Path, draft: Draft | None = None) -> None:
        self.folder, self.private = folder, private
        self.salt = secrets.token_bytes(16)
        self.tables: dict[str, Table] = {}
        self.people: dict[tuple[str, ...], dict[str, Any]] = {}
        """Whom quasi-identifiers single out, by table, person and columns."""
        self.values: dict[tuple[str, str], dict[str, int]] = {}
        """How often each value occurs, by table and column."""
        self.previews: dict[str, dict[str, Any]] = {}
        """What choices give, by table, recipe and the rows shown."""
        self.prices: dict[str, dict[str, dict[str, Any]]] = {}
        """What the ways out of remarks give, by the choices they start from."""
        self.points: dict[str, list[dict[str, Any]]] = {}
        """The points of comparisons, by what they have in common."""
        self.desk = WorkerQueue(self._heard, ends_older=False)
        """Quick questions: reading, counting, explaining."""
        self.search = WorkerQueue(self._heard, ends_older=True)
        """Long searches: releases and comparisons."""
        self.sketch = WorkerQueue(self._heard, ends_older=False)
        """Quick releases that show what the choices give; a newer one stops the one that runs."""
        self.sessions: dict[int, Session] = {}
        self._stamps: dict[str, tuple[Stamp, bool]] = {}
        """By table: the stamp of its file when it was last looked at, and whether the content was another."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._watching: asyncio.Task[None] | None = None
        self._names = itertools.count(1)
        self._numbers = itertools.count(1)
        self.newest = self.begin(next(self._numbers), draft)

    def begin(self, number: int, draft: Draft | None = None) -> Session:
        """Begin another session; it is the one that an address without a number leads to."""
        from shoal.web.session import Session  # noqa: PLC0415  (a session knows its workshop)

        self.sessions[number] = self.newest = Session(self, number, draft)
        return self.newest

    def new_number(self) -> int:
        """Return the number of a session that may begin."""
        return next(self._numbers)

    def on_source(self, source: Source) -> Session | None:
        """Return the session that works on the same file or table, read in the same way."""
        alike = (
            one for one in self.sessions.values() if one.draft.source and one.draft.source.place_key == source.place_key
        )
        return next(alike, None)

    def start(self) -> None:
        """Begin, inside the server's loop; the workers wake up meanwhile."""
        self._loop = asyncio.get_running_loop()
        self.desk.warm()
        self.search.warm()
        self.sketch.warm()
        self._watching = self._loop.create_task(self._watch())
        self._loop.run_in_executor(None, import_module, "shoal.compare")  # heavy: ready before it is asked for

    def close(self) -> None:
        """End the workers and the streams."""
        if self._watching is not None:
            self._watching.cancel()
        for session in self.sessions.values():
            session.events.close()
        self.desk.close()
        self.search.close()
        self.sketch.close()

    # --- work --------------------------------------------------------------------------------------------------

    async def ask(self, task: str, **given: Any) -> Any:
        """Put a quick question to the desk and wait for the answer."""
        job = self.desk.submit(f"{task}-{next(self._names)}", task, **given)
        answer = asyncio.wrap_future(job.future)
        try:
            return await asyncio.wait_for(asyncio.shield(answer), _LONGEST_QUESTION)
        except TimeoutError:
            self.desk.cancel(job)
            raise

    def new_name(self) -> str:
        """Return a name for a private file."""
        return f"{next(self._names):06d}"

    def _heard(self, job: Job) -> None:
        self.in_loop(self._tell_job, job)

    def _tell_job(self, job: Job) -> None:
        for session in self.sessions.values():
            session.tell_job(job)

    def in_loop(self, call: Callable[..., None], *given: Any) -> None:
        """Call something in the server's loop, from any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._call, call, given)

    def _call(self, call: Callable[..., None], given: tuple[Any, ...]) -> None:
        """Do what a worker's news ask for; the loop itself would write cells of the table into its log."""
        try:
            call(*given)
        except Exception as fault:  # noqa: BLE001
            message, hint = explain_fault(fault)
            _log.error("%s", message)
            for session in self.sessions.values():
                session.events.publish("fault", {"message": message, "hint": hint})

    def keep_preview(self, key: str, found: dict[str, Any]) -> None:
        """Keep what choices give, and let go of what was longest ago."""
        self.previews[key] = found
        while len(self.previews) > _MOST_PREVIEWS:
            oldest = next(iter(self.previews))
            self.previews.pop(oldest)
            self.prices.pop(oldest, None)

    # --- tables ------------------------------------------------------------------------------------------------

    def keep_table(self, source: Source, found: dict[str, Any]) -> Source:
        """Keep a table that was read; return its source with the identity of its content."""
        table = Table(**found)
        known = source.known_as(table.identity)
        while len(self.tables) >= _MOST_TABLES and known.key not in self.tables:
            oldest = self.tables.pop(next(iter(self.tables)))
            Path(oldest.stored.path).unlink(missing_ok=True)
        self.tables[known.key] = table
        self._stamps[known.key] = (table.stamp, False)
        return known

    def has_changed(self, source: Source) -> bool:
        """Return whether the content of an open table was found to be another than the one that was read."""
        return self._stamps.get(source.key, ((), False))[1]

    async def look_again(self, source: Source) -> bool:
        """Look at the file of an open table; return whether its content is another than the one that was read.

        A file whose stamp is as before is not read. A database on a server has no stamp: its rows are compared when it is
        opened again and before anything is written.
        """
        before, changed = self._stamps.get(source.key, ((), False))
        if not source.files or source.key not in self.tables:
            return changed
        stamp = stamp_files(source.files)
        if stamp != before:
            changed = await self._identity(source) != source.identity
            self._stamps[source.key] = (stamp, changed)
        return changed

    async def compare_content(self, source: Source) -> bool:
        """Like ``look_again``, also if only reading the rows shows a change."""
        if source.place != "database" or source.key not in self.tables:
            return await self.look_again(source)
        changed = await self._identity(source) != source.identity
        self._stamps[source.key] = (stamp_files(source.files), changed)
        return changed

    async def _identity(self, source: Source) -> str:
        if source.place == "database":
            found: str = await self.ask("identify", path=source.path, options=dict(source.options), salt=self.salt)
            return found
        return await asyncio.to_thread(digest_file, source.path, self.salt)

    async def _watch(self) -> None:
        """Look at the files of all sessions now and then, and notify the pages when one has changed."""
        while True:
            await asyncio.sleep(_BETWEEN_LOOKS)
            for session in list(self.sessions.values()):
                with contextlib.suppress(Exception):  # a look that fails is repeated; each change looks again
                    await session.look_at_source()
