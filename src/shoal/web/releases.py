"""The releases made so far, each under the recipe it came from: undo brings an earlier one back at once."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_MOST = 5


@dataclass(frozen=True)
class Made:
    """A release that lies in a private folder, and what is told about it."""

    folder: str
    summary: dict[str, Any]
    """``shoal.summary.Summary`` as plain values."""
    figures: list[dict[str, Any]]

    @property
    def loss(self) -> float:
        """The information lost, 0 to 1."""
        return float(self.summary["loss"]["ncp"])

    @property
    def bound(self) -> float | None:
        """What no release with this k can lose less than, where it is known."""
        found = self.summary["loss"]["lower_bound"]
        return None if found is None else float(found)

    @property
    def risk(self) -> float:
        """The chance to find the person worst off."""
        return float(self.summary["found"]["after"]["largest_risk"])


@dataclass
class Releases:
    """The newest few releases by the key of their recipe and table."""

    made: dict[str, Made] = field(default_factory=dict)
    published: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What was written, by the same keys."""

    def add(self, key: str, release: Made) -> None:
        """Keep a release and let go of the oldest."""
        self.made.pop(key, None)
        self.made[key] = release
        while len(self.made) > _MOST:
            oldest = self.made.pop(next(iter(self.made)))
            shutil.rmtree(Path(oldest.folder), ignore_errors=True)
