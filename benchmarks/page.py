"""How fast the page answers on a large table: ``python -m benchmarks.page``.

The table has 1,000,000 rows and 12 columns. Measured are the time from the table being read to the columns being shown, and what
later clicks take on the server: a change of role and what the step then shows. Counting whom the columns single out goes on meanwhile
in a worker and is told by itself. Times are CPU seconds and those of the clock.

``--live`` measures the quick release beside the choices on a table of 30,000 rows and 10 quasi-identifiers, with compiled kernels: how
long a change waits for its first figures, and for those of the larger sample.

``--memory`` compares what server and workers hold together at their peak with one process that does the same by the library: reads
the table, looks at its columns, counts people, makes a release and its report, saves both. Shared memory counts once (Linux only).
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, Self

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from benchmarks.measuring import Row, Table, write_page
from benchmarks.memory import memory_below
from shoal.web.draft import Draft, Source, opened
from shoal.web.history import Step
from shoal.web.jobs.tasks import count_people, open_table, preview
from shoal.web.routes import columns
from shoal.web.routes.rendering import frame, templates
from shoal.web.session import Session
from shoal.web.workshop import Workshop

CARDINALITIES = (90, 2, 400, 46, 730, 41, 8, 16, 5, 1000, 30_000, 120)
CLICKS = 20
GOALS = {"to the columns": "3 s", "slowest click": "0.2 s"}


def write_table(path: Path, rows: int) -> None:
    """Write a CSV of 12 columns whose values repeat like those of a register."""
    random = np.random.default_rng(0)
    names = ["age", "sex", "zip", "job", "visit", "diagnosis", "region", "school", "marital", "ward", "cost", "height"]
    data = {name: random.integers(0, values, rows) for name, values in zip(names, CARDINALITIES, strict=True)}
    pacsv.write_csv(pa.table(data), path)


class Mark(NamedTuple):
    """A moment, by the processor and by the clock."""

    cpu: float
    clock: float

    @classmethod
    def now(cls) -> Mark:
        """Return this moment."""
        return cls(time.process_time(), time.perf_counter())

    def since(self, before: Mark) -> Mark:
        """Return what has passed since another moment."""
        return Mark(self.cpu - before.cpu, self.clock - before.clock)


def measure(rows: int) -> dict[str, Mark]:
    """Return what it takes: reading, from there to the columns, the slowest click, and counting in the worker."""
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        write_table(home / "table.csv", rows)
        marks: dict[str, Mark] = {}

        def tell(_what: str, value: Any) -> None:
            if isinstance(value, tuple):
                marks[str(value[1])] = Mark.now()

        source = Source("folder", "table.csv", str(home / "table.csv"))
        workshop = Workshop(home, home)
        found = open_table(
            tell, place="folder", path=source.path, options={}, files=source.files, folder=place, name="table",
            salt=workshop.salt,
        )  # fmt: skip
        seen = Mark.now()
        session = workshop.newest
        known = workshop.keep_table(source, found)
        table = workshop.tables[known.key]
        session.history.steps = [Step(opened(Draft(), known, table.guessed), "opened")]
        slowest = max((_click(session, number) for number in range(CLICKS)), key=lambda one: one.clock)
        start = Mark.now()
        count_people(tell, table=table.stored, columns=session.draft.get("quasi_identifiers"))
        return {
            "reading": marks["keeping it in memory"].since(marks["reading"]),
            "to the columns": seen.since(marks["keeping it in memory"]),
            "slowest click": slowest,
            "counting (in the worker)": Mark.now().since(start),
        }


def _click(session: Session, number: int) -> Mark:
    """Change a role and show the step, as a click does."""
    table = session.need_table()
    start = Mark.now()
    role = ("kept", "quasi-identifier")[number % 2]
    name = table.names[number % len(table.names)]
    session.history.add(session.draft.with_role(name, role, table.names), name)  # type: ignore[arg-type]
    page = (
        templates().get_template("columns.html.j2").render(**frame("columns", "key", session), **columns.view(session))
    )
    assert page.count("<tr data-column") == len(table.names)  # noqa: S101
    return Mark.now().since(start)


def measure_live(rows: int) -> Iterator[tuple[str, Mark, Mark, int]]:
    """Give what each change takes to its first figures, and to those of the larger sample, and the size of that."""
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        write_table(home / "table.csv", rows)
        workshop, source = Workshop(home, home), Source("folder", "table.csv", str(home / "table.csv"))
        found = open_table(
            _nobody_listens, place="folder", path=source.path, options={}, files=source.files, folder=place, name="table",
            salt=workshop.salt,
        )  # fmt: skip
        known = workshop.keep_table(source, found)
        table = workshop.tables[known.key]
        draft = opened(Draft(), known, table.guessed)
        for what, k in (("compiling", 10), ("roles stand", 10), ("k = 5", 5), ("k = 20", 20), ("k = 50", 50)):
            looks: list[Mark] = []

            def tell(kind: str, _: Any, looks: list[Mark] = looks) -> None:
                if kind == "part":
                    looks.append(Mark.now())

            start = Mark.now()
            recipe = draft.change(k=k).recipe().model_dump(exclude_unset=True)
            told = preview(tell, table=table.stored, recipe=recipe, first=0)
            over = Mark.now()
            assert told is not None  # noqa: S101
            if what != "compiling":
                yield what, (looks or [over])[0].since(start), over.since(start), told["records"]


def _nobody_listens(*_: Any) -> None:
    """Hear no progress."""


# --- memory --------------------------------------------------------------------------------------------------------

BY_THE_LIBRARY = """
import sys, shoal
from shoal.audit import unique_sets
from shoal.inspection import column_views
from shoal.io.files import open_table
frame = open_table(sys.argv[1])
roles = {one.name: one.role for one in column_views(frame)}
known = [name for name, role in roles.items() if role == "quasi-identifier"]
unique_sets(frame, known, largest=2)
removed = [name for name, role in roles.items() if role not in ("quasi-identifier", "sensitive")]
result = shoal.anonymize(
    frame, k=10, quasi_identifiers=known, sensitive=[name for name, role in roles.items() if role == "sensitive"],
    identifiers=removed, method="mondrian", ends="round",
)
result.report().save(sys.argv[3])
result.save(sys.argv[2])
"""
"""What the page does with the same table, in one process."""


def measure_memory(rows: int) -> Iterator[tuple[str, float]]:
    """Give the peaks, in MiB, of one process by the library and of the page's processes together, each when it is known."""
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        write_table(home / "table.csv", rows)
        files = [str(home / name) for name in ("table.csv", "out.csv", "out.html")]
        program = [sys.executable, "-W", "ignore", "-c", BY_THE_LIBRARY, *files]
        with subprocess.Popen(program) as library, Peak(library.pid) as by_library:
            assert library.wait() == 0  # noqa: S101
        yield "by the library", by_library.most
        serving = [sys.executable, "-m", "shoal", "serve", place, "--no-browser"]
        with subprocess.Popen(serving, stdout=subprocess.PIPE, text=True) as server, Peak(server.pid) as by_page:
            assert server.stdout is not None  # noqa: S101
            try:
                _release_by_page(server.stdout.readline().strip())
            finally:
                server.terminate()
        yield "by the page", by_page.most


