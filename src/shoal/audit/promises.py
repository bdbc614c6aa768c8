"""What the groups of a table promise of its sensitive columns, and of the people who fit them."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.arrays import IntArray
from shoal.encoding import (
    CodedAttribute,
)
from shoal.privacy.base import Requirement
from shoal.privacy.histograms import HistogramRequirement
from shoal.privacy.measures import Histograms
from shoal.privacy.rows import plain_row
from shoal.privacy.t_closeness import closeness


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
    """Return how many people the worst groups represent, if survey weights say so; lists are looked up by ``crowds``."""
    figures: dict[str, float] = {}
    for one in requirements if groups else ():
        for name, measured in one.people_measures(labels, groups).items():
            figures[name] = min(float(measured.min()), figures.get(name, float("inf")))
    return figures


def _distances(attribute: CodedAttribute, requirements: Sequence[Requirement]) -> list[HistogramRequirement]:
    asked = [one for one in _asked(attribute, requirements) if one.about.audited == "t"]
    return asked or [closeness("audit", attribute, 1.0)]


def _asked(attribute: CodedAttribute, requirements: Sequence[Requirement]) -> list[HistogramRequirement]:
    """Return what models ask of a column."""
    parts = [part for one in requirements for part in one.parts if isinstance(part, HistogramRequirement)]
    return [one for one in parts if one.row.name == attribute.name]
