"""A small table for every model of shoal's own, bound to it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import shoal
from shoal.encoding import encode
from shoal.encoding.units import with_units
from shoal.enforcement.guarded import GuardedSearch
from shoal.frames import Frame
from shoal.methods.base import Task
from shoal.methods.optimize import Optimize
from shoal.methods.optimize.problem import Problem
from shoal.methods.stopping import Stop
from shoal.privacy.compiled_models import compile_models
from shoal.privacy.k_anonymity import at_least_units

TREE = shoal.Hierarchy.from_dict({"*": {"xy": ["x", "y"], "z": None}})
MODELS = {
    "distinct": [shoal.LDiversity(2)],
    "entropy": [shoal.LDiversity(1.6, "entropy")],
    "recursive": [shoal.LDiversity(2, "recursive", c=3.0)],
    "equal": [shoal.TCloseness(0.3, "equal")],
    "ordered": [shoal.TCloseness(0.25, column="n"), shoal.LDiversity(2, column="s")],
    "hierarchical": [shoal.TCloseness(0.2, "hierarchical", column="s")],
    "alpha": [shoal.AlphaK(0.75, column="s")],
    "beta": [shoal.BetaLikeness(1.0)],
    "enhanced": [shoal.BetaLikeness(1.5, enhanced=True, column="s")],
    "delta": [shoal.DeltaDisclosure(1.2, column="s")],
    "larger k": [shoal.KAnonymity(7)],
}
"""Models on the sensitive values and the size of a group."""
HISTOGRAMS = [name for name in MODELS if name != "larger k"]
"""Those on the sensitive values only."""
PEOPLE = ("k-map", "presence", "k-map and closeness")
"""Models on a population."""
UNITS = ("persons", "households", "persons and diversity")
"""Models that count those to whom records belong."""
EVERY = (*MODELS, *PEOPLE, *UNITS)


def random_frame(seed, n):
    """Return n records: two quasi-identifiers, two sensitive columns, and whose they are."""
    rng = np.random.default_rng(seed)
    columns = {
        "a": rng.integers(0, 15, n),
        "b": rng.choice(list("uvwxyz"), n),
        "s": rng.choice(["x", "y", "z"], n, p=[0.6, 0.3, 0.1]),
        "n": rng.integers(0, 6, n),
    }
    return pa.table(columns | {"person": np.arange(n) % (n // 2), "household": np.arange(n) % (n // 5)})


def random_table(seed, n=120):
    """Return n records, coded."""
    frame = Frame(random_frame(seed, n))
    return encode(frame, ["a", "b"], attributes=["s", "n"], hierarchies={"s": TREE})


def population(seed, n):
    """Return six people for each record: those of the table and others."""
    rng = np.random.default_rng(seed + 1)
    others = pa.table({"a": rng.integers(0, 15, 5 * n), "b": rng.choice(list("uvwxyz"), 5 * n)})
    return pa.concat_tables([random_frame(seed, n).select(["a", "b"]), others])


def case_of(name, seed, k=3, n=120, **more):
    """Return a table and a task that asks for the models of a name."""
    table = random_table(seed, n)
    if name in UNITS:
        units = {"person": "person", "household": "household" if name == "households" else None}
        table = with_units(table, Frame(random_frame(seed, n)), units)
        models = (
            [shoal.LDiversity(2, column="s"), shoal.TCloseness(0.35, "equal", column="s")]
            if name.endswith("diversity")
            else []
        )
    elif name in PEOPLE:
        people = population(seed, n)
        models = [shoal.DeltaPresence(0.03, 0.2, people) if name == "presence" else shoal.KMap(30, people)]
        models += [shoal.TCloseness(0.35, "equal", column="s")] if name.endswith("closeness") else []
    else:
        models = MODELS[name]
    requirements = (*at_least_units(table, k), *(model.bind(table) for model in models))
    return table, Task(k=k, requirements=requirements, **more)


def searching(name, seed, k=3, n=120):
    """Return a search on a random table that keeps the models of a name."""
    table, task = case_of(name, seed, k, n)
    return GuardedSearch(Optimize(), Problem.of(table, task), compile_models(table, k, task.requirements), task, Stop())
