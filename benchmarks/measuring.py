"""What all benchmarks share: CPU and memory of a piece of work, and tables of what was measured."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import numba
import numpy as np
import pyarrow as pa

import shoal
from benchmarks.memory import peak_megabytes as peak_megabytes  # noqa: PLC0414  (one place to import from)
from benchmarks.plots import Plot, curves
from shoal.report.svg import render

RESULTS = Path(__file__).parent / "results"
Row = dict[str, Any]


def data_folder() -> Path:
    """Return the folder with the public reference data: SHOAL_DATA, or ``shared/data`` beside the checkout."""
    return Path(os.environ.get("SHOAL_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")


def cpu_seconds(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return what ``work`` returns and the CPU seconds it took, all threads together."""
    begin = time.process_time()
    value = work()
    return value, time.process_time() - begin


def in_new_process(work: Callable[..., Row], *arguments: Any) -> Row:
    """Run ``work`` in a process of its own, so that its peak of memory is its own."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(work, arguments)


def machine() -> Row:
    """Return what the figures depend on."""
    return {
        "cpu": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "shoal": shoal.__version__,
        "numba": numba.__version__,
        "numpy": np.__version__,
        "pyarrow": pa.__version__,
    }


def as_markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as a Markdown table; numbers with four significant digits."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(_cell(row.get(name)) for name in names) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def folded(rows: Sequence[Row]) -> list[Row]:
    """Return rows in which a figure has its least and largest value, if there are any, in its own cell."""
    return [
        {
            name: _range(value, row[f"{name} least"], row[f"{name} most"]) if f"{name} least" in row else value
            for name, value in row.items()
            if not (name.endswith((" least", " most")) and name.rpartition(" ")[0] in row)
        }
        for row in rows
    ]


def _range(mean: float, least: float, most: float) -> str:
    middle = round(mean) if isinstance(least, int) else mean
    return f"{_cell(middle)} ({_cell(least)} to {_cell(most)})"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


@dataclass(frozen=True)
class Table:
    """Rows of figures with a title, a sentence or two on how to read them, and perhaps a picture of them."""

    title: str
    note: str
    rows: Sequence[Row]
    plot: Plot | None = None
    further: Sequence[Plot] = ()
    """More pictures of the same rows."""


def publish(name: str, title: str, rows: Iterable[Row], command: str) -> None:
    """Print rows as a table and keep them as ``results/<name>.json`` and ``.md``."""
    write_page(name, title, [Table("", "", list(rows))], command)


def kept_rows(name: str, folder: Path = RESULTS) -> list[Row]:
    """Return the rows of a page that was kept before, none if there is none."""
    page = folder / f"{name}.json"
    tables = json.loads(page.read_text("utf-8"))["tables"] if page.exists() else []
    return [row for table in tables for row in table["rows"]]


def write_page(name: str, title: str, tables: Sequence[Table], command: str, folder: Path = RESULTS) -> None:
    """Print tables, and keep them in ``folder`` as ``<name>.json``, ``<name>.md`` and a picture for each plot."""
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    here = machine()
    parts = [_part(table, f"{name}-{number}", folder) for number, table in enumerate(tables, 1)]
    found = ", ".join(f"{key} {value}" for key, value in here.items())
    text = "\n".join([f"# {title}\n\nMade by `{command}` ({found}).\n", *parts])
    content = {"title": title, "command": command, "machine": here, "tables": [asdict(table) for table in tables]}
    (folder / f"{name}.json").write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")
    (folder / f"{name}.md").write_text(text, "utf-8")
    print(text)


def _part(table: Table, picture: str, folder: Path) -> str:
    """Return a table as Markdown, after drawing its picture where it has one."""
    parts = [f"## {table.title}"] if table.title else []
    parts += [table.note] if table.note else []
    plots = [plot for plot in (table.plot, *table.further) if plot is not None]
    for plot, letter in zip(plots, ["", *ascii_lowercase], strict=False):
        (folder / f"{picture}{letter}.svg").write_text(render(curves(table.rows, plot)), "utf-8")
        parts.append(f"![{plot.caption or table.title}]({Path(picture).name}{letter}.svg)")
    return "\n\n".join([*parts, as_markdown(folded(table.rows))])