def _release_by_page(address: str) -> None:
    """Go the way through the page: open the table, make a release, publish it."""
    with httpx.Client(base_url=address.split("/?", maxsplit=1)[0], follow_redirects=True, timeout=600) as client:
        page = client.get(address).text
        client.headers["x-shoal-change"] = re.findall(r'name="change-key" content="([^"]+)"', page)[0]

        def post(path: str, **body: Any) -> None:
            edition = re.findall(r'data-edition="(\d+)"', client.get("/recipe").text)[0]
            told = client.post(f"/1{path}", json=body, headers={"x-shoal-edition": edition}).json()
            assert "refused" not in told, told  # noqa: S101

        def wait(kind: str) -> None:
            with client.stream("GET", "/1/events") as events:
                for line in events.iter_lines():
                    told = json.loads(line[6:]) if line.startswith("data: ") else None
                    jobs = told if isinstance(told, list) else [told]
                    states = [one["state"] for one in jobs if isinstance(one, dict) and one.get("kind") == kind]
                    assert "failed" not in states  # noqa: S101
                    if "done" in states:
                        return

        post("/open", place="folder", name="table.csv")
        wait("open")
        wait("people")
        post("/protect/search", method="mondrian", effort="balanced", max_suppression=0, ends="round")
        post("/protect/make")
        wait("protect")
        client.get("/1/look/rows")
        warnings = client.get("/publish").text.count('name="read"')
        post("/publish", release="r.csv", report="r.html", recipe="r.toml", number=1, read=list(range(warnings)))
        wait("publish")


