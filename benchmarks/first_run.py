"""First runs with a wheel that carries its kernels: whether anything is compiled, and how long they take.

make wheel && python -m benchmarks.first_run dist/*.whl                        every method, effort, release and model
python -m benchmarks.first_run dist/*.whl --only times                         one command for each method and effort
python -m benchmarks.first_run dist/*.whl --only kernels --methods mondrian,mdav --efforts fast

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
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pyarrow.csv

import shoal
from benchmarks.measuring import RESULTS, Row, Table, write_page
from shoal.datasets import hospital
from shoal.methods.base import MethodInfo

RECORDS, K = 1_000, 5
FEW = 300
"""Records for efforts above fast where only kernels are asked for: the same ones are called as with more."""
EFFORTS = ("fast", "balanced", "best")

PRODUCT = """
import itertools, json, sys, warnings
import pyarrow as pa
import shoal
from shoal.datasets import hospital
from shoal.compiling.disk_cache import COUNTS
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
gaps = pa.array([number % 9 == 0 for number in range(records)])
holed = people
for place, name in enumerate(people.column_names):
    if name in ("birth_date", "sex", "zip"):
        holed = holed.set_column(place, name, pa.compute.if_else(gaps, None, holed[name]))
models = {
    "k alone": [],
    "l-diversity": [shoal.LDiversity(2)],
    "t-closeness": [shoal.TCloseness(0.4)],
    "k-map": [shoal.KMap(k, population=people)],
    "presence": [shoal.DeltaPresence(0.0, 1.0, population=people)],
}
more = [
    (people, {"quasi_identifiers": ["birth_date"]}),
    (people, {"quasi_identifiers": ["zip"], "hierarchies": {"zip": trees["zip"]}}),
    (people, {"quasi_identifiers": ["job"]}),
    (people, {"quasi_identifiers": ["sex", "zip", "job"]}),
    (holed, shapes["mixed"]),
    (holed, shapes["hierarchies"]),
    (people, {**shapes["mixed"], "person": "name"}),
    (people, {**shapes["mixed"], "person": "name", "together": True}),
    (people, {**shapes["mixed"], "survey_weight": "cost"}),
    (people, {**shapes["mixed"], "max_suppression": 0.0}),
    (people, {**shapes["mixed"], "models": [shoal.LDiversity(2), shoal.TCloseness(0.4)]}),
    *((people, {**shapes["mixed"], "keep": ["cost"], "treat": {"cost": treatment}})
      for treatment in (shoal.Round(100), shoal.TopCode(share=0.99), shoal.Microaggregate(k), shoal.RankSwap(0.05), shoal.Noise(0.1))),
]
jobs = [(people, {**shapes[shape], "release": release, "models": models[asked]})
        for shape, release, asked in itertools.product(shapes, ("ranges", "representatives"), models)] + more
made, refused = 0, 0
for table, choices in jobs:
    try:
        result = shoal.anonymize(table, **{"k": k, "method": method, "effort": effort, "sensitive": ["diagnosis"], "max_suppression": 0.1, **choices})
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
    records = RECORDS if effort == EFFORTS[0] else FEW
    command = [sys.executable, "-c", PRODUCT, method, effort, str(records), str(K), str(site)]
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


def times(site: Path, folder: Path, chosen: Sequence[tuple[str, str]]) -> Iterator[Row]:
    """Yield what one command takes from an empty cache."""
    pyarrow.csv.write_csv(hospital(RECORDS, 1).patients, folder / "patients.csv")
    for method, effort in chosen:
        yield {"method": method, "effort": effort, "CPU s": run_once(site, folder, method, effort)}


def kernels(site: Path, folder: Path, chosen: Sequence[tuple[str, str]]) -> Iterator[Row]:
    """Yield how many kernels each method compiled for all kinds of releases."""
    for method, effort in chosen:
        found = run_product(site, folder, method, effort)
        yield {
            "method": method,
            "effort": effort,
            "releases": found["made"],
            "refused": found["refused"],
            "kernels loaded": found["loaded"],
            "compiled": len(found["compiled"]),
            "which": " ".join(sorted(set(found["compiled"]))),
        }


PARTS: dict[str, tuple[str, str, Callable[[Path, Path, Sequence[tuple[str, str]]], Iterator[Row]]]] = {
    "times": (
        "First runs with a wheel: times",
        f"`shoal anonymize` on {RECORDS:,} records of the invented register, k = {K}, the first command after the wheel is installed; all processes.",
        times,
    ),
    "kernels": (
        "First runs with a wheel: kernels",
        (
            f"{RECORDS:,} records of the invented register ({FEW} above fast); for each method three kinds of columns, both kinds of release, k alone and four "
            "models; and one column, sets, missing values, people, survey weights, no suppression, two models at once, five treatments. `compiled` must be 0."
        ),
        kernels,
    ),
}


def main() -> None:
    """Run what was asked for and write its pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path, help="a wheel made by make wheel")
    parser.add_argument("--only", default=",".join(PARTS), help=f"some of {', '.join(PARTS)}")
    parser.add_argument("--methods", default=",".join(described()))
    parser.add_argument("--efforts", default=",".join(EFFORTS))
    parser.add_argument("--output", type=Path, default=RESULTS)
    given = parser.parse_args()
    chosen = list(choices(given.methods.split(","), given.efforts.split(",")))
    for part in given.only.split(","):
        title, note, work = PARTS[part]
        with tempfile.TemporaryDirectory() as name:
            site = unpack(given.wheel.resolve(), Path(name))
            found = list(work(site, Path(name), chosen))
        command = f"python -m benchmarks.first_run WHEEL --only {part}"
        write_page(f"first_run_{part}", title, [Table("", note, found)], command, given.output)


if __name__ == "__main__":
    main()
