"""The sums of fragments add up to the metrics of the whole."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.cells.recode import released_cover, render
from shoal.encoding import encode
from shoal.frames import to_frame
from shoal.methods.base import Grouping, Task
from shoal.methods.mondrian import Mondrian
from shoal.metrics import Outcome, measure
from shoal.metrics.loss import combine
from shoal.plan.pieces import release_fragment
from tests.engines.tables import HIERARCHIES, QUASI_IDENTIFIERS, people


def test_the_metrics_of_fragments_together_are_those_of_the_whole():
    table = encode(to_frame(people(600)), QUASI_IDENTIFIERS, hierarchies=HIERARCHIES, weights={"age": 3.0})
    labels = Mondrian().run(table, Task(k=6)).labels.copy()
    labels[labels == labels.max()] = -1
    cover = released_cover(table, Grouping(labels))
    whole = measure(Outcome(table, labels, cover, 6))
    half = np.where(labels < int(labels.max()) // 2, 0, 1)
    pieces, cells = [], []
    for side in (0, 1):
        records = np.flatnonzero(half == side)
        own = labels[records]
        own = np.where(own < 0, -1, own - own[own >= 0].min()).astype(np.int32)
        piece = release_fragment(table.take(records), Grouping(own), 6)
        pieces.append(piece.statistics)
        cells += list(
            zip(records[piece.kept], *(piece.columns[name].to_pylist() for name in QUASI_IDENTIFIERS), strict=True)
        )
    found = combine(pieces).metrics(table.names, table.weights, 6)
    for name, value in found.items():
        assert value == pytest.approx(whole[name], rel=1e-9), name
    expected = render(table, labels, cover)
    kept = np.flatnonzero(labels >= 0)
    rows = zip(kept, *(expected[name].to_pylist() for name in QUASI_IDENTIFIERS), strict=True)
    assert {row[0]: row[1:] for row in cells} == {row[0]: row[1:] for row in rows}
