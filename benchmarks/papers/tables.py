"""What the paper benchmarks share: one measured run, the methods to compare, and pages of several tables."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.measuring import RESULTS, Row, Table, cpu_seconds, write_page
from shoal.cells.recode import released_cover
from shoal.encoding import CodedTable
from shoal.methods import REGISTRY, make_method
from shoal.methods.base import Method, Task
from shoal.metrics import Outcome, measure

__all__ = ["Table", "measured", "method_text", "parse_arguments", "registered", "write_tables"]


def write_tables(name: str, title: str, tables: Sequence[Table], folder: Path) -> None:
    """Write ``name``.json, ``name``.md and the pictures into ``folder``, and print the Markdown."""
    extent = " --quick" if "--quick" in sys.argv else ""
    write_page(name, title, tables, f"python -m benchmarks.papers.{name}{extent}", folder)


def parse_arguments(description: str | None) -> argparse.Namespace:
    """Read ``--quick`` and ``--output`` from the command line."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="fewer seeds and sizes, for a look in under a minute")
    parser.add_argument("--output", type=Path, help="folder for the tables; by default results/papers or results/quick")
    arguments = parser.parse_args()
    if arguments.output is None:
        arguments.output = RESULTS / ("quick" if arguments.quick else "papers")
    return arguments


def registered(*names: str) -> list[Method]:
    """Return those of the named methods that this version of shoal has."""
    return [make_method(name) for name in names if name in REGISTRY.places()]


def method_text(method: Method) -> str:
    """Return a method as a row names it: its name, and the options that are not the default."""
    usual = vars(type(method)())
    changed = [f"{name}={value!r}" for name, value in vars(method).items() if value != usual[name]]
    return method.info.name + (f" ({', '.join(changed)})" if changed else "")


def measured(method: Method, table: CodedTable, k: int) -> Row:
    """Return every metric of a method's groups, their sizes, and the CPU time the grouping took; effort "fast" if there is a dial."""
    grouping, seconds = cpu_seconds(lambda: method.run(table, Task(k=k, effort="fast")))
    sizes = np.bincount(grouping.labels)
    outcome = Outcome(table, grouping.labels, released_cover(table, grouping), k)
    return measure(outcome) | {
        "cpu_s": seconds,
        "smallest": int(sizes.min()),
        "largest": int(sizes.max()),
        "mean_size": float(sizes.mean()),
    }
