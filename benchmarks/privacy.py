"""What privacy costs: loss by model, wider cells, attacks, unique sets of columns, and how mending grows.

python -m benchmarks.privacy                      everything (about ten minutes)
python -m benchmarks.privacy --only widening      one part: models, widening, attacks, uniques or growth

Times are CPU seconds of all threads, kernels compiled beforehand.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence

import shoal
from benchmarks.adult import setting, train
from benchmarks.measuring import Row, Table, write_page
from shoal import attacks
from shoal.encoding import load_hierarchy
from shoal.hierarchy import Hierarchy

K = 10


def _trees(name: str) -> dict[str, Hierarchy]:
    """Return the hierarchies of a setting that come from files."""
    chosen = setting(name)["hierarchies"]
    return {column: load_hierarchy(column, path) for column, path in chosen.items() if path not in {"flat", "set"}}


def widening() -> Iterator[Table]:
    """Tight cells and guesses at the ends of ranges, by how many cells are released wider than needed."""
    frame = train()
    for name in ("X", "S"):
        rows: list[Row] = []
        for method in ("optimise", "mondrian"):
            for share in (0.0, 0.25, 0.5, 1.0):
                result = shoal.anonymize(frame, k=K, method=method, effort="fast", widen=share, **setting(name))
                found = attacks.downcoding(frame, result, setting(name)["quasi_identifiers"], hierarchies=_trees(name))
                row: Row = {"method": method, "widen": share, "loss": result.metrics["ncp"]}
                row |= {"tight cells": found.figures["tight"], "an end guessed rightly": found.success.share}
                rows.append(row | {"any value of the range": found.control.share if found.control else None})
        note = f"UCI Adult, {frame.records:,} records, k = {K}, effort fast. Tight: as narrow as the group allows."
        yield Table(f"Setting {name}", note, rows)


PARTS: dict[str, tuple[str, Callable[[], Iterator[Table]]]] = {
    "widening": ("Cells wider than needed: what an intruder still reads out of them, and what is lost", widening),
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and publish."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=list(PARTS))
    chosen = parser.parse_args(arguments).only
    for name, (title, tables) in PARTS.items():
        if chosen in {None, name}:
            write_page(f"privacy_{name}", title, list(tables()), f"python -m benchmarks.privacy --only {name}")


if __name__ == "__main__":
    main()
