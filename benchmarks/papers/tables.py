"""What the paper benchmarks share: reference data, timing, and tables written as JSON and Markdown."""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from shoal.encoding import CodedTable
from shoal.files import read_table
from shoal.frames import Frame
from shoal.methods.base import Method, Task
from shoal.metrics import Outcome, measure
from shoal.recoding import released_cover

_ROOT = Path(__file__).resolve().parent.parent.parent
RESULTS = Path(__file__).resolve().parent / "results"


@dataclass(frozen=True)
class Table:
    """Rows of figures with a title, and a sentence or two on how to read them."""

    title: str
    note: str
    rows: Sequence[Mapping[str, Any]]

    def markdown(self) -> str:
        """Return the table as Markdown."""
        names = list(self.rows[0])
        lines = [names, ["---"] * len(names), *([_cell(row[name]) for name in names] for row in self.rows)]
        body = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        return f"## {self.title}\n\n{self.note}\n\n{body}\n"


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def write_tables(name: str, title: str, tables: Sequence[Table], folder: Path) -> None:
    """Write ``name``.json and ``name``.md into ``folder``, and print the Markdown."""
    folder.mkdir(parents=True, exist_ok=True)
    text = f"# {title}\n\n" + "\n".join(table.markdown() for table in tables)
    (folder / f"{name}.md").write_text(text, "utf-8")
    content = [asdict(table) for table in tables]
    (folder / f"{name}.json").write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(text)


def parse_arguments(description: str | None) -> argparse.Namespace:
    """Read ``--quick`` and ``--output`` from the command line."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="fewer seeds and sizes, for a look in under a minute")
    parser.add_argument(
        "--output", type=Path, default=RESULTS, help="folder for the tables (default: beside this file)"
    )
    return parser.parse_args()


def data_file(name: str) -> Path:
    """Return the path of a reference file, looked for in the folder SHOAL_DATA."""
    return Path(os.environ.get("SHOAL_DATA") or _ROOT.parent / "shared" / "data") / name


def adult(records: int | None = None, seed: int = 0) -> Frame:
    """Return UCI Adult, or a random sample of it in the file's order."""
    frame = read_table(data_file("adult/adult.csv"))
    if records is None:
        return frame
    chosen = np.random.default_rng(seed).choice(frame.records, records, replace=False)
    return replace(frame, table=frame.table.take(np.sort(chosen)))


def measured(method: Method, table: CodedTable, k: int) -> dict[str, Any]:
    """Return every metric of a method's groups, their sizes, and the CPU time the grouping took."""
    before = time.process_time()
    grouping = method.run(table, Task(k=k))
    seconds = time.process_time() - before
    sizes = np.bincount(grouping.labels)
    outcome = Outcome(table, grouping.labels, released_cover(table, grouping), k)
    return measure(outcome) | {
        "cpu_s": seconds,
        "smallest": int(sizes.min()),
        "largest": int(sizes.max()),
        "mean_size": float(sizes.mean()),
    }
