"""The work on one table, shared by all tabs that show it: the history of drafts, releases and running work.

Tabs with different tables belong to different sessions. Everything here happens in the server's loop; workers are heard through it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from shoal.errors import ColumnError, ParameterError
from shoal.recipe import Recipe, recipe_inputs
from shoal.web.controls import Line, lines
from shoal.web.draft import Draft, Source, opened
from shoal.web.events import Event, Events
from shoal.web.fixes import Remark, remarks
from shoal.web.history import History, Step
from shoal.web.identity import stamp_files
from shoal.web.jobs.worker_queue import Job, WorkerQueue
from shoal.web.releases import Made, Releases
from shoal.web.workshop import Table, Workshop


class Session:
    """The work on one table."""

    def __init__(self, workshop: Workshop, number: int, draft: Draft | None = None) -> None:
        self.workshop, self.number = workshop, number
        self.history: History[Draft] = History([Step(draft or Draft(), "the beginning")])
        self.events = Events()
        self.releases = Releases()
        self.offered: tuple[str, list[str]] | None = None
        """A database and its tables, of which one is to be chosen."""
        self.first_row = 0
        """Which rows are shown before and after."""
        self.last_preview: dict[str, Any] | None = None
        """What was shown last of the choices; it stays in view while that of newer ones is made."""
        self.asked: tuple[str, ...] = ()
        """The analyses that were asked for last."""
        self.answers: dict[int, dict[str, Any]] = {}
        """What they found, by the number of the release."""
        self.compared: tuple[str, tuple[str, ...]] = ("", ())
        """The sizes and methods that were compared last."""
        self.saved = ""
        """The recipe file that was written last."""
        self.jobs: dict[str, Job] = {}
        """The newest job of each kind."""
        self.changed_source = False
        """Whether the content of the table's source is another than the one that was read."""

    @property
    def folder(self) -> Path:
        """The folder the page was started in."""
        return self.workshop.folder

    @property
    def private(self) -> Path:
        """The folder that only this server reads."""
        return self.workshop.private

    # --- state -------------------------------------------------------------------------------------------------

    @property
    def draft(self) -> Draft:
        """The draft that counts now."""
        return self.history.state

    @property
    def table(self) -> Table | None:
        """The table the draft is about, once it is read."""
        source = self.draft.source
        return self.workshop.tables.get(source.key) if source else None

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
        self.changed_source = source is not None and self.workshop.has_changed(source)
        if source is not None and self.table is None:
            self._bring_back(source)
        self.changed()

    def changed(self) -> None:
        """Tell all pages that there is something new, and count whom the columns single out."""
        self.events.publish("state", {"version": self.history.version})
        self._count_people()
        self.make_preview()

    def touch(self) -> None:
        """Tell all pages to look again although the draft is the same."""
        self.history.version += 1  # the edition stays: nothing that was chosen has changed
        self.events.publish("state", {"version": self.history.version})

    def standing(self) -> list[Event]:
        """Return what a page must know to be up to date."""
        return [
            ("state", {"version": self.history.version}),
            ("jobs", [describe_job(kind, job) for kind, job in self.jobs.items()]),
        ]

    # --- work --------------------------------------------------------------------------------------------------

    def run(self, queue: WorkerQueue, kind: str, task: str, then: Callable[[Any], None], **given: Any) -> Job:
        """Start a job; ``then`` gets its result, in the server's loop. The newest job of its kind wins."""
        on_part = self._part_hearer(given.pop("on_part", None))
        job = queue.submit(f"{kind} {self.number}", task, on_part, **given)
        self.jobs[kind] = job

        def finish(_: Any) -> None:
            if job.state == "done" and self.jobs.get(kind) is job:
                self.workshop.in_loop(then, job.future.result())

        job.future.add_done_callback(finish)
        return job

    async def ask(self, task: str, **given: Any) -> Any:
        """Put a quick question to the desk and wait for the answer."""
        return await self.workshop.ask(task, **given)

    def cancel(self, kind: str) -> None:
        """End the newest job of a kind, if it is not over."""
        job = self.jobs.get(kind)
        if job is not None and job.active:
            for queue in (self.workshop.desk, self.workshop.search):
                queue.cancel(job)

    def _part_hearer(self, hear: Callable[[Any], None] | None) -> Callable[[Any], None] | None:
        return None if hear is None else lambda value: self.workshop.in_loop(hear, value)

    def tell_job(self, job: Job) -> None:
        """Send the pages the state of a job, if it is the newest of its kind here."""
        for kind, own in self.jobs.items():
            if own is job:
                self.events.publish("job", describe_job(kind, job))

    # --- tables ------------------------------------------------------------------------------------------------

    async def open(self, source: Source) -> tuple[int, Job | None]:
        """Open a table, each in a session of its own; return the session's number and the job that reads, if one has to.

        A table that is open already is not read again, unless its content is another by now.
        """
        there = self.workshop.on_source(source)
        if there is not None and there.draft.source is not None and there.table is not None:
            now = there.draft.source
            if dict(now.options) == dict(source.options) and not await self.workshop.compare_content(now):
                self.workshop.newest = there
                return there.number, None
        target = there or (self if self.draft.source is None else None)
        number = target.number if target else self.workshop.new_number()

        def opened_now(known: Source) -> None:
            home = target or self.workshop.begin(number, Draft(key=self.draft.key))
            self.workshop.newest = home
            home.opened(known)

        job = self._read(source, opened_now)
        return number, job

    def read_again(self, source: Source) -> Job:
        """Read the table of this session again, as it is now or in another way."""
        return self._read(source, self.opened)

    def _read(self, source: Source, then: Callable[[Source], None]) -> Job:
        return self.run(
            self.workshop.desk, "open", "open_table",
            lambda found: then(self.workshop.keep_table(source, found)),
            place=source.place, path=source.path, options=dict(source.options), files=source.files,
            folder=str(self.private), name=self.workshop.new_name(), salt=self.workshop.salt,
        )  # fmt: skip

    def _bring_back(self, source: Source) -> None:
        """Read a table again that was let go; what is there now may be another content."""

        def keep(known: Source) -> None:
            self.history.amend(replace(self.draft, source=known))
            self.changed_source = False
            self.changed()

        self._read(source, keep)

    def opened(self, source: Source) -> None:
        """Let the draft be about a table that was read."""
        self.offered = None
        self.changed_source = False
        self.last_preview = None
        table = self.workshop.tables[source.key]
        again = self.draft.source is not None and self.draft.source.place_key == source.place_key
        draft = opened(self.draft, source, table.guessed)
        draft = draft.with_types({column["name"]: column["type"] for column in table.columns})
        if table.hierarchies and not draft.get("hierarchies"):
            draft = replace(draft, content={**draft.content, "hierarchies": table.hierarchies})
        self.change(draft, f"{source.name} read again" if again else f"{source.name} opened")

    async def look_at_source(self, *, thoroughly: bool = False) -> None:
        """Look whether the source of the table still has the content that was read, and tell the pages if not."""
        source = self.draft.source
        if source is None or self.table is None:
            return
        look = self.workshop.compare_content if thoroughly else self.workshop.look_again
        changed = await look(source)
        if changed != self.changed_source and source == self.draft.source:
            self.changed_source = changed
            self.touch()

    async def count_values(self, column: str) -> dict[str, int]:
        """Return how often each value of a column occurs."""
        table, source = self.need_table(), self.draft.source
        if column not in table.names or source is None:
            raise ColumnError(f"The table has no column {column!r}.")
        key, values = (source.key, column), self.workshop.values
        if key not in values:
            values[key] = await self.ask("count_values", table=table.stored, column=column)
        return values[key]

    # --- releases ----------------------------------------------------------------------------------------------

    @property
    def release_key(self) -> str:
        """What a release depends on: the content of the table, the recipe, and the files that the recipe names."""
        source = self.draft.source
        if not self.draft.ready:
            return ""
        recipe = self.draft.recipe()
        read = stamp_files(recipe_inputs(recipe))
        return digest(source.key if source else "", recipe.model_dump_json(), self.draft.key_file, read)

    @property
    def release(self) -> Made | None:
        """The release that belongs to the draft, if it was made."""
        return self.releases.of(self.release_key)

    def need_release(self, number: int | None = None) -> Made:
        """Return the release, or say that it is not made; with a number, or that another is meant."""
        if self.release is None:
            raise ParameterError("There is no release of this recipe yet.", hint="make it in the step Protect.")
        if number is not None and number != self.release.number:
            raise ParameterError(
                f"This tab shows release {number}, but release {self.release.number} has taken its place.",
                hint="look at the newer one first.",
            )
        return self.release

    @property
    def preview_key(self) -> str:
        """What a quick release depends on: as a release, except the effort, and the rows that are shown."""
        source = self.draft.source
        if self.table is None or not self.draft.ready:
            return ""
        recipe = _quick(self.draft)
        read = stamp_files(recipe_inputs(recipe))
        return digest(source.key if source else "", recipe.model_dump_json(), read, self.first_row)

    @property
    def preview(self) -> dict[str, Any] | None:
        """What the choices give, as far as it is known."""
        return self.workshop.previews.get(self.preview_key)

    def make_preview(self) -> None:
        """Make a quick release of what is chosen now, unless it is known; one of earlier choices is stopped."""
        key, table = self.preview_key, self.table
        known = self.workshop.previews.get(key)
        if not key or table is None or (known and not known["rough"]) or self.changed_source:
            return
        for kind in ("preview", "price"):
            before = self.jobs.get(kind)
            if before is not None and before.active:
                self.workshop.sketch.stop(before)

        def keep(found: dict[str, Any] | None) -> None:
            if found is not None:
                self.workshop.keep_preview(key, found)
                self.touch()
                if key == self.preview_key and not found["rough"]:
                    self._price_ways(key)

        job = self.run(
            self.workshop.sketch, "preview", "preview", keep, on_part=keep,
            table=table.stored, recipe=_quick(self.draft).model_dump(exclude_unset=True), first=self.first_row,
        )  # fmt: skip
        job.about = key

    @property
    def remarks(self) -> list[Remark]:
        """What calls for a second look, with the ways out."""
        if self.table is None or not self.draft.ready:
            return []
        return remarks(self.draft, self.table.columns, (self.preview or {}).get("remarks", ()))

    @property
    def prices(self) -> dict[str, dict[str, Any]]:
        """What each way out gives, by its name; the present choices have none."""
        return self.workshop.prices.get(self.preview_key, {})

    def _price_ways(self, key: str) -> None:
        """Measure what the remedies give, compared with the present choices."""
        drafts = {"": self.draft} | {way.name: way.draft for one in self.remarks for way in one.ways}
        if len(drafts) == 1 or len(self.workshop.prices.get(key, ())) == len(drafts):
            return

        def keep(found: dict[str, dict[str, Any]]) -> None:
            self.workshop.prices[key] = found
            self.touch()

        recipes = {name: _quick(one).model_dump(exclude_unset=True) for name, one in drafts.items() if one.ready}
        self.run(
            self.workshop.sketch, "price", "prices", keep, on_part=keep, table=self.need_table().stored, recipes=recipes
        )

    def make_release(self) -> Job:
        """Make the release that the draft describes."""
        key, draft = self.release_key, self.draft
        recipe = draft.recipe()

        def keep(found: dict[str, Any]) -> None:
            self.releases.add(key, draft, found)
            self.touch()

        return self.run(
            self.workshop.search, "protect", "make_release", keep,
            table=self.need_table().stored, recipe=recipe.model_dump(exclude_unset=True), key=draft.key_file,
            folder=str(self.private / f"release-{self.workshop.new_name()}"),
        )  # fmt: skip

    @property
    def unshown(self) -> list[Line]:
        """What the recipe says and no control shows."""
        return lines(self.draft, self.types)

    @property
    def types(self) -> dict[str, str]:
        """The type of each column, as it was found."""
        return {column["name"]: column["type"] for column in self.table.columns} if self.table else {}

    @property
    def own_hierarchies(self) -> list[str]:
        """The columns whose hierarchy was made on the page, and is in a private file."""
        chosen = self.draft.get("hierarchies").items()
        return [column for column, choice in chosen if str(choice).startswith(str(self.private))]

    # --- people ------------------------------------------------------------------------------------------------

    def people_now(self) -> dict[str, Any] | None:
        """Return whom the chosen quasi-identifiers single out, as far as it is counted."""
        key = self._people_key()
        return self.workshop.people.get(key) if key else None

    def _people_key(self) -> tuple[str, ...] | None:
        known = self.draft.get("quasi_identifiers")
        if self.draft.source is None or not known:
            return None
        return (self.draft.source.key, self.draft.get("person") or "", *sorted(known))

    def _count_people(self) -> None:
        key, table = self._people_key(), self.table
        if key is None or table is None or key in self.workshop.people:
            return

        def keep(found: dict[str, Any]) -> None:
            self.workshop.people[key] = found
            self.touch()

        columns = [name for name in table.names if name in key[2:]]
        self.run(
            self.workshop.desk, "people", "count_people", keep, on_part=keep,
            table=table.stored, columns=columns, person=self.draft.get("person"),
        )  # fmt: skip


def describe_job(kind: str, job: Job) -> dict[str, Any]:
    """Return the state of a job, for the page."""
    message, hint = job.fault or (None, None)
    return {
        "kind": kind,
        "number": job.order.number,
        "state": job.state,
        "share": job.share,
        "text": job.text,
        "left": job.seconds_left,
        "message": message,
        "hint": hint,
    }


def _quick(draft: Draft) -> Recipe:
    """Return the recipe of a quick release: without tokens, whose key may not be chosen yet, and without an effort."""
    return draft.recipe().model_copy(update={"effort": "fast", "pseudonymize": []})


def digest(*parts: Any) -> str:
    """Return a short name for what ``parts`` say."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:24]
