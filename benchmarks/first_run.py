"""First runs with a wheel that carries its kernels: whether anything is compiled, and how long they take.

make wheel && python -m benchmarks.first_run dist/*.whl                        every method, effort, release and model
python -m benchmarks.first_run dist/*.whl --methods mondrian,mdav --efforts fast

The wheel is unpacked into a new folder, and every process begins with an empty cache. A combination that a method is not made for
(numbers only, hierarchies needed, a model it cannot keep) refuses the table; that is counted too.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow.csv

import shoal
from benchmarks.measuring import RESULTS, Row, Table, write_page
from shoal.datasets import hospital
from shoal.methods.base import MethodInfo

RECORDS, K = 1_000, 5
EFFORTS = ("fast", "balanced", "best")

PRODUCT = """
import itertools, json, sys, warnings
import shoal
from shoal.datasets import hospital
from shoal.kernels.keeping import COUNTS
warnings.simplefilter("ignore")
method, effort, records, k = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
register = hospital(records, 1)
trees = {"sex": "flat", "zip": register.hierarchies["zip"], "job": register.hierarchies["job"]}
shapes = {
    "hierarchies": {"quasi_identifiers": ["sex", "zip", "job"], "hierarchies": trees},
    "mixed": {"quasi_identifiers": ["birth_date", "sex", "zip", "job"], "hierarchies": {"zip": trees["zip"]}},
    "numbers": {"quasi_identifiers": ["birth_date", "cost"]},
}
people = register.patients
models = {
    "k alone": [],
    "l-diversity": [shoal.LDiversity(2)],
    "t-closeness": [shoal.TCloseness(0.4)],
    "k-map": [shoal.KMap(k, population=people)],
    "presence": [shoal.DeltaPresence(0.0, 1.0, population=people)],
}
made, refused = 0, 0
for shape, release, asked in itertools.product(shapes, ("ranges", "representatives"), models):
    try:
        result = shoal.anonymize(people, k=k, method=method, effort=effort, release=release, models=models[asked],
                                 sensitive=["diagnosis"], max_suppression=0.1, **shapes[shape])
        result.metrics, result.audit
        made += 1
    except shoal.ShoalError:
        refused += 1
assert shoal.__file__.startswith(sys.argv[5]), shoal.__file__
print(json.dumps({"made": made, "refused": refused, "loaded": len(COUNTS.loaded), "compiled": COUNTS.compiled}))
"""


def unpack(wheel: Path, folder: Path) -> Path:
    """Install a wheel by unpacking it; return the folder to import from."""
    site = folder / "site"
    with zipfile.ZipFile(wheel) as file:
        file.extractall(site)
    return site


def environment(site: Path, cache: Path) -> dict[str, str]:
    """Return settings under which a process imports the wheel and finds no kernel kept before."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "SHOAL_"))}
    return kept | {"PYTHONPATH": str(site), "SHOAL_CACHE_DIR": str(cache)}


def run_product(site: Path, folder: Path, method: str, effort: str) -> Row:
    """Make every kind of release by one method in one process; return how many kernels it compiled."""
    command = [sys.executable, "-c", PRODUCT, method, effort, str(RECORDS), str(K), str(site)]
    run = subprocess.run(
        command,
        env=environment(site, folder / f"{method}-{effort}"),
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
    )
    found: Row = json.loads(run.stdout.splitlines()[-1])
    return found


def run_once(site: Path, folder: Path, method: str, effort: str) -> float:
    """Return the CPU seconds of one command on a small table, all processes, from an empty cache."""
    table, cache = folder / "patients.csv", folder / f"{method}-{effort}-once"
    numbers = described()[method].family == "microaggregation"
    columns = ["birth_date", "cost"] if numbers else ["sex", "zip", "job"]
    command = [sys.executable, "-m", "shoal", "anonymize", str(table), "-k", str(K), "--qi", ",".join(columns)]
    command += ["--method", method, "--effort", effort, "--sensitive", "diagnosis", "-o", str(folder / "release.csv")]
    command += ["--force", *(f"--hierarchy={name}=flat" for name in columns if not numbers)]
    before = _children()
    subprocess.run(command, env=environment(site, cache), capture_output=True, check=True, cwd=folder)
    return _children() - before


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def described() -> dict[str, MethodInfo]:
    """Return what shoal says of its methods."""
    return {info.name: info for info in shoal.methods()}


def choices(methods: Sequence[str], efforts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each method with the efforts it knows."""
    for method in methods:
        yield from ((method, effort) for effort in (efforts if described()[method].uses_effort else efforts[:1]))


def rows(wheel: Path, methods: Sequence[str], efforts: Sequence[str]) -> Iterator[Row]:
    """Yield what each method came to."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        site = unpack(wheel, folder)
        pyarrow.csv.write_csv(hospital(RECORDS, 1).patients, folder / "patients.csv")
        for method, effort in choices(methods, efforts):
            first = run_once(site, folder, method, effort)
            found = run_product(site, folder, method, effort)
            yield {
                "method": method,
                "effort": effort,
                "releases": found["made"],
                "refused": found["refused"],
                "kernels loaded": found["loaded"],
                "compiled": len(found["compiled"]),
                "which": " ".join(sorted(set(found["compiled"]))),
                "CPU s of a first run": first,
            }


def main() -> None:
    """Run what was asked for and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path, help="a wheel made by make wheel")
    parser.add_argument("--methods", default=",".join(described()))
    parser.add_argument("--efforts", default=",".join(EFFORTS))
    parser.add_argument("--output", type=Path, default=RESULTS)
    given = parser.parse_args()
    found = list(rows(given.wheel.resolve(), given.methods.split(","), given.efforts.split(",")))
    note = (
        f"{RECORDS:,} records of the invented register; three kinds of columns, both kinds of release, k alone and four models for each method. "
        "`compiled` must be 0. The last column is one command, `shoal anonymize` with k alone."
    )
    write_page(
        "first_run",
        "First runs with a wheel",
        [Table("", note, found)],
        "python -m benchmarks.first_run WHEEL",
        given.output,
    )


if __name__ == "__main__":
    main()
