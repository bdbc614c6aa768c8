from __future__ import annotations

from collections import Counter

from shoal.engines.spark.counting import Counted


def test_the_worst_partition_decides_each_measure():
    one = Counted(4, Counter(), {"ill": {"l": 2.0, "c": 1.5, "t": 0.1}}, {})
    other = Counted(6, Counter(), {"ill": {"l": 3.0, "c": 2.5, "t": 0.2}}, {})
    assert one.with_(other).sensitive == {"ill": {"l": 2.0, "c": 2.5, "t": 0.2}}
