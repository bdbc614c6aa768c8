"""One generated call of ``shoal.anonymize``: a table, roles, a method, models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

import shoal
from tests.fuzz.columns import MAKERS, Column, doubled_dictionary, small_integers, strange_floats, strange_text, truths

GLOBAL = ("bug", "datafly", "incognito")
SENSITIVE = (doubled_dictionary, small_integers, strange_floats, strange_text, truths)


@dataclass
class Job:
    """A call and all that its checker needs to know."""

    columns: dict[str, Column]
    sensitive: Column
    data: Any
    parameters: dict[str, Any]

    def __str__(self) -> str:
        kinds = ", ".join(f"{name} ({len(set(map(repr, one.plain)))} values)" for name, one in self.columns.items())
        told = {key: value for key, value in self.parameters.items() if key not in {"hierarchies", "kinds"}}
        return f"{len(self.sensitive.plain)} rows of {kinds}; {told}"


def make_job(seed: list[int], methods: list[str] | None = None) -> Job:
    """Draw a call; the same numbers always make the same one."""
    rng = np.random.default_rng(seed)
    names = methods or [info.name for info in shoal.methods()]
    method = names[int(rng.integers(len(names)))]
    n = int(rng.integers(2, 60 if rng.random() < 0.9 else 400))
    columns = {}
    for place in range(int(rng.integers(1, 5))):
        make = MAKERS[int(rng.integers(len(MAKERS)))]
        columns[f"{make.__name__}_{place}"] = make(rng, n)
    sensitive = SENSITIVE[int(rng.integers(len(SENSITIVE)))](rng, n)
    parameters = {
        "k": int(rng.integers(2, max(3, min(n, 12)))),
        "quasi_identifiers": list(columns),
        "sensitive": ["sensitive"],
        "identifiers": ["name"],
        "keep": ["row"],
        "kinds": {name: one.kind for name, one in columns.items() if one.kind},
        "hierarchies": _hierarchies(columns, method),
        "method": method,
        "models": _models(rng),
        "max_suppression": float(rng.choice([0.0, 0.0, 0.1, 0.5])),
        "seed": int(rng.integers(0, 2**31)),
        "effort": "fast",
    }
    parameters["kinds"] = {
        name: kind for name, kind in parameters["kinds"].items() if name not in parameters["hierarchies"]
    }
    if rng.random() < 0.3:
        parameters["release"] = ["ranges", "representatives"][int(rng.integers(2))]
    if rng.random() < 0.15 and parameters.get("release") == "ranges":
        parameters["widen"] = float(rng.choice([0.25, 1.0]))
    if rng.random() < 0.2:
        parameters["weights"] = {name: float(rng.choice([0, 1, 8, 1e-9, 1e9])) for name in columns}
    return Job(columns, sensitive, _as_frame(rng, columns, sensitive, n), parameters)


def _hierarchies(columns: dict[str, Column], method: str) -> dict[str, Any]:
    chosen = {name: one.hierarchy for name, one in columns.items() if one.hierarchy is not None}
    if method in GLOBAL:
        return dict.fromkeys(columns, "flat") | {name: one for name, one in chosen.items() if one != "set"}
    return chosen


def _models(rng: np.random.Generator) -> list[Any]:
    makers = (
        lambda: shoal.LDiversity(int(rng.integers(2, 4))),
        lambda: shoal.LDiversity(1.5, "entropy"),
        lambda: shoal.LDiversity(2, "recursive", c=3.0),
        lambda: shoal.TCloseness(float(rng.choice([0.1, 0.3, 0.6])), "equal"),
        lambda: shoal.AlphaK(float(rng.choice([0.5, 0.8]))),
        lambda: shoal.BetaLikeness(float(rng.choice([1.0, 4.0]))),
        lambda: shoal.DeltaDisclosure(2.0),
        lambda: shoal.KAnonymity(int(rng.integers(2, 9))),
    )
    count = int(rng.choice([0, 0, 0, 1, 1, 2]))
    return [makers[int(rng.integers(len(makers)))]() for _ in range(count)]


def _as_frame(rng: np.random.Generator, columns: dict[str, Column], sensitive: Column, n: int) -> Any:
    arrays = {name: one.array for name, one in columns.items()} | {
        "sensitive": sensitive.array,
        "name": pa.array([f"person {row}" for row in range(n)]),
        "row": pa.array(range(n)),
    }
    table = pa.table(arrays)
    choice = rng.random()
    if choice < 0.1:
        return pa.concat_tables([table.slice(0, n // 2), table.slice(n // 2)])
    if choice < 0.2:
        import polars as pl

        return pl.from_arrow(table)
    return table
