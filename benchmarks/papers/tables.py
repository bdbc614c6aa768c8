"""What the paper benchmarks share: reference data, one measured run, and pages of several tables."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.measuring import RESULTS, Row, as_markdown, cpu_seconds, data_folder, machine
from shoal.encoding import CodedTable
from shoal.files import read_table
from shoal.frames import Frame
from shoal.methods.base import Method, Task
from shoal.metrics import Outcome, measure
from shoal.recoding import released_cover


@dataclass(frozen=True)
class Table:
    """Rows of figures with a title, and a sentence or two on how to read them."""

    title: str
    note: str
    rows: Sequence[Row]


def write_tables(name: str, title: str, tables: Sequence[Table], folder: Path) -> None:
    """Write ``name``.json and ``name``.md into ``folder``, and print the Markdown."""
    folder.mkdir(parents=True, exist_ok=True)
    command = f"python -m benchmarks.papers.{name}"
    parts = [f"## {table.title}\n\n{table.note}\n\n{as_markdown(table.rows)}" for table in tables]
    text = "\n".join([f"# {title}\n\nMade by `{command}`.\n", *parts])
    (folder / f"{name}.md").write_text(text, "utf-8")
    content = {"title": title, "command": command, "machine": machine(), "tables": [asdict(table) for table in tables]}
    (folder / f"{name}.json").write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(text)


def parse_arguments(description: str | None) -> argparse.Namespace:
    """Read ``--quick`` and ``--output`` from the command line."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="fewer seeds and sizes, for a look in under a minute")
    parser.add_argument("--output", type=Path, default=RESULTS / "papers", help="folder for the tables")
    return parser.parse_args()


def adult(records: int | None = None, seed: int = 0) -> Frame:
    """Return UCI Adult, or a random sample of it in the file's order."""
    frame = read_table(data_folder() / "adult" / "adult.csv")
    if records is None:
        return frame
    chosen = np.random.default_rng(seed).choice(frame.records, records, replace=False)
    return replace(frame, table=frame.table.take(np.sort(chosen)))


def adult_hierarchy(column: str) -> Path:
    """Return the file with the hierarchy of one of Adult's columns."""
    return data_folder() / "adult" / "hierarchies" / f"{column}.csv"


def measured(method: Method, table: CodedTable, k: int) -> Row:
    """Return every metric of a method's groups, their sizes, and the CPU time the grouping took."""
    grouping, seconds = cpu_seconds(lambda: method.run(table, Task(k=k)))
    sizes = np.bincount(grouping.labels)
    outcome = Outcome(table, grouping.labels, released_cover(table, grouping), k)
    return measure(outcome) | {
        "cpu_s": seconds,
        "smallest": int(sizes.min()),
        "largest": int(sizes.max()),
        "mean_size": float(sizes.mean()),
    }
