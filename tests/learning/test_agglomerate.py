"""The merging of parts that meet, against a plain and slow twin."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.learning.agglomerate import CROWD, SIZE, merge_parts


def merge_slowly(sizes, meetings, *, in_order):
    """Count all meetings again before each merge."""
    size = dict(enumerate(sizes))
    span = {part: (part, part) for part in size}
    groups = [(set(members), records) for members, records in meetings.items()]
    merges = []
    while len(size) > 1:

        def value(pair, groups=groups):
            score = sum(records / (len(members) - 1) ** CROWD for members, records in groups if set(pair) <= members)
            return score / (size[pair[0]] + size[pair[1]]) ** SIZE

        pairs = [
            pair
            for pair in combinations(sorted(size), 2)
            if not in_order or span[pair[0]][1] + 1 == span[pair[1]][0] or span[pair[1]][1] + 1 == span[pair[0]][0]
        ]
        one, two = min(pairs, key=lambda pair: (-value(pair), size[pair[0]] + size[pair[1]], pair))
        if not in_order and value((one, two)) == 0:
            one, two = sorted(sorted(size, key=lambda part: (size[part], part))[:2])
        new = len(sizes) + len(merges)
        size[new] = size.pop(one) + size.pop(two)
        ends = sorted((span.pop(one), span.pop(two)))
        span[new] = (ends[0][0], ends[1][1])
        groups = [
            ((members - {one, two}) | ({new} if members & {one, two} else set()), records)
            for members, records in groups
        ]
        merges.append((one, two))
    return merges


PARTS = 7
MEETINGS = st.dictionaries(
    st.sets(st.integers(0, PARTS - 1), min_size=2, max_size=5).map(lambda members: tuple(sorted(members))),
    st.integers(1, 50).map(float),
    max_size=12,
)


@pytest.mark.parametrize("in_order", [False, True])
@given(meetings=MEETINGS, sizes=st.lists(st.integers(1, 4), min_size=PARTS, max_size=PARTS))
def test_the_merges_are_those_of_the_slow_twin_but_for_rounding(in_order, meetings, sizes):
    quick = merge_parts(sizes, meetings, in_order=in_order)
    slow = merge_slowly(sizes, meetings, in_order=in_order)
    if all(float(records).is_integer() and len(members) in (2, 3, 5) for members, records in meetings.items()):
        assert quick == slow  # all shares are exact: halves and quarters
    assert len(quick) == PARTS - 1
    assert {part for pair in quick for part in pair} == set(range(2 * PARTS - 2))


def test_what_meets_most_for_its_size_is_merged_first():
    meetings = {(0, 1): 10.0, (1, 2): 9.0, (0, 1, 2, 3): 40.0}
    assert merge_parts([1, 1, 1, 1], meetings, in_order=False)[0] == (0, 1)
    assert merge_parts([9, 9, 1, 1], meetings, in_order=False)[0] == (
        2,
        3,
    )  # they meet in the large group only, but are small


def test_parts_that_never_meet_are_merged_from_the_smallest():
    assert merge_parts([3, 1, 2, 1], {}, in_order=False) == [(1, 3), (2, 4), (0, 5)]


def test_in_order_only_neighbours_are_merged():
    assert merge_parts([1, 1, 1, 1], {(0, 3): 100.0, (1, 2): 1.0}, in_order=True)[0] == (1, 2)
