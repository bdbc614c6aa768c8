"""1,000,000 rows from and to PostgreSQL beside a Parquet file of the same table; and three ways to read them.

``python -m benchmarks.databases`` starts a server of its own on a free port, in a temporary folder. Each figure is taken in a process
of its own: CPU seconds of that process, wall seconds, and the largest memory it held.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.measuring import Row, publish
from shoal.datasets import hospital
from shoal.io.files import open_batches, open_table, write_table
from shoal.io.source import ReadOptions

RECORDS = 1_000_000
QUASI_IDENTIFIERS = ["birth_date", "sex", "zip", "job"]


def read_whole(place: str, table: str | None) -> int:
    """Read a table as a whole."""
    return open_table(place, table=table).records


def read_batches(place: str, table: str | None) -> int:
    """Read a table batch by batch, keeping none."""
    return sum(batch.num_rows for batch in open_batches(place, ReadOptions(table=table)))


def read_connectorx(place: str, table: str | None) -> int:
    """Read a table with connectorx, into Arrow."""
    import connectorx

    address = place.replace("@", f":{os.environ['PGPASSWORD']}@")
    return int(connectorx.read_sql(address, f"SELECT * FROM {table}", return_type="arrow").num_rows)  # noqa: S608


def read_duckdb(place: str, table: str | None) -> int:
    """Read a table with DuckDB's scanner for PostgreSQL, where its extension is there."""
    import duckdb

    with duckdb.connect() as connection:
        try:
            connection.execute("LOAD postgres")
        except duckdb.Error:
            raise SystemExit("its extension is not installed, and would be fetched from the network") from None
        connection.execute(f"ATTACH '{place}' AS other (TYPE postgres, READ_ONLY)")
        found = connection.sql(f"SELECT * FROM other.{table}")  # noqa: S608
        return int(found.to_arrow_table().num_rows)


def write(place: str, table: str | None) -> int:
    """Write a release of one group a value: what writing and counting cost, without finding groups."""
    from shoal.io.databases import Promise
    from shoal.io.databases import write_release as write_rows
    from shoal.io.location import Location
    from shoal.io.registry import find_source

    rows = open_table(os.environ["SHOAL_BENCHMARK_ROWS"]).table
    if table is None:
        write_table(rows, Path(place))
        return int(rows.num_rows)
    location = Location(place)
    with find_source(location).session(location, "a benchmark", read_only=False) as session:  # type: ignore[attr-defined]
        write_rows(session, table, rows, Promise(["sex"], 2), force=True)
    return int(rows.num_rows)


WORDS = {
    "read": "read whole",
    "batches": "read in batches",
    "connectorx": "read whole with connectorx",
    "duckdb": "read whole with DuckDB's scanner",
    "write": "write, count, rename",
}
JOBS: dict[str, Callable[[str, str | None], int]] = {
    "read": read_whole,
    "batches": read_batches,
    "connectorx": read_connectorx,
    "duckdb": read_duckdb,
    "write": write,
}


def measure(job: str, place: str, table: str | None) -> dict[str, Any]:
    """Run a job in a process of its own."""
    words = [sys.executable, "-m", "benchmarks.databases", "--job", job, place, table or ""]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"fault": done.stderr.strip().splitlines()[-1][:80]}
    return dict(json.loads(done.stdout))


def peak_memory() -> int:
    """Return the most memory this process held so far, in MiB; ``ru_maxrss`` would be that of the process before it."""
    status = Path("/proc/self/status").read_text("ascii")
    return int(status.split("VmHWM:")[1].split()[0]) // 1024


def run_job(job: str, place: str, table: str | None) -> None:
    """Do one job and print what it took; what was loaded before it began is told apart."""
    loaded = peak_memory()
    before = resource.getrusage(resource.RUSAGE_SELF)
    start = time.perf_counter()
    rows = JOBS[job](place, table)
    seconds = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    figures = {"rows": rows, "CPU s": round(cpu, 2), "wall s": round(seconds, 2)}
    memory = {"peak MiB": peak_memory(), "MiB before": loaded}
    print(json.dumps(figures | memory))


def compare(records: int) -> Iterator[Row]:
    """Give the figures of all jobs."""
    from tests.support import servers

    servers.PASSWORD = "benchmark"  # noqa: S105  (of a server that lives for minutes)
    os.environ["PGPASSWORD"] = servers.PASSWORD
    with tempfile.TemporaryDirectory() as folder, servers.postgresql() as server:
        parquet = Path(folder) / "patients.parquet"
        write_table(hospital(n=records, seed=0).patients, parquet)
        os.environ["SHOAL_BENCHMARK_ROWS"] = str(parquet)
        inside, beside = (server.address, "patients"), (str(parquet), None)
        plan = [("write", str(Path(folder) / "copy.parquet"), None), ("write", *inside)]
        plan += [(job, *place) for job in ("read", "batches") for place in (beside, inside)]
        plan += [("connectorx", *inside), ("duckdb", *inside)]
        for job, place, name in plan:
            found = measure(job, place, name)
            yield {"job": WORDS[job], "where": "PostgreSQL" if name else "Parquet"} | found


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=RECORDS)
    parser.add_argument("--job", nargs=3, metavar=("JOB", "PLACE", "TABLE"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.job:
        run_job(given.job[0], given.job[1], given.job[2] or None)
        return
    publish(
        "databases",
        f"{given.records:,} rows from and to PostgreSQL",
        compare(given.records),
        "python -m benchmarks.databases",
    )


if __name__ == "__main__":
    main()
