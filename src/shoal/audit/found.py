"""What an audit found: the protection a table has."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from shoal.audit.risk import PopulationUniqueness, Risk
from shoal.audit.uniques import UniqueSet
from shoal.cells.counted import CountsChoice
from shoal.kernels.models.rules import AT_LEAST
from shoal.notebook import card, facts, rows, safely
from shoal.privacy.measures import MEASURES

AT_MOST = frozenset(one.audited for one in MEASURES.values() if one.sense != AT_LEAST)
"""Measures of which less is better; of all others more is."""


@dataclass(frozen=True, repr=False)
class Audit:
    """What protection a table has.

    Examples
    --------
    >>> import shoal
    >>> patients = shoal.datasets.hospital(n=300, seed=1).patients.select(["birth_date", "sex", "diagnosis"])
    >>> found = shoal.audit(patients, quasi_identifiers=["birth_date", "sex"], sensitive=["diagnosis"])
    >>> found.k, found.unique
    (1, 298)
    """

    records: int
    quasi_identifiers: tuple[str, ...]
    k: int
    """The size of the smallest group: its records, or its persons if their column is given (or households, if they are fewer)."""
    groups: int
    mean_size: float
    largest: int
    unique: int
    """Records, or persons, that are alone in their group."""
    sensitive: dict[str, dict[str, float]] = field(default_factory=dict)
    """For each sensitive column what the groups promise: ``l`` (fewest distinct values in a group), ``entropy_l``,
    ``t`` (largest earth mover's distance), ``c`` (of recursive l-diversity, if a model asks for it), ``alpha`` (largest share of a value), ``beta`` (largest relative gain of a
    value) and ``delta`` (largest logarithm of a ratio of shares)."""
    sizes: dict[int, int] = field(default_factory=dict)
    """How many groups there are of each size."""
    risk: Risk | None = None
    """What three intruders can expect; None for a table without records."""
    population: tuple[PopulationUniqueness, ...] = ()
    """How many of the population are alone, estimated; only with a sampling fraction."""
    people: dict[str, float] = field(default_factory=dict)
    """In a release with k-map or δ-presence: ``k_map`` (the fewest people of the population who fit a group),
    ``presence_least`` and ``presence_most`` (the least and the largest share of them who are in the table), and ``left_out`` (people of the
    population who fit no group)."""
    unique_sets: tuple[UniqueSet, ...] = ()
    """By which columns records are alone; only if asked for."""
    persons: int | None = None
    """How many persons the records belong to; sizes and risks then count persons. None: each record is a person."""
    households: int | None = None
    """How many households they belong to, if a household column is named."""
    represented: float | None = None
    """How many people of the population the table represents: the sum of its survey weights."""

    determined: tuple[str, ...] = ()
    """The released columns that follow from the quasi-identifiers by a formula or a map; only known of a release."""
    k_determined: int | None = None
    """The size of the smallest group if these columns are counted too; None if there are none."""
    counts: CountsChoice | None = None
    """Counts of exact values that are released next to the cells: of ``"columns"`` or of ``"groups"``. They tell more about blurred values and
    presence than cells do, and no figure here is about them."""

    @property
    def l(self) -> int | None:  # noqa: E743  (the name everybody uses)
        """The fewest distinct sensitive values in a group, over all sensitive columns."""
        return min((int(one["l"]) for one in self.sensitive.values()), default=None)

    @property
    def t(self) -> float | None:
        """The largest distance of a group's sensitive values from the table's, over all sensitive columns."""
        return self._worst("t")

    @property
    def alpha(self) -> float | None:
        """The largest share of one sensitive value in a group."""
        return self._worst("alpha")

    @property
    def beta(self) -> float | None:
        """The largest relative gain of a sensitive value in a group."""
        return self._worst("beta")

    @property
    def delta(self) -> float | None:
        """The largest logarithm of the ratio of a sensitive value's shares in a group and in the table."""
        return self._worst("delta")

    def _worst(self, name: str) -> float | None:
        return max((one[name] for one in self.sensitive.values()), default=None)

    def as_dict(self) -> dict[str, Any]:
        """Return the audit as plain values."""
        return asdict(self)

    def __repr__(self) -> str:
        alone = f", {self.unique:,} records alone" if self.unique else ""
        measured = "".join(
            f"; {name}: l = {one['l']:g}, t = {one['t']:.3f}, α = {one['alpha']:.3f}"
            for name, one in self.sensitive.items()
        )
        counts = f"; counts of exact values released by {self.counts}" if self.counts else ""
        return f"<shoal.Audit: {self.records:,} records in {self.groups:,} groups of at least {self.k}{alone}{measured}{counts}>"

    @safely
    def _repr_html_(self) -> str:
        told = {
            "records": f"{self.records:,}",
            "groups": f"{self.groups:,}, of {self.k:,} to {self.largest:,} records, {self.mean_size:.1f} on average",
            "alone": f"{self.unique:,} records share their values with nobody",
        } | ({"released too": f"counts of exact values, by {self.counts}"} if self.counts else {})
        measures = ("l", "entropy_l", "t", "alpha", "beta", "delta")
        cells = [(name, *(f"{one[measure]:.3g}" for measure in measures)) for name, one in self.sensitive.items()]
        return card(
            f"shoal.Audit: k = {self.k}",
            facts(told),
            rows(["sensitive", "l", "entropy l", "t", "α", "β", "δ"], cells) if cells else "",
        )
