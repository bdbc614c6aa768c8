"""Panels of people with several records each, and a count of people that knows nothing of shoal's coding."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

QUASI = ["age", "wave", "sex", "region"]
ILLS = ["flu", "gout", "burn", "none", "cold"]


def panel(persons=60, *, most=5, seed=0):
    """Return a panel in which people have 1 to ``most`` records that differ little, in households of one to three people."""
    draw = np.random.default_rng(seed)
    rows = draw.integers(1, most + 1, persons)
    person = np.repeat(np.arange(persons), rows)
    wave = np.concatenate([np.arange(count) for count in rows])
    born = draw.integers(20, 70, persons)
    household = np.repeat(np.arange(persons), draw.integers(1, 4, persons))[:persons]
    region = np.array(["north", "south", "east", "west"])[draw.integers(0, 4, persons)]
    often = draw.integers(0, len(ILLS), persons)
    ill = np.where(draw.random(len(person)) < 0.5, often[person], draw.integers(0, len(ILLS), len(person)))
    table = {
        "nr": person + 1000,
        "hh": household[person] + 5000,
        "age": born[person] + wave,
        "wave": wave,
        "sex": np.array(["f", "m"])[draw.integers(0, 2, persons)][person],
        "region": region[person],
        "ill": np.array(ILLS)[ill],
        "w": np.round(draw.uniform(1, 40, persons), 2)[person],
    }
    return pa.table(table).take(pa.array(draw.permutation(len(person))))


def released_groups(result, names=QUASI):
    """Return the input rows of each released combination of cells, told apart by their text."""
    kept = [row for row, group in enumerate(result.groups.tolist()) if group >= 0]
    cells = zip(*(map(str, pa.table(result.data).column(name).to_pylist()) for name in names), strict=True)
    groups: dict[tuple[str, ...], list[int]] = {}
    for row, combination in zip(kept, cells, strict=True):
        groups.setdefault(combination, []).append(row)
    return groups


def owners_by_group(result, table, column, names=QUASI):
    """Return the people (or households) of each released combination."""
    owner = table.column(column).to_pylist()
    return {cells: {owner[row] for row in rows} for cells, rows in released_groups(result, names).items()}


def fewest_companions(result, table, column, names=QUASI):
    """Return how many people fit the person worst off, when an intruder knows all of that person's records."""
    holders = owners_by_group(result, table, column, names)
    met: dict[object, list[tuple[str, ...]]] = {}
    for cells, owners in holders.items():
        for owner in owners:
            met.setdefault(owner, []).append(cells)
    return min(len(set.intersection(*(holders[one] for one in cells))) for cells in met.values())
