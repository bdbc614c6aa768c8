"""Cells learned from groups: where no walk goes through all cells, those around good groups are what prices can tell of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shoal.methods.optimise_prices import BELOW_PAID, WORTH_A_TRY, offer_cells
from shoal.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from shoal.encoding import CodedTable
    from shoal.kernels.optimise_offers import Offers
    from shoal.kernels.optimise_prices import Climb
    from shoal.kernels.optimise_worth import Cells
    from shoal.kernels.space import Cover
    from shoal.kernels.tuples import Tuples

_MOST_CELLS = 1 << 19
_MOST_MEMBERS = 1 << 25
"""Room for cells and for the tuples of all of them together."""
_REMEMBERED = 2_000_000
"""Tuples of all cells together that are kept from one look at groups to the next, the worthiest cells first."""
_LOOKS = 400_000_000
"""Pairs of a group and a tuple that one look may cost; of more groups some are drawn."""
_STRIDES = 5
"""Strides after each look at groups, by which prices are bettered."""


class Variants:
    """Cells around the groups of a search, from look to look, and what they are worth."""

    def __init__(self, table: CodedTable, tuples: Tuples, k: int, seed: int, remembered: int = _REMEMBERED) -> None:
        self.table, self.tuples, self.k, self.seed, self.remembered = table, tuples, k, seed, remembered
        self.many = tuples.size.astype(np.int32)
        self.rows: IntArray = np.ascontiguousarray(table.codes.T[tuples.first])
        self.cells = self._no_cells()
        self.climb: Climb | None = None
        self.random = np.random.default_rng([seed, k])

    def _no_cells(self) -> Cells:
        from shoal.kernels.chance import make_state  # noqa: PLC0415  (numba is imported when first needed)
        from shoal.kernels.optimise_worth import make_cells  # noqa: PLC0415

        return make_cells(len(self.many), _MOST_MEMBERS, _MOST_CELLS, make_state(self.seed, 3))

    def offers(self, labels: IntArray, groups: int, paid: FloatArray) -> Offers:
        """Look at groups, better the prices, and return the cells that are worth a try.

        ``paid`` is what each record costs in these groups.
        """
        from shoal.kernels.optimise_around import Buyers  # noqa: PLC0415
        from shoal.kernels.optimise_prices import climb_prices, make_climb, raise_ceilings  # noqa: PLC0415
        from shoal.kernels.optimise_variants import vary_all  # noqa: PLC0415
        from shoal.kernels.space import cover_groups  # noqa: PLC0415

        space, k, many = self.table.space, self.k, self.many
        allowed = WORTH_A_TRY * k * float(paid.mean())
        climb = self.climb
        if climb is None:
            climb = self.climb = make_climb(BELOW_PAID * np.bincount(self.tuples.label, paid) / many, many)
        self.forget(climb, allowed)
        cover = self._some_of(cover_groups(space, self.table.codes, labels, groups))
        vary_all(space, cover, Buyers(self.rows, many, climb.best, k, allowed), self.cells)
        raise_ceilings(climb, np.inf)
        climb_prices(self.cells, climb, k, float(paid.sum()), _STRIDES)
        return offer_cells(self.cells, climb, self.tuples.label, k, allowed)

    def _some_of(self, cover: Cover) -> Cover:
        """Return the boxes of as many groups, drawn at random, as one look can see."""
        from shoal.kernels.space import Cover  # noqa: PLC0415

        groups, most = len(cover.size), max(_LOOKS // len(self.many), 1)
        if groups <= most:
            return cover
        some = self.random.choice(groups, most, replace=False)
        return Cover(
            np.ascontiguousarray(cover.low[:, some]),
            np.ascontiguousarray(cover.high[:, some]),
            cover.words[some],
            cover.size[some],
        )

    def forget(self, climb: Climb, allowed: float) -> None:
        """Keep the worthiest cells only, where there are too many."""
        from shoal.kernels.optimise_prices import weigh_cells  # noqa: PLC0415
        from shoal.kernels.optimise_worth import keep_first  # noqa: PLC0415

        used, full = self.cells.used
        if self.cells.start[used] <= self.remembered and not full:
            return
        order = np.argsort(-weigh_cells(self.cells, climb, self.k, allowed), kind="stable")
        kept = self._no_cells()
        keep_first(self.cells, order[: _MOST_CELLS // 2], self.remembered, kept)
        self.cells = kept
