"""From a CSV file to a saved release with Mondrian: CPU, memory and loss as the table grows.

python -m benchmarks.scale            30 thousand, 300 thousand and 3 million records
python -m benchmarks.scale --quick    30 thousand only
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import shoal
from benchmarks.measuring import Row, cpu_seconds, in_new_process, peak_megabytes, publish
from shoal.datasets import adult_like
from shoal.encoding import encode
from shoal.io.files import open_table, write_table
from shoal.methods.base import Task

QUASI_IDENTIFIERS = [
    "age",
    "workclass",
    "education-num",
    "marital-status",
    "occupation",
    "race",
    "sex",
    "native-country",
]


def release(source: Path | Any, hierarchies: dict[str, Any], k: int) -> shoal.Result:
    """Release a table with Mondrian."""
    return shoal.anonymize(
        source,
        k=k,
        quasi_identifiers=QUASI_IDENTIFIERS,
        keep=["salary-class"],
        hierarchies=hierarchies,
        method="mondrian",
    )


def measure(records: int, k: int) -> Row:
    """Measure every step at one size, kernels compiled beforehand."""
    small = adult_like(1000)
    release(small.table, small.hierarchies, k)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "table.csv"
        made = adult_like(records)
        write_table(made.table, source)
        hierarchies = made.hierarchies
        del made
        before = peak_megabytes()
        frame, reading = cpu_seconds(lambda: open_table(source))
        coded, coding = cpu_seconds(lambda: encode(frame, QUASI_IDENTIFIERS, hierarchies=hierarchies))
        _, cutting = cpu_seconds(lambda: shoal.Mondrian().run(coded, Task(k=k)))
        result, whole = cpu_seconds(lambda: release(frame, hierarchies, k))
        _, saving = cpu_seconds(lambda: result.save(Path(folder) / "release.csv"))
        return {
            "records": records,
            "file MB": round(source.stat().st_size / 1e6, 1),
            "read s": reading,
            "encode s": coding,
            "Mondrian s": cutting,
            "encode to checked release s": whole,
            "save and verify s": saving,
            "peak MB": round(peak_megabytes()),
            "peak before MB": round(before),
            "loss": result.metrics["ncp"],
        }


def main() -> None:
    """Measure and publish."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    sizes = [30_000] if parser.parse_args().quick else [30_000, 300_000, 1_000_000, 3_000_000]
    rows = [in_new_process(measure, size, 10) for size in sizes]
    publish("scale", "From file to release with Mondrian, k = 10 (CPU seconds)", rows, "python -m benchmarks.scale")


if __name__ == "__main__":
    main()
