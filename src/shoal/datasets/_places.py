"""Towns and their postal codes: few large towns, many small ones."""

from __future__ import annotations

from shoal.datasets._words import TOWNS

_REGIONS = tuple(range(80, 150, 5))  # the first three digits; below 100 a code has a leading zero
_LARGEST_TOWN_CODES = 48


def _towns_by_zip() -> dict[str, int]:
    """Return codes of each town in one region, one after the other, more for the larger towns."""
    towns: dict[str, int] = {}
    taken = dict.fromkeys(_REGIONS, 0)
    for rank in range(len(TOWNS)):
        region = _REGIONS[rank % len(_REGIONS)]
        for _ in range(max(1, _LARGEST_TOWN_CODES // (rank + 1))):
            towns[f"{region:03d}{taken[region]:02d}"] = rank
            taken[region] += 1
    return dict(sorted(towns.items()))


def _weights(town_of: dict[str, int]) -> list[int]:
    """Share a town's people, which fall with its rank (Zipf), evenly among its codes."""
    ranks = list(town_of.values())
    return [100_000_000 // ((rank + 1) * ranks.count(rank)) for rank in ranks]


_TOWN_OF = _towns_by_zip()
ZIPS = tuple(_TOWN_OF)
ZIP_WEIGHTS = _weights(_TOWN_OF)
ZIP_TOWNS = tuple(TOWNS[rank] for rank in _TOWN_OF.values())
