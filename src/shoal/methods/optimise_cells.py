"""Rounds in which the groups of a table are rebuilt by cells, regions side by side."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from shoal.typing import IntArray

if TYPE_CHECKING:
    from shoal.kernels.space import Space

_REGION = 200
"""Records of a region, in multiples of k."""
_LOOKS = 25
"""How often a record is looked at in one round, in the mean."""
_POOL = 3
"""Groups rebuilt together, in the mean."""
_OVERHEAD = 8
"""What a try costs beside its records, in looks at a record."""


class Rebuilding:
    """What all rounds share."""

    def __init__(self, space: Space, rows: IntArray, k: int) -> None:
        from shoal.kernels.optimise_steps import measure_steps  # noqa: PLC0415  (numba is imported when needed)

        self.space, self.rows, self.k = space, rows, k
        self.steps = measure_steps(space, rows)

    def run(self, before: IntArray, groups: int, seed: int, in_time: Callable[[], bool]) -> tuple[IntArray, int, float]:
        """Rebuild groups all over the table; return the new labels, the number of groups and their cost.

        The tries follow from the size of the pools, so that a round takes as long for any k.
        """
        import numba  # noqa: PLC0415

        from shoal.kernels.optimise_open import recreate_region  # noqa: PLC0415
        from shoal.kernels.optimise_regions import make_regions, renumber  # noqa: PLC0415

        space, rows, k, labels = self.space, self.rows, self.k, before.copy()
        tries = max(1, _LOOKS * len(labels) // ((_POOL * k + _OVERHEAD) * groups))
        regions = make_regions(space, rows, labels, groups, _REGION * k, seed)

        def rebuild(region: int) -> float:
            return recreate_region(
                space, rows, labels, regions, region, self.steps, k, tries if in_time() else 0, seed
            )[1]

        with ThreadPoolExecutor(numba.get_num_threads()) as pool:
            cost = sum(pool.map(rebuild, range(len(regions.start) - 1)))
        return labels, renumber(labels), cost
