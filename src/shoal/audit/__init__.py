"""Counting a table again, whoever made it, to see what protection it really has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.arrays import FloatArray, IntArray, LongArray
from shoal.audit.counting import column_codes, count_tuples
from shoal.audit.covering import check_cover
from shoal.audit.pushed import count_in_database, is_in_database
from shoal.audit.recount import check_codes, check_companions, check_release, count_owners, read_anew, recount
from shoal.audit.risk import PopulationUniqueness, Risk, estimate_uniqueness, individual_risk, measure_risk
from shoal.audit.typical import check_typical
from shoal.audit.uniques import UniqueSet, unique_sets
from shoal.encoding import (
    CodedAttribute,
    HierarchyChoice,
    KindChoice,
    check_hierarchies,
    encode_attribute,
    encode_unit,
    survey_weights,
)
from shoal.errors import ColumnError, ParameterError
from shoal.frames import Frame, refuse_nested, to_frame
from shoal.io.files import open_table
from shoal.io.source import ReadOptions
from shoal.kernels.space.tuples import Tuples, distinct_tuples
from shoal.notebook import card, facts, rows, safely
from shoal.privacy.base import Requirement
from shoal.privacy.histograms import DISTANCES, HistogramRequirement
from shoal.privacy.measures import Histograms
from shoal.privacy.people import open_people
from shoal.privacy.population import CrowdRequirement
from shoal.privacy.rows import plain_row
from shoal.privacy.t_closeness import closeness
from shoal.privacy.weights import WeightRequirement, represented
from shoal.validation import check_columns, check_float, check_int, check_mapping, check_names

__all__ = [
    "AT_MOST",
    "Audit",
    "PopulationUniqueness",
    "Risk",
    "UniqueSet",
    "audit",
    "audit_of_sizes",
    "audit_owned",
    "check_codes",
    "check_companions",
    "check_cover",
    "check_release",
    "check_typical",
    "column_codes",
    "count_tuples",
    "measure_attribute",
    "measure_people",
    "recount",
    "represented_people",
    "unique_sets",
]

AT_MOST = frozenset({"t", "alpha", "beta", "delta"})
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
    """The size of the smallest group: its records, or its persons (or households, where they are fewer) where they are named."""
    groups: int
    mean_size: float
    largest: int
    unique: int
    """Records, or persons, that are alone in their group."""
    sensitive: dict[str, dict[str, float]] = field(default_factory=dict)
    """For each sensitive column what the groups promise: ``l`` (fewest distinct values in a group), ``entropy_l``,
    ``t`` (largest earth mover's distance), ``c`` (of recursive l-diversity, where a model asks for it), ``alpha`` (largest share of a value), ``beta`` (largest relative gain of a
    value) and ``delta`` (largest logarithm of a ratio of shares)."""
    sizes: dict[int, int] = field(default_factory=dict)
    """How many groups there are of each size."""
    risk: Risk | None = None
    """What three intruders can expect; None for a table without records."""
    population: tuple[PopulationUniqueness, ...] = ()
    """How many of the population are alone, estimated; only with a sampling fraction."""
    people: dict[str, float] = field(default_factory=dict)
    """In a release with k-map or δ-presence: ``k_map`` (the fewest people of the population who fit a group),
    ``presence_least`` and ``presence_most`` (the least and the largest share of them who are in the table)."""
    unique_sets: tuple[UniqueSet, ...] = ()
    """By which columns records are alone; only if asked for."""
    persons: int | None = None
    """How many persons the records belong to; sizes and risks then count persons. None: each record is a person."""
    households: int | None = None
    """How many households they belong to, where a household column is named."""
    represented: float | None = None
    """How many people of the population the table stands for: the sum of its survey weights."""

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
        return (
            f"<shoal.Audit: {self.records:,} records in {self.groups:,} groups of at least {self.k}{alone}{measured}>"
        )

    @safely
    def _repr_html_(self) -> str:
        told = {
            "records": f"{self.records:,}",
            "groups": f"{self.groups:,}, of {self.k:,} to {self.largest:,} records, {self.mean_size:.1f} in the mean",
            "alone": f"{self.unique:,} records share their values with nobody",
        }
        measures = ("l", "entropy_l", "t", "alpha", "beta", "delta")
        cells = [(name, *(f"{one[measure]:.3g}" for measure in measures)) for name, one in self.sensitive.items()]
        return card(
            f"shoal.Audit: k = {self.k}",
            facts(told),
            rows(["sensitive", "l", "entropy l", "t", "α", "β", "δ"], cells) if cells else "",
        )


def audit(
    data: Any,
    *,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] = (),
    person: str | None = None,
    household: str | None = None,
    survey_weight: str | None = None,
    hierarchies: Mapping[str, HierarchyChoice] | None = None,
    kinds: Mapping[str, KindChoice] | None = None,
    sampling_fraction: float | None = None,
    population: Any = None,
    unique_columns: int = 0,
    table: str | None = None,
    query: str | None = None,
) -> Audit:
    """Count the groups of a table and measure what they promise.

    Parameters
    ----------
    data
        A table, released or not, or the file or database it is in; cells are compared as they are. In a database the
        groups are counted by the database itself, and only counts travel.
    quasi_identifiers
        The columns by which records are told apart.
    sensitive
        Columns of which l, t, α, β and δ are measured. t, β and δ compare each group with the whole of ``data``: in a
        release from which records were withheld, or any sample, that is not the original table, and its distance
        from there may be larger. ``Result.audit`` compares with the original.
    person
        The column that says whose a record is: k, l, t and the risks then count people, not records.
    household
        The column that says which household a record belongs to; the smaller of the two counts decides k.
    survey_weight
        The column that says for how many people of the population a record stands; gives the journalist's risk, individual risks and
        estimates of population uniqueness.
    hierarchies
        For sensitive columns whose distance in t is that of a hierarchy.
    kinds
        For sensitive columns whose type does not say it: ``"nominal"``, ``"numeric"``, ``"date"``, or a list of
        values from low to high.
    sampling_fraction
        The share of the population that is in the table; gives estimates of population uniqueness.
    population
        A table of the population with the same columns, or the path of one; gives the journalist's risk.
    unique_columns
        Look for the sets of up to this many quasi-identifiers by which records are alone; 0: do not.
    table, query
        In a database: the name of the table, or the query that gives the rows.

    Returns
    -------
    Audit
        ``k``, ``l``, ``t`` and the other measures that the table really has, sizes of groups and risks.

    Raises
    ------
    ParameterError
        No quasi-identifier is named, or a parameter is out of its range.
    ColumnError
        A column is not in the table.

    Examples
    --------
    >>> import shoal
    >>> people = {"age": [30, 30, 40, 40], "job": ["nurse", "nurse", "cook", "cook"], "ill": ["a", "b", "a", "a"]}
    >>> found = shoal.audit(people, quasi_identifiers=["age", "job"], sensitive=["ill"])
    >>> found.k, found.l, found.unique
    (2, 1, 0)
    """
    wanted, private = (
        check_names("audit", "quasi_identifiers", quasi_identifiers),
        check_names("audit", "sensitive", sensitive),
    )
    if not wanted:
        raise ParameterError("An audit needs at least one quasi-identifier. Got none.")
    trees, orders = check_hierarchies("audit", hierarchies), check_mapping("audit", "kinds", kinds)
    check_int("audit", "unique_columns", unique_columns, least=0)
    if sampling_fraction is not None:
        check_float("audit", "sampling_fraction", sampling_fraction, least=0.0, above=True, most=1.0)

    def measure(frame: Frame, name: str, label: IntArray, groups: int) -> dict[str, float]:
        attribute = encode_attribute(frame, name, trees.get(name), orders.get(name))
        if person is not None:
            attribute = replace(attribute, person=encode_unit(frame, "person", person))
        return measure_attribute(attribute, label, groups)

    owned = {unit: name for unit, name in (("person", person), ("household", household)) if name is not None}
    if is_in_database(data) and population is None and not unique_columns and not owned and survey_weight is None:
        counted = count_in_database(data, ReadOptions(table=table, query=query), wanted, private)
        measures = {name: measure(rows, name, label, len(counted.size)) for name, rows, label in counted.sensitive}
        people = _estimated_people(counted.size, sampling_fraction)
        return _assemble(counted.names, counted.size, measures, people, sampling_fraction)
    frame = open_table(data, table=table, query=query) if isinstance(data, (str, Path)) else to_frame(data)
    names = check_columns("a quasi-identifier", wanted, frame.names)
    others = check_columns("sensitive", private, frame.names)
    refuse_nested(frame, [*names, *others])
    owners = {unit: _owner_column(frame, unit, name, names) for unit, name in owned.items()}
    tuples = count_tuples(frame.table, names)
    size = _sizes(tuples, owners)
    measures = {name: measure(frame, name, tuples.label, len(tuples.size)) for name in others}
    if survey_weight is not None:
        _check_alone("survey_weight", sampling_fraction=sampling_fraction, population=population)
        stands_for = represented_people(tuples.label, survey_weights(frame, survey_weight), owners)
        found = _weighted(_assemble(names, size, measures, _whole(stands_for, size), None), size, stands_for)
    else:
        people = _people_of(frame, names, population, size, sampling_fraction)
        found = _assemble(names, size, measures, people, sampling_fraction)
    found = replace(
        found, records=frame.records, persons=_number_of(owners, "person"), households=_number_of(owners, "household")
    )
    alone = tuple(unique_sets(frame, names, largest=unique_columns)) if unique_columns else ()
    return replace(found, unique_sets=alone)


def audit_owned(
    table: pa.Table,
    quasi_identifiers: Sequence[str],
    owners: Mapping[str, pa.ChunkedArray],
    weight: FloatArray | None = None,
) -> Audit:
    """Count the groups of a table whose rows belong to persons or households, or have survey weights, given apart from it."""
    names = tuple(quasi_identifiers)
    tuples = count_tuples(table, names)
    size = _sizes(tuples, owners)
    stands_for = None if weight is None else represented_people(tuples.label, weight, owners)
    found = _assemble(names, size, {}, None if stands_for is None else _whole(stands_for, size), None)
    if stands_for is not None:
        found = _weighted(found, size, stands_for)
    return replace(
        found,
        records=table.num_rows,
        persons=_number_of(owners, "person"),
        households=_number_of(owners, "household"),
    )


def _check_alone(parameter: str, **others: Any) -> None:
    """Refuse two ways to know the population."""
    for name, value in others.items():
        if value is not None:
            raise ParameterError(
                f"The {parameter!r} parameter of audit tells about the population, and so does {name!r}. Give one of them."
            )


def represented_people(label: IntArray, weight: FloatArray, owners: Mapping[str, pa.ChunkedArray]) -> FloatArray:
    """Return for how many people of the population each group stands; a person's records stand for as many as their mean."""
    person = read_anew(owners["person"]) if "person" in owners else None
    return represented(label, int(label.max(initial=-1)) + 1, weight, person)


