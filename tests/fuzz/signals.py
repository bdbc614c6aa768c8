"""A job in a real process, and a signal at a random moment of it: all files are there and right, or none is."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

NAMES = (
    "SIGINT",
    "SIGTERM",
    "SIGHUP",
    "SIGQUIT",
    "SIGKILL",
    "SIGABRT",
    "SIGPIPE",
    "SIGALRM",
    "SIGUSR1",
    "SIGUSR2",
    "SIGSEGV",
)
FILES = ("release.csv", "release.datapackage.json", "report.html", "recipe.toml")
K = 3


def write_table(folder: Path) -> Path:
    """Write a table that takes a moment to release."""
    rng = np.random.default_rng(0)
    rows = [f"{rng.integers(20, 80)},{rng.choice(list('abcdef'))},{rng.choice(['x', 'y', 'z'])}" for _ in range(3000)]
    (folder / "patients.csv").write_text("age,job,ill\n" + "\n".join(rows) + "\n", "utf-8")
    return folder / "patients.csv"


def start(folder: Path, table: Path) -> subprocess.Popen[bytes]:
    """Start the job; it writes four files into ``folder``."""
    words = ["anonymize", table, "-k", K, "--qi", "age,job", "--sensitive", "ill", "--method", "mondrian", "-o", folder / FILES[0],
             "--report", folder / FILES[2], "--save-recipe", folder / FILES[3]]  # fmt: skip
    return subprocess.Popen(
        [sys.executable, "-m", "shoal", *map(str, words)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
    )


def fault_in(folder: Path) -> str | None:
    """Return what is wrong with what a job left, or None."""
    there = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
    if not there:
        return None
    if "release.csv" not in there:
        return None if not there & set(FILES) else f"{sorted(there)} without a release"
    if there != set(FILES):
        return f"a release with only {sorted(there)}"
    try:
        json.loads((folder / FILES[1]).read_text("utf-8"))
    except ValueError:
        return "half a dictionary"
    _, *rows = (folder / FILES[0]).read_text("utf-8").splitlines()
    if len(rows) != 3000 or min(Counter(row.rpartition(",")[0] for row in rows).values()) < K:
        return "a release that is not whole or not anonymous"
    return None


def run(count: int, seed: int, say: Callable[[str], None]) -> Counter[str]:
    """Send ``count`` signals; return how many jobs were finished or stopped, and how many left something wrong or hung."""
    rng, tally = np.random.default_rng(seed), Counter[str]()
    with tempfile.TemporaryDirectory() as name:
        table = write_table(Path(name))
        begin = time.monotonic()
        with tempfile.TemporaryDirectory() as first:
            start(Path(first), table).wait()
            seconds = time.monotonic() - begin
            if fault := fault_in(Path(first)):
                say(f"without any signal: {fault}")
                tally["violations"] += 1
        with contextlib.suppress(KeyboardInterrupt):  # what was found so far still counts
            for number in range(count):
                late = rng.random() < 0.6  # most of the writing is done near the end
                _send_one(rng, float(rng.uniform(0.5 * seconds if late else 0.0, 1.05 * seconds)), table, tally, say)
                tally["tried"] += 1
                if number % 20 == 19:
                    say(f"{number + 1} signals: {dict(tally)}")
    return tally


def _send_one(
    rng: np.random.Generator, delay: float, table: Path, tally: Counter[str], say: Callable[[str], None]
) -> None:
    chosen = NAMES[int(rng.integers(len(NAMES)))]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        job = start(folder, table)
        time.sleep(delay)
        if job.poll() is None:
            os.kill(job.pid, getattr(signal, chosen))
            tally["struck"] += 1
        try:
            job.wait(120)
        except subprocess.TimeoutExpired:
            tally["hangs"] += 1
            say(f"{chosen} after {delay:.2f} s: the job did not end")
            job.kill()
            job.wait()
        fault = fault_in(folder)
        if fault:
            tally["violations"] += 1
            say(f"{chosen} after {delay:.2f} s: {fault}")
        tally["finished" if (folder / FILES[0]).exists() else "nothing left"] += 1
