"""What was understood of a file, in words, and a few values of each column."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal.frames import Frame
from shoal.io.delimited import detect_encoding, detect_separator
from shoal.io.files import file_format

_SAMPLE_BYTES = 1 << 18
_SHOWN = 3
_LONGEST = 40
_FIRST_ROWS = 200


def describe_reading(path: str, options: dict[str, Any], frame: Frame) -> dict[str, Any]:
    """Return how a file was read: its form and, for text, separator, encoding and how columns are written."""
    told = {"columns": frame.understood(frame.names), "notes": list(frame.notes)}
    return _form(Path(path), options, frame) | told


def _form(source: Path, options: dict[str, Any], frame: Frame) -> dict[str, Any]:
    if file_format(source) != "csv" or not frame.untyped:
        return {"form": file_format(source)}
    if source.name.lower().endswith(".gz"):
        return {"form": "text, compressed"}
    with source.open("rb") as stream:
        sample = stream.read(_SAMPLE_BYTES)
    encoding = options.get("encoding") or detect_encoding(sample)
    separator = options.get("separator") or detect_separator(sample.decode(encoding, errors="ignore"))
    return {"form": "text", "separator": separator, "encoding": encoding}


def sample_values(frame: Frame, name: str) -> list[str]:
    """Return the first few values of a column, shortened."""
    column = frame.table.column(name).slice(0, _FIRST_ROWS)
    seen = dict.fromkeys(str(value) for value in column.to_pylist() if value is not None)
    return [value if len(value) <= _LONGEST else value[: _LONGEST - 1] + "…" for value in list(seen)[:_SHOWN]]
