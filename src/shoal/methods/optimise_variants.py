"""Cells learned from groups: where no walk goes through all cells, those around good groups are what prices can tell of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shoal.methods.optimise_prices import MOST_CELLS, WORTH_A_TRY, offer_cells, start_climb
from shoal.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from shoal.encoding import CodedTable
    from shoal.kernels.optimise_offers import Offers
    from shoal.kernels.optimise_prices import Climb
    from shoal.kernels.optimise_worth import Cells
    from shoal.kernels.tuples import Tuples

_ROOM = 1 << 24
"""Tuples of all cells together for which there is room."""
_REMEMBERED = 2_000_000
"""Tuples of all cells together that are kept from one look at groups to the next, the worthiest cells first."""
_LOOKS = 400_000_000
"""Looks at tuples when groups are looked at; the next time begins with the groups that were left."""
_STRIDES = 5
"""Strides after each look at groups, by which prices are bettered. So few are all of one length."""


class Variants:
    """Cells around the groups of a search, from look to look, and what they are worth."""

    def __init__(self, table: CodedTable, tuples: Tuples, k: int, seed: int, remembered: int = _REMEMBERED) -> None:
        self.table, self.tuples, self.k, self.seed, self.remembered = table, tuples, k, seed, remembered
        self.many = tuples.size.astype(np.int32)
        self.rows: IntArray = np.ascontiguousarray(table.codes.T[tuples.first])
        self.cells = self._no_cells()
        self.climb: Climb | None = None
        self.next = 0

    def _no_cells(self) -> Cells:
        from shoal.kernels.chance import make_state  # noqa: PLC0415  (numba is imported when first needed)
        from shoal.kernels.optimise_worth import make_cells  # noqa: PLC0415

        return make_cells(len(self.many), _ROOM, MOST_CELLS, make_state(self.seed, 3))

    def offers(self, labels: IntArray, groups: int, paid: FloatArray) -> Offers:
        """Look at groups, better the prices, and return the cells that are worth a try.

        ``paid`` is what each record costs in these groups.
        """
        from shoal.kernels.optimise_around import Buyers  # noqa: PLC0415
        from shoal.kernels.optimise_prices import climb_prices, raise_ceilings  # noqa: PLC0415
        from shoal.kernels.optimise_variants import vary_all  # noqa: PLC0415
        from shoal.kernels.space import cover_groups  # noqa: PLC0415

        space, k = self.table.space, self.k
        allowed = WORTH_A_TRY * k * float(paid.mean())
        climb = self.climb
        if climb is None:
            climb = self.climb = start_climb(self.tuples, paid)
        self.forget(climb, allowed)
        cover = cover_groups(space, self.table.codes, labels, groups)
        buyers = Buyers(self.rows, self.many, climb.best, k, allowed)
        self.next = vary_all(space, cover, self.next, _LOOKS, buyers, self.cells)
        raise_ceilings(climb, np.inf)
        climb_prices(self.cells, climb, k, float(paid.sum()), _STRIDES)
        return offer_cells(self.cells, climb, self.tuples.label, k, allowed)

    def forget(self, climb: Climb, allowed: float) -> None:
        """Keep the worthiest cells only, where there are too many."""
        from shoal.kernels.optimise_prices import weigh_cells  # noqa: PLC0415
        from shoal.kernels.optimise_worth import keep_first  # noqa: PLC0415

        used, full = self.cells.used
        if self.cells.start[used] <= self.remembered and not full:
            return
        order = np.argsort(-weigh_cells(self.cells, climb, self.k, allowed), kind="stable")
        kept = self._no_cells()
        keep_first(self.cells, order[: MOST_CELLS // 2], self.remembered, kept)
        self.cells = kept
