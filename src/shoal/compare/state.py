"""Finished points: a file with one line for each, so that a comparison can be continued.

A line is stored under a key that depends on the rows, on every parameter and on the version of shoal. The file
holds figures and no rows.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from shoal._version import __version__
from shoal.compare.points import Plan, Point
from shoal.errors import FileError
from shoal.hierarchy import WORDS, Hierarchy
from shoal.validation import refuse_pipe, shown


class State:
    """The finished points of earlier runs, and a place for new ones."""

    def __init__(self, path: Path | None, table_hash: str) -> None:
        self.path = path
        self.table_hash = table_hash
        self.known: dict[str, Point] = {} if path is None else _read(path)

    def key(self, plan: Plan, records: int) -> str:
        """Return what a point depends on, as a hash."""
        content = {
            "shoal": __version__,
            "table": self.table_hash,
            "records": records,
            "recipe": plan.request.recipe.model_dump(mode="json"),
            "hierarchies": {name: _trace(choice) for name, choice in sorted(plan.request.hierarchies.items())},
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    def add(self, key: str, point: Point) -> None:
        """Write a finished point down at once; what failed is tried again next time."""
        if self.path is None or point.fault is not None:
            return
        line = json.dumps({"key": key, "point": asdict(point)}) + "\n"
        try:
            with self.path.open("a", encoding="utf-8") as stream:
                stream.write(line)
        except (OSError, UnicodeEncodeError):
            raise FileError(
                f"The state {shown(self.path.name)} may not be written.", hint="choose another file, or leave it out."
            ) from None


def _trace(choice: Any) -> str:
    """Return what a hierarchy holds, as a hash: its tree, or the bytes of its file."""
    if isinstance(choice, Hierarchy):
        weights = None if choice.node_weights is None else choice.node_weights.tolist()
        content = json.dumps([choice.labels, choice.parent.tolist(), *([weights] if weights else [])]).encode()
    elif str(choice) in WORDS or not Path(choice).is_file():
        content = str(choice).encode()
    else:
        content = Path(choice).read_bytes()
    return hashlib.sha256(content).hexdigest()


def _read(path: Path) -> dict[str, Point]:
    """Return the points of a state file; a line cut off by a crash is left out."""
    if not path.parent.is_dir():
        raise FileError(f"The folder of the state {path.name!r} does not exist.", hint="create it first.")
    refuse_pipe(path)
    known = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    except (OSError, UnicodeDecodeError):
        raise FileError(f"The state {path.name!r} cannot be read.", hint="choose another file.") from None
    for line in lines:
        try:
            content = json.loads(line)
            known[content["key"]] = Point(**content["point"])
        except (ValueError, KeyError, TypeError):
            continue
    return known
