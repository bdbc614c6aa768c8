"""One generated call of ``shoal.anonymize``: a table, roles, a method, models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

import shoal
from tests.fuzz.columns import (
    MAKERS,
    Column,
    doubled_dictionary,
    hierarchical_words,
    instants,
    ordered_words,
    small_integers,
    strange_floats,
    strange_text,
    truths,
)

GLOBAL = ("bug", "datafly", "incognito")
SENSITIVE = (
    doubled_dictionary, small_integers, strange_floats, strange_text, truths, hierarchical_words, ordered_words, instants,
)  # fmt: skip


@dataclass
class Job:
    """A call and all that its checker needs to know."""

    columns: dict[str, Column]
    sensitive: Column
    data: Any
    parameters: dict[str, Any]
    people: list[dict[str, Any]]
    """The plain values of each person of the population that a model may look at."""
    owners: list[int]
    """Whose record each row is; rows of their own where nobody has several."""

    def __str__(self) -> str:
        kinds = ", ".join(f"{name} ({len(set(map(repr, one.plain)))} values)" for name, one in self.columns.items())
        told = {key: value for key, value in self.parameters.items() if key not in {"hierarchies", "kinds"}}
        return f"{len(self.sensitive.plain)} rows of {kinds}; {told}"


def make_job(seed: list[int], methods: list[str] | None = None, *, counting: bool = False) -> Job:
    """Draw a call; the same numbers always make the same one. ``counting``: with a model of a population."""
    rng = np.random.default_rng(seed)
    names = methods or [info.name for info in shoal.methods()]
    method = names[int(rng.integers(len(names)))]
    n = int(rng.integers(2, 60 if rng.random() < 0.9 else 400))
    columns = {}
    for place in range(int(rng.integers(1, 5))):
        make = MAKERS[int(rng.integers(len(MAKERS)))]
        columns[f"{make.__name__}_{place}"] = make(rng, n)
    sensitive = SENSITIVE[int(rng.integers(len(SENSITIVE)))](rng, n)
    population, people = _population(rng, columns, n)
    parameters = {
        "k": int(rng.integers(2, max(3, min(n, 12)))),
        "quasi_identifiers": list(columns),
        "sensitive": ["sensitive"],
        "identifiers": ["name"],
        "keep": ["row"],
        "kinds": {name: one.kind for name, one in columns.items() if one.kind},
        "hierarchies": _hierarchies(columns, method),
        "method": _with_options(rng, method),
        "models": _models(rng, sensitive, population),
        "max_suppression": float(rng.choice([0.0, 0.0, 0.1, 0.5])),
        "seed": int(rng.integers(0, 2**31)),
        "effort": "fast",
    }
    parameters["kinds"] = {
        name: kind for name, kind in parameters["kinds"].items() if name not in parameters["hierarchies"]
    }
    if sensitive.kind:
        parameters["kinds"]["sensitive"] = sensitive.kind
    if isinstance(sensitive.hierarchy, shoal.Hierarchy):
        parameters["hierarchies"]["sensitive"] = sensitive.hierarchy
    counting = rng.random() < (0.4 if method in GLOBAL else 0.15) or counting
    if counting:
        parameters["models"] = [population_model(rng, population)]
    if rng.random() < 0.3:
        parameters["release"] = ["ranges", "representatives"][int(rng.integers(2))]
    if counting:
        parameters["release"] = "ranges"
    if rng.random() < 0.15 and parameters.get("release") == "ranges":
        parameters["widen"] = float(rng.choice([0.25, 1.0]))
    if rng.random() < 0.2:
        parameters["weights"] = {name: float(rng.choice([0, 1, 8, 1e-9, 1e9])) for name in columns}
    if parameters.get("release") != "representatives":
        parameters["ends"] = ["round", "exact"][int(rng.integers(2))]
    owners = list(range(n))
    if rng.random() < 0.2 and not counting:
        owners = rng.integers(0, max(2, int(n * rng.choice([0.3, 0.6, 1.0]))), n).tolist()
        parameters |= {"person": "person", "together": bool(rng.random() < 0.3)}
        parameters["models"] = [shoal.LDiversity(2)] if rng.random() < 0.3 else []
    return Job(columns, sensitive, _as_frame(rng, columns, sensitive, owners), parameters, people, owners)


def _with_options(rng: np.random.Generator, method: str) -> Any:
    """Return a method by its name or, where it has options, now and then as an object with others."""
    options: dict[str, list[Any]] = {
        "bottom-up": [shoal.BottomUp(merge="union")],
        "mondrian": [shoal.Mondrian(strict=False), shoal.Mondrian(cut="median")],
        "merge-split": [shoal.MergeSplit(grow=True)],
        "forest": [shoal.Forest(neighbour="any"), shoal.Forest(tries=3)],
        "sbca": [shoal.SBCA(rest="nearest"), shoal.SBCA(rest="suppress")],
    }
    known = options.get(method, [])
    return known[int(rng.integers(len(known)))] if known and rng.random() < 0.4 else method


def _population(rng: np.random.Generator, columns: dict[str, Column], n: int) -> tuple[pa.Table, list[dict[str, Any]]]:
    """Return the people of the table and others with the same values in other combinations."""
    others = int(rng.integers(0, 4 * n))
    rows = {name: [*range(n), *rng.integers(0, n, others).tolist()] for name in columns}
    table = pa.table({name: one.array.take(pa.array(rows[name])) for name, one in columns.items()})
    plain = {name: [one.plain[row] for row in rows[name]] for name, one in columns.items()}
    return table, [dict(zip(plain, values, strict=True)) for values in zip(*plain.values(), strict=True)]


def _hierarchies(columns: dict[str, Column], method: str) -> dict[str, Any]:
    chosen = {name: one.hierarchy for name, one in columns.items() if one.hierarchy is not None}
    if method in GLOBAL:
        return dict.fromkeys(columns, "flat") | {name: one for name, one in chosen.items() if one != "set"}
    return chosen


def population_model(rng: np.random.Generator, population: pa.Table) -> Any:
    """Return a model that counts who of the population fits the released cells."""
    makers = (
        lambda: shoal.KMap(int(rng.integers(2, 12)), population),
        lambda: shoal.DeltaPresence(0.0, float(rng.choice([0.3, 0.6, 0.9])), population),
        lambda: shoal.DeltaPresence(
            float(rng.choice([0.05, 0.2, 0.35])), 1.0, population, everyone=bool(rng.random() < 0.5)
        ),
    )
    return makers[int(rng.integers(len(makers)))]()


def _models(rng: np.random.Generator, sensitive: Column, population: pa.Table) -> list[Any]:
    makers = (
        lambda: shoal.LDiversity(int(rng.integers(2, 4))),
        lambda: shoal.LDiversity(1.5, "entropy"),
        lambda: shoal.LDiversity(2, "recursive", c=3.0),
        lambda: shoal.TCloseness(float(rng.choice([0.1, 0.3, 0.6])), "equal"),
        lambda: shoal.TCloseness(float(rng.choice([0.1, 0.3, 0.6]))),  # the distance that fits the column
        lambda: shoal.TCloseness(0.4, "hierarchical" if sensitive.tree else "equal"),
        lambda: population_model(rng, population),
        lambda: shoal.AlphaK(float(rng.choice([0.5, 0.8]))),
        lambda: shoal.BetaLikeness(float(rng.choice([1.0, 4.0]))),
        lambda: shoal.DeltaDisclosure(2.0),
        lambda: shoal.KAnonymity(int(rng.integers(2, 9))),
    )
    count = int(rng.choice([0, 0, 0, 1, 1, 2]))
    return [makers[int(rng.integers(len(makers)))]() for _ in range(count)]


def _as_frame(rng: np.random.Generator, columns: dict[str, Column], sensitive: Column, owners: list[int]) -> Any:
    n = len(owners)
    arrays = {name: one.array for name, one in columns.items()} | {
        "sensitive": sensitive.array,
        "name": pa.array([f"person {row}" for row in range(n)]),
        "row": pa.array(range(n)),
        "person": pa.array([f"number {owner}" for owner in owners]),
    }
    table = pa.table(arrays)
    strange = any(isinstance(one, pa.BaseExtensionType) for one in table.schema.types)
    choice = rng.random()
    if choice < 0.1:
        return pa.concat_tables([table.slice(0, n // 2), table.slice(n // 2)])
    if choice < 0.2 and not strange:
        import polars as pl

        return pl.from_arrow(table)
    return _as_pandas(rng, table) if choice < 0.5 else table


def _as_pandas(rng: np.random.Generator, table: pa.Table) -> Any:
    """Return a pandas frame of numpy's types where they hold the values, else of Arrow's, under an index of any kind."""
    import pandas as pd

    n = table.num_rows
    columns = {name: _as_series(table.column(name)) for name in table.column_names}
    index = [
        pd.RangeIndex(n),
        pd.Index(rng.permutation(n) + 100),
        pd.Index(rng.integers(0, 3, n), name="row number"),
        pd.MultiIndex.from_arrays([rng.integers(0, 9, n), np.arange(n)], names=["a", None]),
    ][int(rng.integers(4))]
    return pd.DataFrame({name: series.set_axis(index) for name, series in columns.items()})


def _as_series(column: pa.ChunkedArray) -> Any:
    import pandas as pd

    if isinstance(column.type, pa.BaseExtensionType):
        return column.to_pandas()
    if pa.types.is_dictionary(column.type) and column.chunk(0).dictionary.to_pylist().count("hiv") > 1:
        column = column.cast(column.type.value_type)  # a category is named once
    try:
        series = column.to_pandas()
        if pa.chunked_array([pa.Array.from_pandas(series).cast(column.type)]).equals(column):
            return series
    except (pa.ArrowException, ValueError, OverflowError):
        pass
    return column.to_pandas(types_mapper=pd.ArrowDtype)