def _whole(people: FloatArray, size: LongArray) -> LongArray:
    """Return estimated numbers of people as whole numbers, at least those who are there."""
    return np.maximum(np.rint(people), size).astype(np.int64)


def _weighted(found: Audit, size: LongArray, people: FloatArray) -> Audit:
    """Return an audit with what survey weights tell about the population."""
    if found.risk is None:
        return found
    risk, count, represented = individual_risk(size, people), int(size.sum()), float(people.sum())
    return replace(
        found,
        represented=represented,
        risk=replace(
            found.risk, individual_highest=float(risk.max()), individual_mean=float((risk * size).sum() / count)
        ),
        population=tuple(estimate_uniqueness(size, min(count / max(represented, count), 1.0))),
    )


def _owner_column(frame: Frame, unit: str, name: str, quasi_identifiers: Sequence[str]) -> pa.ChunkedArray:
    """Return the column that says whose a record is, or say what is wrong with it."""
    check_columns(f"the {unit} column", [name], frame.names)
    if name in quasi_identifiers:
        raise ColumnError(f"The column {name!r} is both the {unit} and a quasi-identifier. Give it one role.")
    encode_unit(frame, "household" if unit == "household" else "person", name)
    return frame.table.column(name)


def _sizes(tuples: Tuples, owners: Mapping[str, pa.ChunkedArray]) -> LongArray:
    """Return the size of each group: its records, or the fewest of the persons and households they belong to."""
    counts = [count_owners(tuples.label, column) for column in owners.values()]
    sizes: LongArray = np.minimum.reduce(counts) if counts else tuples.size
    return sizes


