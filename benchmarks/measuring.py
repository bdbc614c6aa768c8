"""What all benchmarks share: CPU and memory of a piece of work, and tables of what was measured."""

from __future__ import annotations

import json
import os
import platform
import resource
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pyarrow as pa

import shoal

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


def peak_megabytes() -> float:
    """Return the most memory this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)


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


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def publish(name: str, title: str, rows: Iterable[Row], command: str) -> None:
    """Print rows as a table and keep them as ``results/<name>.json`` and ``.md``."""
    listed = list(rows)
    text = f"# {title}\n\nMade by `{command}`.\n\n{as_markdown(listed)}"
    (RESULTS / name).parent.mkdir(parents=True, exist_ok=True)
    content = {"title": title, "command": command, "machine": machine(), "rows": listed}
    (RESULTS / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    (RESULTS / f"{name}.md").write_text(text, encoding="utf-8")
    print(text)
