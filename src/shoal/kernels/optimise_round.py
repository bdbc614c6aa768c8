"""One round of improvement: every kind of step, once over the groups of a region."""

from __future__ import annotations

from shoal.kernels.chance import make_state
from shoal.kernels.compiling import kernel
from shoal.kernels.optimise_evict import narrow_groups
from shoal.kernels.optimise_groups import total_cost
from shoal.kernels.optimise_moves import dissolve_groups, sweep
from shoal.kernels.optimise_open import recreate_by_cells
from shoal.kernels.optimise_regions import Regions, load_region, store_region
from shoal.kernels.optimise_steps import Steps
from shoal.kernels.space import Space
from shoal.typing import IntArray

HOSTS = 3
"""Groups tried for each record."""
MOST_NEIGHBOURS = 3
"""Groups rebuilt together with another one, at most."""
NOISE = 0.5
"""How much column weights are shaken when groups are rebuilt."""
WARM = 0.2
"""What rebuilding may cost more, as a share of what a move may."""


@kernel()
def improve_region(
    space: Space,
    codes: IntArray,
    label: IntArray,
    regions: Regions,
    region: int,
    steps: Steps,
    k: int,
    looks: int,
    heat: float,
    seed: int,
) -> float:
    """Improve the groups of one region and return what they cost then.

    The result depends on nothing outside the region, so regions may be improved at the same time. Groups are rebuilt
    so often that a record is looked at ``looks`` times in the mean, whatever k is; with 0 nothing is tried at all.
    Steps may cost up to ``heat`` more (simulated annealing), so that the search leaves what no single step improves.
    Labels become numbers that no other region uses.
    """
    groups = load_region(space, codes, label, regions, region, k)
    if looks > 0 and total_cost(groups) > 0.0:
        state, records = make_state(seed, region), groups.label.shape[0]
        sweep(space, groups, k, HOSTS, heat, state)
        dissolve_groups(space, groups)
        narrow_groups(space, groups, k, state)
        pool = MOST_NEIGHBOURS * k + 8  # a try costs a little beside its records
        tries = 1 + looks * records // pool
        recreate_by_cells(space, steps, groups, k, tries, MOST_NEIGHBOURS, NOISE, WARM * heat, state)
    store_region(groups, label, regions, region)
    return total_cost(groups)