def _number_of(owners: Mapping[str, pa.ChunkedArray], unit: str) -> int | None:
    """Return how many persons or households there are; None where no column names them."""
    return len(np.unique(read_anew(owners[unit]))) if unit in owners else None


def _assemble(
    names: tuple[str, ...],
    size: LongArray,
    measures: dict[str, dict[str, float]],
    people: LongArray | None,
    sampling_fraction: float | None,
) -> Audit:
    """Return what the sizes of the groups and the measures of their sensitive values tell."""
    distinct, groups = np.unique(size, return_counts=True)
    return Audit(
        records=int(size.sum()),
        quasi_identifiers=names,
        k=int(size.min()) if len(size) else 0,
        groups=len(size),
        mean_size=float(size.mean()) if len(size) else 0.0,
        largest=int(size.max(initial=0)),
        unique=int((size == 1).sum()),
        sensitive=measures,
        sizes=dict(zip(distinct.tolist(), groups.tolist(), strict=True)),
        risk=measure_risk(size, people) if len(size) else None,
        population=tuple(estimate_uniqueness(size, sampling_fraction)) if sampling_fraction and len(size) else (),
    )


def audit_of_sizes(
    quasi_identifiers: Sequence[str],
    size: LongArray,
    *,
    sensitive: dict[str, dict[str, float]] | None = None,
    people: LongArray | None = None,
    represented: FloatArray | None = None,
    sampling_fraction: float | None = None,
) -> Audit:
    """Return the audit of a table of which only its groups are known: their sizes and what was measured on them.

    How many people of the population share each group's values is counted (``people``), follows from survey weights (``represented``), or is
    estimated by ``sampling_fraction``.
    """
    names, measures = tuple(quasi_identifiers), sensitive or {}
    if represented is not None:
        return _weighted(_assemble(names, size, measures, _whole(represented, size), None), size, represented)
    shared = _estimated_people(size, sampling_fraction) if people is None else np.maximum(people, size)
    return _assemble(names, size, measures, shared, sampling_fraction)


