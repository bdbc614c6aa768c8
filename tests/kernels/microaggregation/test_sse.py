from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from shoal.kernels.microaggregation.sse_anneal import Annealing, anneal
from shoal.kernels.microaggregation.sse_moves import (
    collect_groups,
    descend,
    move_change,
    move_record,
    renew_means,
    swap_change,
    swap_records,
    total_loss,
)
from tests.kernels.microaggregation.test_mdav import tables
from tests.support import reference_microaggregation as reference


def loss(matrix, labels):
    return reference.loss(matrix.tolist(), labels.tolist())


def halves(n):
    return np.array([int(2 * i >= n) for i in range(n)], np.int32)


def all_neighbours(matrix):
    """Return the other records of each record, in their order."""
    n = len(matrix)
    return np.array([[j for j in range(n) if j != i] for i in range(n)], np.int32)


@given(tables(most=12), st.data())
def test_a_move_changes_the_loss_and_the_means_by_what_is_said(matrix, data):
    state = collect_groups(matrix, halves(len(matrix)), 2, len(matrix))
    before = loss(matrix, state.label)
    record = data.draw(st.integers(0, len(matrix) - 1))
    change = move_change(matrix, state, record, 1 - state.label[record])
    move_record(matrix, state, record, 1 - state.label[record])
    check_state(matrix, state, before + change)


@given(tables(most=12), st.data())
def test_a_swap_changes_the_loss_and_the_means_by_what_is_said(matrix, data):
    n = len(matrix)
    state = collect_groups(matrix, halves(n), 2, n)
    before = loss(matrix, state.label)
    first = data.draw(st.sampled_from(np.flatnonzero(halves(n) == 0).tolist()))
    second = data.draw(st.sampled_from(np.flatnonzero(halves(n) == 1).tolist()))
    change = swap_change(matrix, state, first, second)
    swap_records(matrix, state, first, second)
    check_state(matrix, state, before + change)


def check_state(matrix, state, expected):
    scale = max(float((matrix**2).sum()), 1.0)
    assert loss(matrix, state.label) == pytest.approx(expected, abs=1e-9 * scale)
    assert total_loss(matrix, state) == pytest.approx(expected, abs=1e-9 * scale)
    kept = state.mean.copy()
    renew_means(matrix, state)
    filled = state.size > 0
    assert np.allclose(kept[filled], state.mean[filled], atol=1e-9 * scale)
    for group, size in enumerate(state.size):
        members = state.member[group, :size]
        assert sorted(members.tolist()) == np.flatnonzero(state.label == group).tolist()
        assert state.slot[members].tolist() == list(range(size))


EQUAL_RECORDS = np.array(
    [[1e-05, -995.5757306598821]] * 2 + [[-222.38852052262166, -134.02906799087975]] + [[1e-05, -995.5757306598821]]
)


@example(EQUAL_RECORDS, 2)  # a swap of equal records looked like a gain, for ever
@given(tables(most=16), st.integers(2, 3))
def test_descent_ends_where_no_move_or_swap_gains(matrix, k):
    n, room = len(matrix), max(2 * k - 1, -(-len(matrix) // 2))
    state = collect_groups(matrix, halves(n), 2, room)
    near, fresh = all_neighbours(matrix), np.ones(2, np.int32)
    before = total_loss(matrix, state)
    clock = 1
    while descend(matrix, state, near, k, room, fresh, clock, 0, n):
        clock += 1
    renew_means(matrix, state)
    scale = max(float((matrix**2).sum()), 1.0)
    assert total_loss(matrix, state) <= before + 1e-9 * scale
    assert state.size.min() >= min(k, n // 2)
    for record in range(n):
        target = 1 - state.label[record]
        if state.size[state.label[record]] > k and state.size[target] < room:
            assert move_change(matrix, state, record, target) >= -1e-9 * scale
        for other in state.member[target, : state.size[target]]:
            assert swap_change(matrix, state, record, other) >= -1e-9 * scale


@settings(deadline=None, max_examples=50)
@given(tables(most=24), st.integers(2, 3), st.integers(0, 1000))
def test_annealing_keeps_sizes_and_says_by_how_much_the_loss_changed(matrix, k, seed):
    n, room = len(matrix), 2 * k - 1
    labels = (np.arange(n) // k).astype(np.int32)
    labels[labels == n // k] = n // k - 1
    state = collect_groups(matrix, labels, n // k, room)
    work = Annealing(
        matrix, all_neighbours(matrix), np.zeros(n // k + 1, np.int32), np.zeros((2, room), np.int32),
        np.array([seed], np.uint64),
    )  # fmt: skip
    before = loss(matrix, labels)
    hot = before / n + 1e-9
    change = anneal(work, state, k, room, hot, hot / 100, 0, 2_000, 2_000)
    used = state.size[state.size > 0]
    assert used.min() >= k
    assert used.max() <= room
    assert sorted(work.vacant[: work.vacant[-1]].tolist()) == np.flatnonzero(state.size == 0).tolist()
    check_state(matrix, state, before + change)
