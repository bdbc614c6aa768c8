"""Counting a table again, whoever made it, to see what protection it really has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from shoal.audit.counting import check_release, column_codes, count_tuples
from shoal.audit.risk import PopulationUniqueness, Risk, estimate_uniqueness, measure_risk
from shoal.audit.uniques import UniqueSet, unique_sets
from shoal.encoding import HierarchyChoice, encode_attribute
from shoal.errors import ParameterError
from shoal.frames import Frame, to_frame
from shoal.kernels.tuples import Tuples, distinct_tuples
from shoal.privacy.measures import Histograms
from shoal.privacy.people import open_people
from shoal.privacy.rows import plain_row
from shoal.privacy.t_closeness import closeness
from shoal.typing import LongArray
from shoal.validation import check_columns, check_float

__all__ = [
    "AT_MOST",
    "Audit",
    "PopulationUniqueness",
    "Risk",
    "UniqueSet",
    "audit",
    "check_release",
    "column_codes",
    "count_tuples",
    "unique_sets",
]

AT_MOST = frozenset({"t", "alpha", "beta", "delta"})
"""Measures of which less is better; of all others more is."""


@dataclass(frozen=True)
class Audit:
    """What protection a table has."""

    records: int
    quasi_identifiers: tuple[str, ...]
    k: int
    """The size of the smallest group."""
    groups: int
    mean_size: float
    largest: int
    unique: int
    """Records that are alone in their group."""
    sensitive: dict[str, dict[str, float]] = field(default_factory=dict)
    """For each sensitive column what the groups promise: ``l`` (fewest distinct values in a group), ``entropy_l``,
    ``t`` (largest earth mover's distance), ``alpha`` (largest share of a value), ``beta`` (largest relative gain of a
    value) and ``delta`` (largest logarithm of a ratio of shares)."""
    sizes: dict[int, int] = field(default_factory=dict)
    """How many groups there are of each size."""
    risk: Risk | None = None
    """What three intruders can expect; None for a table without records."""
    population: tuple[PopulationUniqueness, ...] = ()
    """How many of the population are alone, estimated; only with a sampling fraction."""
    unique_sets: tuple[UniqueSet, ...] = ()
    """By which columns records are alone; only if asked for."""

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


def audit(
    data: Any,
    *,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] = (),
    hierarchies: dict[str, HierarchyChoice] | None = None,
    sampling_fraction: float | None = None,
    population: Any = None,
    unique_columns: int = 0,
) -> Audit:
    """Count the groups of a table and measure what they promise.

    Parameters
    ----------
    data
        A table, released or not; cells are compared as they are.
    quasi_identifiers
        The columns by which records are told apart.
    sensitive
        Columns of which l, t, α, β and δ are measured.
    hierarchies
        For sensitive columns whose distance in t is that of a hierarchy.
    sampling_fraction
        The share of the population that is in the table; gives estimates of population uniqueness.
    population
        A table of the population with the same columns, or the path of one; gives the journalist's risk.
    unique_columns
        Look for the sets of up to this many quasi-identifiers by which records are alone; 0: do not.
    """
    frame = to_frame(data)
    names = check_columns("a quasi-identifier", quasi_identifiers, frame.names)
    if not names:
        raise ParameterError("An audit needs at least one quasi-identifier. Got none.")
    others = check_columns("sensitive", sensitive, frame.names)
    if sampling_fraction is not None:
        check_float("audit", "sampling_fraction", sampling_fraction, least=0.0, above=True, most=1.0)
    tuples = count_tuples(frame.table, names)
    size = tuples.size
    people = _people_of(frame, names, population, size, sampling_fraction)
    distinct, groups = np.unique(size, return_counts=True)
    return Audit(
        records=frame.records,
        quasi_identifiers=names,
        k=int(size.min()) if len(size) else 0,
        groups=len(size),
        mean_size=float(size.mean()) if len(size) else 0.0,
        largest=int(size.max(initial=0)),
        unique=int((size == 1).sum()),
        sensitive={name: _measure(frame, name, tuples, (hierarchies or {}).get(name)) for name in others},
        sizes=dict(zip(distinct.tolist(), groups.tolist(), strict=True)),
        risk=measure_risk(size, people) if len(size) else None,
        population=tuple(estimate_uniqueness(size, sampling_fraction)) if sampling_fraction and len(size) else (),
        unique_sets=tuple(unique_sets(frame, names, largest=unique_columns)) if unique_columns else (),
    )


def _measure(frame: Frame, name: str, tuples: Tuples, hierarchy: HierarchyChoice | None) -> dict[str, float]:
    """Return the worst group's measures of one sensitive column."""
    if not frame.records:
        return {"l": 0.0, "entropy_l": 0.0, "t": 0.0, "alpha": 0.0, "beta": 0.0, "delta": 0.0}
    attribute = encode_attribute(frame, name, hierarchy)
    groups = len(tuples.size)
    found = Histograms(plain_row(attribute), tuples.label, groups)
    return {
        "l": float(found.distinct().min()),
        "entropy_l": float(found.entropy().min()),
        "t": float(closeness("audit", attribute, 1.0).measured(tuples.label, groups).max()),
        "alpha": float(found.alpha().max()),
        "beta": float(found.beta().max()),
        "delta": float(found.delta().max()),
    }


def _people_of(
    frame: Frame, names: Sequence[str], population: Any, size: LongArray, fraction: float | None
) -> LongArray | None:
    """Return how many people of the population share each group's values, counted or estimated."""
    if population is None:
        return None if fraction is None else np.maximum(np.rint(size / fraction), size).astype(np.int64)
    import pyarrow as pa  # noqa: PLC0415

    people = open_people(population)
    check_columns("a quasi-identifier of the population", names, people.names)
    n = frame.records
    both = pa.concat_tables(
        [pa.table({name: one.table.column(name).cast(pa.string()) for name in names}) for one in (frame, people)]
    )
    tuples = distinct_tuples(column_codes(both, names))
    there = np.bincount(tuples.label[n:], minlength=len(tuples.size))
    order = np.unique(distinct_tuples(column_codes(frame.table, names)).label, return_index=True)[1]
    return np.maximum(there[tuples.label[:n][order]], size).astype(np.int64)
