from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels.common.heap import comes_before, drop_first, make_queue, push

entries = st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0, 2.0]), st.integers(0, 5)), max_size=40)


@given(entries)
def test_entries_come_out_by_bound_and_then_by_number(given_entries):
    queue, waiting = make_queue(len(given_entries) + 1), 0
    for item, (bound, number) in enumerate(given_entries):
        waiting = push(queue, waiting, bound, number, item)
    found = []
    while waiting > 0:
        assert given_entries[queue.item[0]] == (queue.bound[0], queue.number[0])
        found.append((queue.bound[0], queue.number[0]))
        waiting = drop_first(queue, waiting)
    assert found == sorted(given_entries)


@given(entries, st.data())
def test_the_first_is_always_the_least_of_what_waits(given_entries, data):
    queue, waiting, left = make_queue(len(given_entries) + 1), 0, []
    for item, (bound, number) in enumerate(given_entries):
        waiting = push(queue, waiting, bound, number, item)
        left.append((bound, number))
        if data.draw(st.booleans()):
            left.remove((queue.bound[0], queue.number[0]))
            waiting = drop_first(queue, waiting)
        assert waiting == len(left)
        if left:
            assert (queue.bound[0], queue.number[0]) == min(left)


def test_an_entry_never_comes_before_itself():
    assert not comes_before(1.0, 3, 1.0, 3)
    assert comes_before(1.0, 2, 1.0, 3)
    assert comes_before(0.5, 9, 1.0, 3)
