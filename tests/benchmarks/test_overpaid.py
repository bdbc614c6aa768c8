from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from benchmarks.papers.overpaid import FOUND, Overpaid, list_overpaid, lower_prices
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.microaggregation.test_mdav import tables
from tests.support import reference_microaggregation as reference


def overpaid(matrix, prices, k, room=5_000):
    """Return what the kernel lists, and the same by looking at every group."""
    n, most = len(matrix), min(2 * k - 1, len(matrix))
    squared = ((matrix[:, None] - matrix[None]) ** 2).sum(axis=2)
    out = Overpaid(np.full((room, most), -1, np.int32), np.zeros(room), np.zeros(2, np.int64))
    unit = (squared.max() + np.abs(prices).max() + 1e-9) * 2.0**-40
    complete = all(list_overpaid(squared, prices, size, unit, 64, 1_000_000, out) for size in range(k, most + 1))
    groups = [group for size in range(k, most + 1) for group in combinations(range(n), size)]
    amounts = {
        group: float(prices[list(group)].sum()) - reference.sum_of_squares(matrix[list(group)].tolist())
        for group in groups
    }
    return out, complete, amounts


@settings(deadline=None)
@given(tables(most=9, columns=2), st.integers(2, 4), st.data())
def test_every_overpaid_group_is_listed_once_and_no_other(matrix, k, data):
    k = min(k, len(matrix))
    matrix = matrix / max(1.0, np.abs(matrix).max())
    prices = np.array(
        data.draw(
            st.lists(
                st.floats(-0.2, 0.8) | st.sampled_from([0.0, 0.25, 0.5]), min_size=len(matrix), max_size=len(matrix)
            )
        )
    )
    out, complete, amounts = overpaid(matrix, prices, k)
    assert complete
    listed = [tuple(sorted(row[row >= 0].tolist())) for row in out.members[: out.tally[FOUND]]]
    assert len(set(listed)) == len(listed)
    clear = {group for group, amount in amounts.items() if amount > 1e-9}
    assert clear <= set(listed)
    assert all(amounts[group] > -1e-9 for group in listed)
    for group, amount in zip(listed, out.amount, strict=False):
        assert amount == pytest.approx(amounts[group], abs=1e-9)


@settings(deadline=None)
@given(tables(most=9, columns=2), st.integers(2, 3), st.data())
def test_lowered_prices_overpay_no_group_at_all(matrix, k, data):
    matrix = matrix / max(1.0, np.abs(matrix).max())
    prices = np.array(data.draw(st.lists(st.floats(0, 0.8), min_size=len(matrix), max_size=len(matrix))))
    out, _, _ = overpaid(matrix, prices, k)
    lowered = lower_prices(prices, out)
    _, _, amounts = overpaid(matrix, lowered, k)
    assert max(amounts.values()) < 1e-9


def test_a_full_list_is_reported():
    matrix = np.zeros((8, 1))
    assert not overpaid(matrix, np.ones(8), 2, room=10)[1]
