"""Coded tables drawn at random, for comparing methods with their plain references."""

from __future__ import annotations

import sys

import numpy as np
from hypothesis import strategies as st

from shoal.encoding import CodedTable
from shoal.methods.base import Task
from tests.kernels.spaces import Interval, Tree, Values, build_space

TREES = [
    ("leaf", "leaf", "leaf"),
    (("leaf", "leaf"), ("leaf", "leaf", "leaf"), "leaf"),
    ("leaf", (("leaf", "leaf", "leaf"), (("leaf", "leaf"), "leaf"))),
]
columns = st.one_of(
    st.builds(
        Interval,
        st.sets(st.integers(-9, 9), min_size=1, max_size=8).map(lambda numbers: tuple(map(float, sorted(numbers)))),
        st.booleans(),
    ),
    st.builds(Values, st.sampled_from([1, 2, 3, 5, 70]), st.booleans()),
    st.builds(Tree, st.sampled_from(TREES), st.booleans()),
)


def coded_table(chosen, weights, codes):
    """Return codes (m, n) of hand-built columns as the table a method is given."""
    table = CodedTable(np.array(codes, np.int32), (), np.array(weights, np.float64))
    table.__dict__["space"] = build_space(chosen, weights)
    return table


@st.composite
def coded_tables(draw, most=30):
    """Return columns, weights, codes and a k the records suffice for."""
    chosen = draw(st.lists(columns, min_size=1, max_size=4))
    weights = [draw(st.sampled_from([0.0, 0.5, 1.0, 3.0])) for _ in chosen]
    if not any(weights):
        weights[0] = 1.0
    records = draw(st.integers(2, most))
    codes = [
        draw(st.lists(st.integers(0, column.cardinality - 1), min_size=records, max_size=records)) for column in chosen
    ]
    return chosen, weights, codes, draw(st.integers(2, records))


def run_in_chunks(method, monkeypatch):
    """Return a method's labels from one run, and the progress it tells and its labels when it runs in smallest steps."""
    random = np.random.default_rng(8)
    chosen = [Interval(tuple(map(float, range(40)))), Values(3)]
    table = coded_table(chosen, [1.0, 1.0], [random.integers(0, 40, 300), random.integers(0, 3, 300)])
    at_once = method.run(table, Task(k=4)).labels
    heard = []
    monkeypatch.setattr(sys.modules[type(method).__module__], "_CHUNK", 1)
    in_chunks = method.run(table, Task(k=4, progress=lambda share, text: heard.append(share))).labels
    return at_once, heard, in_chunks