def measure_attribute(
    attribute: CodedAttribute, labels: IntArray, groups: int, requirements: Sequence[Requirement] = ()
) -> dict[str, float]:
    """Return the worst group's measures of one sensitive column; records labelled -1 count in the whole table only.

    t is measured by the distance that a model among ``requirements`` asks for, else by the one that fits the column.
    """
    if not groups:
        return {"l": 0.0, "entropy_l": 0.0, "t": 0.0, "alpha": 0.0, "beta": 0.0, "delta": 0.0}
    found = Histograms(plain_row(attribute), labels, groups)
    recursive = [one for one in _asked(attribute, requirements) if one.measure == "recursive"]
    figures = {
        "l": float(found.distinct().min()),
        "entropy_l": float(found.entropy().min()),
        "t": max(float(one.measured(labels, groups).max()) for one in _distances(attribute, requirements)),
        "alpha": float(found.alpha().max()),
        "beta": float(found.beta().max()),
        "delta": float(found.delta().max()),
    }
    if recursive:
        figures["c"] = max(float(one.measured(labels, groups).max()) for one in recursive)
    return figures


def measure_people(labels: IntArray, groups: int, requirements: Sequence[Requirement]) -> dict[str, float]:
    """Return how many people fit the worst groups, by the lists of the models that ask for it."""
    figures: dict[str, float] = {}
    for one in requirements:
        if not isinstance(one, CrowdRequirement | WeightRequirement) or not groups:
            continue
        measured = one.measured(labels, groups)
        least, most = float(measured.min()), float(measured.max())
        if isinstance(one, WeightRequirement) or one.kind == "k-map":
            figures["k_map"] = min(least, figures.get("k_map", least))
        else:
            figures["presence_least"] = min(least, figures.get("presence_least", least))
            figures["presence_most"] = max(most, figures.get("presence_most", most))
    return figures


def _distances(attribute: CodedAttribute, requirements: Sequence[Requirement]) -> list[HistogramRequirement]:
    asked = [one for one in _asked(attribute, requirements) if one.measure in DISTANCES]
    return asked or [closeness("audit", attribute, 1.0)]


def _asked(attribute: CodedAttribute, requirements: Sequence[Requirement]) -> list[HistogramRequirement]:
    """Return what models ask of a column."""
    parts = [part for one in requirements for part in one.parts if isinstance(part, HistogramRequirement)]
    return [one for one in parts if one.row.name == attribute.name]


def _estimated_people(size: LongArray, fraction: float | None) -> LongArray | None:
    """Return how many people of the population share each group's values, where only its share in the table is known."""
    return None if fraction is None else np.maximum(np.rint(size / fraction), size).astype(np.int64)


def _people_of(
    frame: Frame, names: Sequence[str], population: Any, size: LongArray, fraction: float | None
) -> LongArray | None:
    """Return how many people of the population share each group's values, counted or estimated."""
    if population is None:
        return _estimated_people(size, fraction)
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
