"""What each parameter of a release does to it, as something that can be seen in the release: the sweep over engines asks for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

import shoal
from shoal.hierarchy import Hierarchy
from tests.engines.tables import people

TOWNS = Hierarchy.from_dict({"*": {"north": ["a", "b", "c"], "south": ["d", "e", "f"]}})
KNOWN = ["age", "town", "blood"]
BASE = {
    "k": 5,
    "quasi_identifiers": KNOWN,
    "hierarchies": {"town": TOWNS, "blood": "flat"},
    "method": "optimize",
    "effort": "fast",
    "derived": "warn",
}


@dataclass(frozen=True)
class Seen:
    """A release as anybody sees it."""

    rows: list[dict[str, Any]]
    metrics: dict[str, Any]
    audit: Any

    @property
    def columns(self) -> set[str]:
        return set(self.rows[0])

    def cells(self, name: str) -> set[Any]:
        return {row[name] for row in self.rows}

    def groups(self, names: list[str] | None = None) -> Counter[tuple[Any, ...]]:
        return Counter(tuple(row[name] for name in names or KNOWN) for row in self.rows)


@dataclass(frozen=True)
class Case:
    """A parameter, what it is set to, and how its effect is seen."""

    parameter: str
    given: dict[str, Any]
    shows: Callable[[Seen, Seen], bool]
    """Of the release with the parameter, and of the one without."""
    base: dict[str, Any] = field(default_factory=dict)
    """What both releases are given beside."""


def table_of(records: int) -> pa.Table:
    """Return a table in which every parameter finds a column."""
    number = np.arange(records)
    table = people(records).select(["age", "town", "blood", "illness"])
    more: dict[str, Any] = {
        "id": np.char.add("n", number.astype(str)),
        "who": np.char.add("p", (number * 7 % (records // 2)).astype(str)),
        "house": np.char.add("h", (number // 3).astype(str)),
        "stands_for": 1.0 + number % 4,
        "cost": number * 7 % 995,
        "wage": [f"{1 + one % 9},{one * 37 % 900:03}" for one in range(records)],
        "day": [f"{1 + one % 12:02}/{1 + one * 7 % 11:02}/2024" for one in range(records)],
        "grade": [("-9" if one % 10 == 0 else str(one % 7)) for one in range(records)],
    }
    for name, values in more.items():
        table = table.append_column(name, pa.array(values))
    return table


def _released_together(seen: Seen, owner: str, least: int) -> bool:
    groups: dict[Any, set[Any]] = {}
    for row in seen.rows:
        groups.setdefault(row[owner], set()).add(tuple(row[name] for name in KNOWN))
    return min(sum(own <= other for other in groups.values()) for own in groups.values()) >= least


def _numbers(seen: Seen, name: str) -> set[float]:
    words = " ".join(str(cell) for cell in seen.cells(name)).replace("[", " ").replace("]", " ").replace("-", " ")
    return {float(word) for word in words.replace(",", " ").split() if word.replace(".", "", 1).isdigit()}


def searched(seen: Seen) -> tuple[float, float | None]:
    """Return what more effort changes: the loss, or at least the bound that only it proves."""
    return seen.metrics["ncp"], seen.metrics.get("lower_bound")


def _people(seen: Seen, owner: str) -> int:
    """Return how many people the group has that has fewest."""
    met: dict[Any, set[Any]] = {}
    for row in seen.rows:
        met.setdefault(tuple(row[name] for name in KNOWN), set()).add(row[owner])
    return min(map(len, met.values()))


CASES = (
    Case("k", {"k": 20}, lambda one, _: min(one.groups().values()) >= 20),
    Case("quasi_identifiers", {"quasi_identifiers": ["age", "blood"], "hierarchies": {"blood": "flat"}}, lambda one, _: "town" not in one.columns),
    Case("sensitive", {"sensitive": ["illness"]}, lambda one, other: {"illness"} == one.columns - other.columns),
    Case("identifiers", {"identifiers": ["id"]}, lambda one, _: "id" not in one.columns),
    Case("keep", {"keep": ["id"]}, lambda one, other: {"id"} == one.columns - other.columns),
    Case("person", {"person": "who"}, lambda one, _: one.audit.persons is not None and "who" not in one.columns),
    Case("household", {"household": "house"}, lambda one, _: one.audit.households is not None),
    Case("together", {"together": True}, lambda one, other: one.groups() != other.groups(), {"person": "who"}),
    Case("survey_weight", {"survey_weight": "stands_for"}, lambda one, _: len(one.cells("stands_for")) > 4),
    Case("kinds", {"kinds": {"age": "nominal"}}, lambda one, _: any("{" in str(cell) for cell in one.cells("age"))),
    Case("hierarchies", {"hierarchies": {"town": "set", "blood": "flat"}}, lambda one, other: any("{" in cell for cell in one.cells("town")) and not any("{" in cell for cell in other.cells("town"))),
    Case("decimal", {"decimal": ","}, lambda one, other: max(_numbers(one, "wage")) < 10 < max(_numbers(other, "wage")), {"decimal": ".", "quasi_identifiers": ["wage"], "hierarchies": {}}),
    Case("thousands", {"decimal": None, "thousands": ","}, lambda one, other: max(_numbers(one, "wage")) >= 1000 > max(_numbers(other, "wage")), {"decimal": ",", "quasi_identifiers": ["wage"], "hierarchies": {}}),
    Case("date_format", {"date_format": "%d/%m/%Y"}, lambda one, other: one.cells("day") != other.cells("day"), {"date_format": "%m/%d/%Y", "quasi_identifiers": ["day"], "hierarchies": {}}),
    Case("missing", {"missing": ["-9"]}, lambda one, other: one.cells("grade") != other.cells("grade"), {"quasi_identifiers": ["grade"], "hierarchies": {}, "kinds": {"grade": "numeric"}}),
    Case("weights", {"weights": {"age": 50.0}}, lambda one, other: one.metrics["ncp_by_column"]["age"] < other.metrics["ncp_by_column"]["age"]),
    Case("models", {"models": [shoal.LDiversity(3)]}, lambda one, other: one.audit.sensitive["illness"]["l"] >= 3 > other.audit.sensitive["illness"]["l"], {"sensitive": ["illness"]}),
    Case("method", {"method": "k-member"}, lambda one, other: one.groups() != other.groups()),
    Case("effort", {"effort": "balanced"}, lambda one, other: searched(one) != searched(other), {"quasi_identifiers": ["age", "town", "blood", "cost"]}),
    Case("max_suppression", {"max_suppression": 0.2}, lambda one, other: one.metrics["suppressed"] > other.metrics["suppressed"] == 0, {"method": shoal.Datafly(at_most_k=False), "hierarchies": {"town": TOWNS, "blood": "flat", "age": "auto"}}),
    Case("release", {"release": "representatives"}, lambda one, _: all(isinstance(cell, (int, float, type(None))) for cell in one.cells("age"))),
    Case("widen", {"widen": 0.5}, lambda one, other: one.metrics["ncp"] > other.metrics["ncp"]),
    Case("ends", {"ends": "exact"}, lambda one, other: one.cells("age") != other.cells("age")),
    Case("cells", {"cells": {"age": shoal.Disjoint(most=3)}}, lambda one, other: len(one.cells("age") - {"*", None}) <= 3 < len(other.cells("age"))),
    Case("counts", {"counts": "groups"}, lambda one, other: (one.audit.counts, other.audit.counts) == ("groups", None)),
    Case("treat", {"treat": {"cost": shoal.Round(100)}}, lambda one, other: {cell % 100 for cell in one.cells("cost")} == {0} != {cell % 100 for cell in other.cells("cost")}, {"keep": ["cost"]}),
    Case("pseudonymize", {"pseudonymize": ["id"], "key": "KEY"}, lambda one, _: "n1" not in one.cells("id") and len(one.cells("id")) == len(one.rows)),
    Case("key", {"key": "OTHER"}, lambda one, other: one.cells("id").isdisjoint(other.cells("id")), {"pseudonymize": ["id"], "key": "KEY"}),
    Case("others", {"others": "keep"}, lambda one, other: {"id", "cost"} <= one.columns - other.columns),
    Case("seed", {"seed": 5}, lambda one, other: one.groups() != other.groups(), {"method": "k-member"}),
)  # fmt: skip
"""The parameters that are about what is released; those about the run have tests of their own (``ABOUT_THE_RUN``)."""

ABOUT_THE_RUN = {"engine", "memory", "progress", "on_interrupt", "cancel", "table", "query", "derived"}
