"""What a user waits for, beside goals and the figures of others: starts, small jobs, the optimizer, files, one column, memory.

python -m benchmarks.speed                 all, some minutes once kernels are compiled (``shoal warm-up``)
python -m benchmarks.speed --only start,memory

Loss and time of the optimizer beside ARX for every k: python -m benchmarks.curves. First runs with a wheel:
python -m benchmarks.first_run. Others' releases on the same table: python -m benchmarks.peers.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

import shoal
from benchmarks import adult
from benchmarks.curves import ARX
from benchmarks.measuring import RESULTS, Row, Table, cpu_seconds, in_new_process, write_page
from benchmarks.memory import peak_megabytes
from benchmarks.optimize import loss_of
from shoal.arrays import Effort, FloatArray
from shoal.datasets import hospital
from shoal.encoding import CodedTable, encode
from shoal.frames import Frame, to_frame
from shoal.methods import make_method
from shoal.methods.base import Task

LEAVES = 100_000
RUNS = 3
"""Of a short piece of work, of which the quickest counts: the others tell how busy the machine was."""
PEERS = "microagg1d 0.4.0, benchmarks/results/peers.md"
LOCAL = "ARX's local recoding, its finer setting, measured once on two cores, November 2026"
BESIDE_ARX: dict[Effort, tuple[float, float]] = {"fast": (1.0, 0.1), "balanced": (0.95, 1.0)}
"""What the optimizer is to lose and to take at most, as a share of ARX's loss and CPU seconds."""
FLASH = "ARX's Flash, measured beside shoal on two cores, November 2026"


def row(
    what: str, found: float, unit: str, goal: float | None = None, other: float | None = None, whose: str = ""
) -> Row:
    """Return one line of the table."""
    named = whose if other is not None else ""
    return {"what": what, "shoal": found, "unit": unit, "goal": goal, "others": other, "whose": named}


def least(work: Callable[[], object], runs: int = RUNS) -> float:
    """Return the fewest CPU seconds of several runs."""
    return min(cpu_seconds(work)[1] for _ in range(runs))


# --- starts ----------------------------------------------------------------------------------------------------------


def process_seconds(command: Sequence[str]) -> float:
    """Return the CPU seconds of a process and of those it starts, with bytecode kept as Python does it by default."""
    settings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = os.times()
    subprocess.run(command, capture_output=True, check=True, env=settings)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def starts() -> Iterator[Row]:
    """Yield what a command on 1,000 rows takes once its kernels are kept, and what of it is imports of others."""
    libraries = [sys.executable, "-c", "import numba, pyarrow.compute, pyarrow.csv, pydantic, rich_click"]
    yield row(
        "importing numba, pyarrow, pydantic and rich-click", min(map(process_seconds, [libraries] * RUNS)), "CPU s"
    )
    with tempfile.TemporaryDirectory() as name:
        table = Path(name) / "patients.csv"
        pa.csv.write_csv(hospital(1_000, 0).patients, table)
        command = [sys.executable, "-m", "shoal", "anonymize", str(table), "-k", "5", "--qi", "birth_date,sex,zip,job"]
        command += ["--sensitive", "diagnosis", "-o", str(table.with_name("release.csv")), "--force"]
        for method, effort in (("mondrian", "fast"), ("optimize", "fast"), ("optimize", "balanced")):
            chosen = [*command, "--method", method, "--effort", effort]
            process_seconds(chosen)  # keeps what was not compiled yet
            seconds = min(process_seconds(chosen) for _ in range(RUNS))
            yield row(f"shoal anonymize, 1,000 rows, {method} {effort}", seconds, "CPU s", 1.2)


# --- recoding of whole columns --------------------------------------------------------------------------------------


def incognitos() -> Iterator[Row]:
    """Yield the search for the best levels, on nine and on twelve columns."""
    method = make_method("incognito")
    nine = adult.coded("A")
    for k in (2, 10, 100):
        seconds = least(partial(method.run, nine, Task(k)))
        yield row(f"incognito, nine columns, k = {k}", seconds, "CPU s", 0.4, 0.44 if k == 10 else None, FLASH)
    yield row("incognito, twelve columns, k = 10", least(partial(method.run, twelve_columns(), Task(10)), 1), "CPU s")