class Peak:
    """Watches a process with its children, and keeps the most memory they held together."""

    def __init__(self, pid: int) -> None:
        self.most = 0.0
        self._pid, self._over = pid, threading.Event()
        self._watching = threading.Thread(target=self._watch)

    def __enter__(self) -> Self:
        self._watching.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._watching.join()

    def _watch(self) -> None:
        while not self._over.wait(0.2):
            self.most = max(self.most, sum(memory_below(self._pid)))


def publish_speed(rows: int) -> None:
    """Keep what reading, showing and clicking take."""
    found: list[Row] = [
        {
            "what": name,
            "CPU seconds": round(spent.cpu, 2),
            "seconds": round(spent.clock, 2),
            "goal": GOALS.get(name, ""),
        }
        for name, spent in measure(rows).items()
    ]
    note = f"A CSV file of {rows:,} rows and {len(CARDINALITIES)} columns; seconds by the clock include what other programs took."
    write_page(
        "page", "How fast the page answers", [Table("", note, found)], f"python -m benchmarks.page --rows {rows}"
    )


def publish_live(rows: int) -> None:
    """Keep what a change waits for its figures."""
    found: list[Row] = [
        {
            "after": what,
            "first figures, CPU seconds": round(first.cpu, 2),
            "seconds": round(first.clock, 2),
            "goal": 2 if what == "roles stand" else 1,
            "larger sample, CPU seconds": round(over.cpu, 2),
            "its rows": size,
        }
        for what, first, over, size in measure_live(rows)
    ]
    note = (
        f"A CSV file of {rows:,} rows with 10 quasi-identifiers; seconds by the clock include what other programs took."
    )
    write_page(
        "page_live", "How fast the page shows what choices give", [Table("", note, found)],
        f"python -m benchmarks.page --live --rows {rows}",
    )  # fmt: skip


def publish_memory(rows: int) -> None:
    """Keep the peaks of the page and of the library; each is printed when it is known, because it takes minutes."""
    peaks = {}
    for name, size in measure_memory(rows):
        peaks[name] = size
        print(f"{name}: {size:.0f} MB", flush=True)
    least = peaks["by the library"]
    found: list[Row] = [
        {"how": name, "peak MB": round(size), "times the library": round(size / least, 2)}
        for name, size in peaks.items()
    ]
    note = (
        f"Opening a CSV file of {rows:,} rows and {len(CARDINALITIES)} columns, counting people, a release by mondrian with k = 10, "
        "its report, both saved. By the page: the server and its two workers together, what they share counted once."
    )
    command = f"python -m benchmarks.page --memory --rows {rows}"
    write_page("page_memory", "Memory of the page beside the library's", [Table("", note, found)], command)


def main() -> None:
    """Print and keep the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, help="default: 1,000,000, or 30,000 with --live")
    parser.add_argument("--live", action="store_true", help="measure the quick release beside the choices instead")
    parser.add_argument("--memory", action="store_true", help="compare memory with the library's instead")
    given = parser.parse_args()
    if given.live:
        publish_live(given.rows or 30_000)
    else:
        (publish_memory if given.memory else publish_speed)(given.rows or 1_000_000)


if __name__ == "__main__":
    main()
