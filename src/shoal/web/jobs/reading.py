"""What was understood of a file, in words, and a few values of each column."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.frames import Frame
from shoal.frames.canonical import decoded
from shoal.io.registry import file_source

_SHOWN = 3
_LONGEST = 40
_FIRST_ROWS = 200


def describe_reading(path: str, frame: Frame) -> dict[str, Any]:
    """Return how a file was read: its form and, for text, separator, encoding and how columns are written."""
    told = {"columns": frame.understood(frame.names), "notes": list(frame.notes)}
    return _form(Path(path), frame) | told


def _form(path: Path, frame: Frame) -> dict[str, Any]:
    if frame.layout is None:
        return {"form": file_source(path.name).name}
    if path.name.lower().endswith(".gz"):
        return {"form": "text, compressed"}
    return {"form": "text", "separator": frame.layout.separator, "encoding": frame.layout.encoding}


def sample_values(frame: Frame, name: str) -> list[str]:
    """Return the first few values of a column, shortened."""
    column = frame.table.column(name).slice(0, _FIRST_ROWS)
    seen = dict.fromkeys(str(value) for value in column.to_pylist() if value is not None)
    return [value if len(value) <= _LONGEST else value[: _LONGEST - 1] + "…" for value in list(seen)[:_SHOWN]]


def cell_texts(frame: Frame, name: str, rows: Sequence[int]) -> list[str]:
    """Return some cells of a column as texts; a missing one is empty."""
    column = decoded(frame.table.column(name).take(pa.array(rows, pa.int64())))
    return ["" if value is None else str(value) for value in column.to_pylist()]