def twelve_columns() -> CodedTable:
    """Return Adult with three more columns, as a value or nothing: relationship, years of education, hours of work in tens."""
    chosen, frame = adult.setting("A"), adult.train()
    hours = pa.array([str(int(value) // 10) for value in frame.table["hours-per-week"].to_pylist()])
    table = frame.table.set_column(frame.table.column_names.index("hours-per-week"), "hours-per-week", hours)
    added = dict.fromkeys(["relationship", "education-num", "hours-per-week"], "flat")
    return encode(
        replace(frame, table=table), [*chosen["quasi_identifiers"], *added], hierarchies=chosen["hierarchies"] | added
    )


# --- the optimizer beside ARX ----------------------------------------------------------------------------------------


def optimizers() -> Iterator[Row]:
    """Yield loss and time of the optimizer beside ARX's local recoding on Adult's nine columns: a tenth of its CPU for fast, and its CPU for balanced."""
    table = adult.coded("A")
    for k in (10, 50):
        loss, seconds = ARX["A", k]
        for effort, shares in BESIDE_ARX.items():
            yield from loss_and_time(f"Adult A, k = {k}, {effort}", table, k, effort, (loss, seconds), shares)


def many_columns() -> Iterator[Row]:
    """Yield time of the optimizer on 24 columns by hierarchy × 30,000 records, beside ARX's on another table of that size."""
    table = wide(30_000)
    for effort, shares in BESIDE_ARX.items():
        yield from loss_and_time(f"24 columns, k = 10, {effort}", table, 10, effort, (None, 48.0), shares)


def loss_and_time(
    what: str,
    table: CodedTable,
    k: int,
    effort: Effort,
    arx: tuple[float | None, float],
    shares: tuple[float, float],
) -> Iterator[Row]:
    """Yield loss and CPU seconds of one run; goals are shares of ARX's."""
    grouping, seconds = cpu_seconds(partial(make_method("optimize").run, table, Task(k=k, effort=effort)))
    goals = [None if one is None else one * share for one, share in zip(arx, shares, strict=True)]
    yield row(f"{what}: loss", loss_of(table, grouping.labels), "", goals[0], arx[0], LOCAL)
    yield row(what, seconds, "CPU s", goals[1], arx[1], LOCAL)


def wide(records: int, columns: int = 24, seed: int = 0) -> CodedTable:
    """Return records of twelve kinds, some frequent, with a code of two digits in each column, of which the first goes with the kind."""
    random = np.random.default_rng(seed)
    kind = random.zipf(1.5, records) % 12
    data = {}
    for column in range(columns):
        strays = (random.random(records) < 0.05) * random.integers(0, 9, records)
        first = (kind * (1 + column % 5) + strays) % (3 + column % 6)
        second = np.minimum(random.geometric(0.7, records), 4)
        data[f"c{column}"] = [f"{one}{two}" for one, two in zip(first, second, strict=True)]
    trees = {name: shoal.Hierarchy.from_prefixes(sorted(set(texts)), [1, 0]) for name, texts in data.items()}
    return encode(Frame(pa.table(data)), list(data), hierarchies=trees)


# --- files, one column, memory --------------------------------------------------------------------------------------


def hierarchy_files() -> Iterator[Row]:
    """Yield how long the file of a large hierarchy takes to read."""
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "zip.csv"
        file.write_text(
            "".join(f"{z:05d};{z // 10:04d}*;{z // 100:03d}**;{z // 1000:02d}***;*\n" for z in range(LEAVES))
        )
        seconds = least(lambda: shoal.Hierarchy.from_csv(file))
    yield row(f"a hierarchy file of {LEAVES:,} leaves", seconds, "CPU s", 0.1)


def univariates() -> Iterator[Row]:
    """Yield the optimal groups of one column, with and without coding it."""
    method = make_method("univariate")
    for k, other in ((3, 0.2534), (10, 0.3187), (100, 0.6395)):
        values: FloatArray = np.random.default_rng(k).normal(size=1_000_000)
        code = partial(encode, to_frame(pa.table({"x": values})), ["x"])
        coded = code()
        grouping = least(partial(method.run, coded, Task(k)))
        yield row(f"univariate, 1,000,000 numbers, k = {k}: grouping", grouping, "CPU s", other, other, PEERS)
        yield row(
            f"univariate, 1,000,000 numbers, k = {k}: with coding", grouping + least(code), "CPU s", None, other, PEERS
        )


def memories() -> Iterator[Row]:
    """Yield the peaks of processes: what others' libraries take, and a job on 30,162 records beside it."""
    yield row("importing numba and pyarrow", in_new_process(import_peak)["MB"], "MB at peak")
    for method in ("mondrian", "optimize"):
        found = in_new_process(job_peak, method)
        yield row(
            f"Adult X, 30,162 records, {method} fast", found["MB"], "MB at peak", None, 81.0, "anonypy 0.2.1, peers.md"
        )


def import_peak() -> Row:
    """Return the peak of a process that only imports."""
    import numba  # noqa: F401
    import pyarrow.compute
    import pyarrow.csv  # noqa: F401

    return {"MB": peak_megabytes()}


def job_peak(method: str) -> Row:
    """Return the peak of a process that makes a release."""
    frame: Frame = adult.train()
    shoal.anonymize(frame, k=10, method=method, effort="fast", **adult.setting("X"))
    return {"MB": peak_megabytes()}


PARTS: dict[str, Callable[[], Iterator[Row]]] = {
    "start": starts,
    "incognito": incognitos,
    "optimize": optimizers,
    "columns": many_columns,
    "hierarchy": hierarchy_files,
    "univariate": univariates,
    "memory": memories,
}


def main() -> None:
    """Run what was asked for and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(PARTS), help=f"some of {', '.join(PARTS)}")
    parser.add_argument("--output", type=Path, default=RESULTS)
    given = parser.parse_args()
    begin, busy = time.perf_counter(), time.process_time()
    found = [line for name in given.only.split(",") for line in PARTS[name]()]
    waited = time.perf_counter() - begin
    children = os.times()
    share = (time.process_time() - busy + children.children_user + children.children_system) / waited
    note = (
        f"The best of {RUNS} runs each. The machine gave this program {share:.0%} of one core; below 90 % others ran beside it, which makes CPU "
        "seconds larger too. Goals are for a machine that does nothing else."
    )
    options = "" if given.only == ",".join(PARTS) else f" --only {given.only}"
    write_page(
        "speed", "What a user waits for", [Table("", note, found)], f"python -m benchmarks.speed{options}", given.output
    )


if __name__ == "__main__":
    main()
