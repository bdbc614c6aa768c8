"""Writes ``pycanon.json``: random tables, a table of Adult, and what pycanon finds in them.

pycanon pins an old numpy, so it is not a part of the developers' environment. In one that has it (``python -m benchmarks.peers``
makes such a one, or ``pip install pycanon``): ``python -m tests.privacy.pycanon_figures``.
"""

from __future__ import annotations

import json
import os
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

FILE = Path(__file__).with_name("pycanon.json")
QUASI_IDENTIFIERS = ["q", "r"]
SENSITIVE = ["word", "number"]


def random_table(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(30, 200))
    return {
        "q": rng.integers(0, rng.integers(2, 5), n).tolist(),
        "r": rng.integers(0, rng.integers(1, 3), n).tolist(),
        "word": rng.choice(list("abcdef"), n, p=[0.4, 0.2, 0.15, 0.1, 0.1, 0.05]).tolist(),
        "number": rng.integers(0, 12, n).tolist(),
    }


def adult_table(path):
    """Return the first 2,000 records of Adult by age in twenties and race, with salary and tens of hours."""
    adult = pd.read_csv(path, nrows=2000)
    return {
        "q": (adult["age"] // 20).tolist(),
        "r": adult["race"].tolist(),
        "word": adult["salary-class"].tolist(),
        "number": (adult["hours-per-week"] // 10).tolist(),
    }


def figures(table, sensitive):
    """Return what pycanon finds in a table."""
    from pycanon import anonymity

    frame = pd.DataFrame(table)
    args = (frame, QUASI_IDENTIFIERS, sensitive)
    found = {
        "k": anonymity.k_anonymity(frame, QUASI_IDENTIFIERS),
        "l": anonymity.l_diversity(*args),
        "entropy_l": anonymity.entropy_l_diversity(*args),
        "t": anonymity.t_closeness(*args),
        "alpha": anonymity.alpha_k_anonymity(*args)[0],
        "beta": anonymity.basic_beta_likeness(*args),
        "delta": anonymity.delta_disclosure(*args),
    }
    return {name: float(value) for name, value in found.items()}


def main():
    data = Path(os.environ.get("SHOAL_DATA", Path(__file__).parents[2].parent / "shared" / "data"))
    tables = [*map(random_table, range(6))]
    adult = adult_table(data / "adult" / "adult.csv")
    content = {
        "pycanon": version("pycanon"),
        "random": [{"table": one, "figures": {name: figures(one, [name]) for name in SENSITIVE}} for one in tables],
        "adult": figures(adult, SENSITIVE),
    }
    FILE.write_text(json.dumps(content, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
