"""Tables in which columns follow from quasi-identifiers, in the shapes of two public ones, and tables in which none does."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pyarrow as pa

LIVER_KNOWN = ["age", "male", "weight", "height"]
LIVER_KEPT = ["bmi", "status"]
STAYS_KNOWN = ["admission", "discharge", "birth_year"]
STAYS_KEPT = ["length_of_stay", "age", "ward"]
_KINDS = ("int", "real", "skewed", "text", "date", "binary", "coarse", "unbalanced")


def liver(n: int = 3000, seed: int = 0) -> pa.Table:
    """Return a table shaped like nafld1 of R's survival package: weight and height are rounded, bmi was computed before that."""
    random = np.random.default_rng(seed)
    weight = np.clip(random.normal(86, 22, n), 35, 180)
    height = np.clip(random.normal(169, 10, n), 130, 205)
    bmi = weight / (height / 100) ** 2
    missing = random.random(n) < 0.25
    return pa.table(
        {
            "age": random.integers(18, 98, n),
            "male": random.integers(0, 2, n),
            "weight": pa.array(np.where(missing, np.nan, np.round(weight, 1)), from_pandas=True),
            "height": pa.array(np.where(random.random(n) < 0.1, np.nan, np.rint(height)), from_pandas=True),
            "bmi": pa.array(np.where(missing, np.nan, np.round(bmi, 5)), from_pandas=True),
            "status": random.integers(0, 2, n),
        }
    )


def stays(n: int = 600, seed: int = 0) -> pa.Table:
    """Return a table of stays in a hospital: the length of stay and the age follow from dates and the year of birth."""
    random = np.random.default_rng(seed)
    admission = random.integers(17_000, 18_800, n)
    stay = np.minimum(random.geometric(0.08, n), 90)
    born = random.integers(1930, 2010, n)
    year = admission.astype("datetime64[D]").astype("datetime64[Y]").astype(int) + 1970
    return pa.table(
        {
            "admission": pa.array(admission.astype(np.int32), pa.date32()),
            "discharge": pa.array((admission + stay).astype(np.int32), pa.date32()),
            "birth_year": born,
            "length_of_stay": stay,
            "age": year - born,
            "ward": random.choice(["A", "B", "C", "D", "E"], n),
        }
    )


def unrelated(seed: int) -> tuple[pa.Table, list[str], list[str]]:
    """Return a table of random columns, independent or correlated, the known ones and the others."""
    random = np.random.default_rng(seed)
    n = int(random.choice([60, 150, 400, 1000]))
    known, others = int(random.integers(2, 6)), int(random.integers(2, 6))
    columns = known + others
    hidden = random.normal(size=(n, columns))
    strength = (0.0, 0.8, 0.95)[seed % 3]
    if strength:
        load = random.uniform(0.3, strength, columns) * random.choice([-1, 1], columns)
        hidden = load * random.normal(size=(n, 1)) + np.sqrt(1 - load**2) * hidden
    names = [f"known{place}" if place < known else f"other{place}" for place in range(columns)]
    table = pa.table({name: _column(random, hidden[:, place]) for place, name in enumerate(names)})
    return table, names[:known], names[known:]


def _column(random: np.random.Generator, hidden: np.ndarray) -> pa.Array:
    kind = random.choice(_KINDS)
    share = np.array([NormalDist().cdf(value) for value in hidden])
    if kind == "int":
        return pa.array(np.floor(share * random.choice([10, 90, 1000, 100_000])).astype(np.int64))
    if kind == "real":
        return pa.array(hidden)
    if kind == "skewed":
        return pa.array(np.round(np.exp(hidden * 1.2 + 5), 2))
    if kind == "text":
        return pa.array([f"v{int(value)}" for value in share * random.choice([3, 8, 40])])
    if kind == "date":
        return pa.array((10_000 + share * 8000).astype(np.int32), pa.date32())
    cut = {"binary": 0.5, "unbalanced": 0.93}.get(kind)
    return pa.array((share > cut).astype(np.int64) if cut else np.floor(share * 5).astype(np.int64))
