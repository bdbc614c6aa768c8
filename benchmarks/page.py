"""How fast the page answers on a large table: ``python -m benchmarks.page``.

The table has 1,000,000 rows and 12 columns. Measured are the time from the table being read to the columns being shown, and what
later clicks take on the server: a change of role and what the step then shows. Counting whom the columns single out goes on meanwhile
in a worker and is told by itself.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from shoal.web.draft import Draft, Source, opened
from shoal.web.history import Step
from shoal.web.jobs.tasks import count_people, open_table
from shoal.web.routes import columns
from shoal.web.session import Session, Table

CARDINALITIES = (90, 2, 400, 46, 730, 41, 8, 16, 5, 1000, 30_000, 120)
CLICKS = 20


def write_table(path: Path, rows: int) -> None:
    """Write a CSV of 12 columns whose values repeat like those of a register."""
    random = np.random.default_rng(0)
    names = ["age", "sex", "zip", "job", "visit", "diagnosis", "region", "school", "marital", "ward", "cost", "height"]
    data = {name: random.integers(0, values, rows) for name, values in zip(names, CARDINALITIES, strict=True)}
    pacsv.write_csv(pa.table(data), path)


def measure(rows: int) -> dict[str, float]:
    """Return seconds: reading, from there to the columns, the slowest click, and counting in the worker."""
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        write_table(home / "table.csv", rows)
        marks: dict[str, float] = {}

        def tell(_what: str, value: Any) -> None:
            if isinstance(value, tuple):
                marks[str(value[1])] = time.perf_counter()

        found = open_table(tell, place="folder", path=str(home / "table.csv"), options={}, folder=place, name="table")
        seen = time.perf_counter()
        session = Session(home, home)
        source = Source("folder", "table.csv", str(home / "table.csv"))
        table = session.tables[source.key] = Table(**found)
        draft = opened(Draft(), source, {one["name"]: one["role"] for one in table.columns})
        session.history.steps = [Step(draft, "opened")]
        slowest = max(_click(session, number) for number in range(CLICKS))
        start = time.perf_counter()
        count_people(tell, table=table.stored, columns=session.draft.get("quasi_identifiers"))
        return {
            "reading": marks["keeping it in memory"] - marks["reading"],
            "to the columns": seen - marks["keeping it in memory"],
            "slowest click": slowest,
            "counting (in the worker)": time.perf_counter() - start,
        }


def _click(session: Session, number: int) -> float:
    """Change a role and work out what the step then shows, as a click does."""
    table = session.need_table()
    start = time.perf_counter()
    role = ("kept", "quasi-identifier")[number % 2]
    name = table.names[number % len(table.names)]
    session.history.add(session.draft.with_role(name, role, table.names), name)  # type: ignore[arg-type]
    view = columns.view(session)
    assert len(view["rows"]) == len(table.names)  # noqa: S101
    return time.perf_counter() - start


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    for name, seconds in measure(parser.parse_args().rows).items():
        print(f"{name:26} {seconds:7.2f} s")


if __name__ == "__main__":
    main()
