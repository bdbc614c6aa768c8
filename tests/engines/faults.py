"""Kill -9 whoever works on a streamed release, at random moments: ``python -m tests.engines.faults --strikes 50``.

A parent with two workers makes one release after the other, into a file or a folder of parts. In each, after a random step, a worker or the parent is killed. Afterwards the
whole checked release has its name, or nothing is there. What a killed parent leaves is a hidden folder that only its owner may read, and the next release beside it removes it.
"""

from __future__ import annotations

import secrets
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow.parquet as papq

from shoal.publication import DICTIONARY_KEY, dictionary_path
from tests.tools.killing import (
    RECORDS,
    K,
    Say,
    Served,
    below,
    campaign,
    command,
    fault_in_rows,
    main,
    say,
    serve,
    strike,
    wait_while,
)

WORKER = "spawn_main"
"""A part of the command of each worker."""
VICTIMS = {"worker": WORKER, "parent": None}


def make_releases(source: str) -> None:
    """Stream a source into the targets that are named."""
    import shoal
    from shoal.engines.stream import engine
    from shoal.plan import steps
    from tests.engines.tables import HIERARCHIES, QUASI_IDENTIFIERS

    steps.LARGE, steps._FAST_FRAGMENT, steps._MANY_GROUPS, steps._PILOT = 300, 150, 1, 300
    engine._ROWS = engine._FEWEST_ROWS = 100
    recipe = shoal.Anonymizer(
        k=K,
        quasi_identifiers=QUASI_IDENTIFIERS,
        sensitive=["illness"],
        identifiers=["note"],
        hierarchies=HIERARCHIES,
        effort="fast",
        progress=lambda _, text: say(f"step {text}"),
    )
    serve(lambda target: recipe.stream(source, target, workers=2))


def undisturbed(parent: Served, target: Path) -> dict[str, int]:
    """Make a release; return how many steps it takes, and at how many from the first on somebody of a kind can be killed."""
    last = dict.fromkeys(VICTIMS, 0)
    for number, _ in enumerate(parent.release(target), 1):
        last["parent"] = number
        last["worker"] = number if any(WORKER in command(one) for one in below(parent.process.pid)) else last["worker"]
    return last


def fault_in(target: Path, *, hidden: bool) -> str | None:
    """Return what is wrong with what a release left, or None; ``hidden``: private folders of a killed parent may be there."""
    dictionary = dictionary_path(target)
    for one in target.parent.iterdir():
        if one in (target, dictionary):
            continue
        if not hidden:
            return f"left beside the release: {one.name} with {sorted(map(str, one.rglob('*')))}"
        if not one.name.startswith(".shoal-") or one.stat().st_mode & 0o077:
            return "something left that others may read"
    if not target.exists():
        return None
    parts = [*target.glob("*.parquet")] if target.is_dir() else [target]
    held = all(DICTIONARY_KEY in papq.read_metadata(one).metadata for one in parts if one.suffix == ".parquet")
    whole = dictionary.exists() or (held and parts[0].suffix == ".parquet")
    return fault_in_rows(target) if whole else "a release without its dictionary"


class Campaign:
    """A source, and the parent that streams it at present."""

    def __init__(self, folder: Path, seed: int) -> None:
        from tests.engines.tables import people

        self.folder, self.draw = folder, np.random.default_rng(seed)
        papq.write_table(people(RECORDS), folder / "people.parquet")
        self.parent = self.start()
        self.steps = undisturbed(self.parent, folder / "undisturbed.parquet")

    def start(self) -> Served:
        """Return a new parent."""
        return Served(["-m", "tests.engines.faults", "--serve", str(self.folder / "people.parquet")])

    def one(self, number: int, tally: Counter[str]) -> str | None:
        """Strike once; return what was wrong."""
        if not self.parent.lives:
            self.parent = self.start()
        kind = list(VICTIMS)[number % len(VICTIMS)]
        target = self.folder / f"target-{number}" / ("release" if number // 2 % 2 else "release.parquet")
        target.parent.mkdir()
        at = int(self.draw.integers(0, self.steps[kind]))
        hit, others, end = strike(self.parent, self.draw, VICTIMS[kind], target, at=at, within=0.05)
        tally[f"{kind} struck" if hit else "missed"] += 1
        killed = hit and kind == "parent"
        fault = fault_in(target, hidden=killed)
        if end == "done" and not target.exists():
            fault = fault or "no release though it was said to be done"
        if not hit and end != "done":
            fault = fault or f"{end} though nobody was killed"
        tally["released" if target.exists() else "nothing left"] += 1
        if killed:
            self.parent.end()
            live_on = wait_while(lambda: any("python" in command(one) for one in others))
            self.parent = self.start()
            fault = fault or ("workers live on" if live_on else self._fault_of_next(target))
        return fault and f"{kind}: {fault}"

    def _fault_of_next(self, target: Path) -> str | None:
        """Make another release beside what a killed parent left, and look whether that is gone."""
        for one in (target, target.with_name(target.name + ".json")):
            if one.exists():
                one.rename(self.folder / f"{secrets.token_hex(8)}")
        for line in self.parent.release(target):
            if line.startswith("failed"):
                return f"the next release {line}"
        return fault_in(target, hidden=False) or (None if target.exists() else "no next release")


def run(count: int, seed: int, tell: Say) -> Counter[str]:
    """Strike ``count`` times; return what came of it."""
    with tempfile.TemporaryDirectory() as name:
        strikes = Campaign(Path(name), seed)
        tally = campaign(count, tell, strikes.one)
        strikes.parent.end()
    return tally


if __name__ == "__main__":
    main("tests.engines.faults", __doc__, run, make_releases)
