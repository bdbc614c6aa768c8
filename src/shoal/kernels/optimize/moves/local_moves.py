"""The cheap moves, one after the other over the groups of a region: relocate and swap, dissolve, evict, rebuild.

They are one kernel because the groups of a region are loaded once for all of them.
"""

from __future__ import annotations

from shoal.arrays import IntArray
from shoal.compiling.decorator import kernel
from shoal.kernels.common.random_state import make_state
from shoal.kernels.optimize.cells.steps import SeedDistances
from shoal.kernels.optimize.moves.evict import evict_from_groups
from shoal.kernels.optimize.moves.rebuild import rebuild_by_cells
from shoal.kernels.optimize.moves.relocate_swap import dissolve_groups, sweep
from shoal.kernels.optimize.state.groups import total_cost
from shoal.kernels.optimize.state.outcome import Outcome
from shoal.kernels.optimize.state.regions import Regions, load_region, store_region
from shoal.kernels.space.space import Space

HOSTS = 3
"""Groups to which the relocation of a record is tried, the cheapest ones."""
MOST_NEIGHBOURS = 3
"""Groups rebuilt together with another one, at most."""
MOVES = ("relocate-swap", "dissolve", "evict", "rebuild")
"""Bit i of ``active`` switches move i on."""


@kernel()
def improve_region(
    space: Space,
    codes: IntArray,
    label: IntArray,
    regions: Regions,
    region: int,
    steps: SeedDistances,
    k: int,
    active: int,
    visits: int,
    temperature: float,
    rebuild_temperature: float,
    noise: float,
    seed: int,
) -> tuple[Outcome, Outcome, Outcome, Outcome]:
    """Improve the groups of one region by the active moves and return what each of them did.

    The result depends on nothing outside the region, so regions may be improved at the same time. Labels become
    numbers that no other region uses.

    Parameters
    ----------
    visits
        Budget: groups are rebuilt so often that a record is visited this many times on average, whatever k is.
    temperature, rebuild_temperature
        By how much a step may raise the cost at most (simulated annealing), so that the search leaves what no single step improves.
    noise
        How much column weights are shaken when groups are rebuilt.
    """
    groups = load_region(space, codes, label, regions, region, k)
    moved, dissolved, evicted, rebuilt = Outcome(0, 0, 0.0), Outcome(0, 0, 0.0), Outcome(0, 0, 0.0), Outcome(0, 0, 0.0)
    if total_cost(groups) > 0.0:
        state, records = make_state(seed, region), groups.label.shape[0]
        if active & 1:
            moved = sweep(space, groups, k, HOSTS, temperature, state)
        if active & 2:
            dissolved = dissolve_groups(space, groups)
        if active & 4:
            evicted = evict_from_groups(space, groups, k, state)
        if active & 8:
            visits_per_try = MOST_NEIGHBOURS * k + 8  # about the records it visits, and 8 for its other work
            tries = 1 + visits * records // visits_per_try
            rebuilt = rebuild_by_cells(
                space, steps, groups, k, tries, MOST_NEIGHBOURS, noise, rebuild_temperature, state
            )
    store_region(groups, label, regions, region)
    return moved, dissolved, evicted, rebuilt
