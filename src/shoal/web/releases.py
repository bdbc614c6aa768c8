"""The releases made so far, each with a number and under the recipe it came from: undo brings an earlier one back at once."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shoal.report.words import felt_sentences
from shoal.web.draft import Draft
from shoal.web.identity import Stamp, stamp_files

_MOST = 5


@dataclass(frozen=True)
class Made:
    """A release in a private folder, and what is shown of it."""

    number: int
    """What the page calls it: the first release that was made is 1."""
    key: str
    """What it was made of: table, recipe and key."""
    draft: Draft
    folder: str
    summary: dict[str, Any]
    """``shoal.summary.Summary`` as plain values."""
    figures: list[dict[str, Any]]
    stopped: bool = False
    """Whether its search was stopped: nobody can stop at the same moment again."""

    @property
    def felt(self) -> str:
        """How many recoded cells are exact, and how many values a typical other cell covers."""
        loss = self.summary["loss"]
        return " ".join(felt_sentences(loss.get("exact"), loss.get("typical")))

    @property
    def loss(self) -> float:
        """The information lost, 0 to 1."""
        return float(self.summary["loss"]["ncp"])

    @property
    def bound(self) -> float | None:
        """The bound below which no release with this k can come, if it is known."""
        found = self.summary["loss"]["lower_bound"]
        return None if found is None else float(found)

    @property
    def risk(self) -> float:
        """The chance to find the person worst off."""
        return float(self.summary["found"]["after"]["largest_risk"])

    @property
    def repeatable(self) -> bool:
        """Whether the recipe gives the same release again: not if it was stopped, by hand or by seconds."""
        return not self.stopped and isinstance(self.draft.get("effort"), str)


@dataclass(frozen=True)
class Written:
    """What was written of a release, and how the files looked then."""

    names: dict[str, str]
    counted: dict[str, Any]
    targets: dict[str, str]
    stamps: dict[str, Stamp]

    def is_unchanged(self, what: str) -> bool:
        """Return whether a file is as it was written."""
        return stamp_files([self.targets[what]]) == self.stamps[what]


@dataclass
class Releases:
    """The newest few releases, and what was written of them."""

    made: list[Made] = field(default_factory=list)
    written: dict[int, Written] = field(default_factory=dict)
    """By the number of the release."""
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def of(self, key: str) -> Made | None:
        """Return the newest release made of a table and a recipe."""
        return next((one for one in reversed(self.made) if one.key == key), None)

    def add(self, key: str, draft: Draft, found: dict[str, Any]) -> Made:
        """Keep a release and let go of the one it replaces, and of the oldest."""
        made = Made(number=next(self._numbers), key=key, draft=draft, **found)
        older = [one for one in self.made if one.key != key]
        kept = [*older[-(_MOST - 1) :], made]
        for one in self.made:
            if one not in kept:
                shutil.rmtree(Path(one.folder), ignore_errors=True)
        self.made = kept
        return made

    def wrote(self, made: Made, names: dict[str, str], found: dict[str, Any]) -> None:
        """Note what was written of a release; files of an earlier one with the same names are no longer its own."""
        targets = dict(found["targets"])
        taken = set(targets.values())
        self.written = {number: one for number, one in self.written.items() if not taken & set(one.targets.values())}
        stamps = {what: stamp_files([path]) for what, path in targets.items()}
        self.written[made.number] = Written(names, found, targets, stamps)
