from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels.guarded.completion import completable
from shoal.kernels.models.rules import new_tally
from tests.enforcement.cases import searching


@settings(max_examples=60)
@given(st.sampled_from(["distinct", "equal"]), st.integers(0, 20), st.integers(3, 7), st.data())
def test_a_group_can_be_completed_exactly_when_some_completion_meets_the_rules(name, seed, target, data):
    search = searching(name, seed, n=40)
    rules, classes = search.case.rules, search.carver.classes
    kinds = len(classes.share)
    at_hand = np.array(data.draw(st.lists(st.integers(0, 4), min_size=kinds, max_size=kinds)), np.int64)
    have = np.array(data.draw(st.lists(st.integers(0, 2), min_size=kinds, max_size=kinds)), np.int64)
    size = int(have.sum())
    if size > target:
        return

    def meets(added):
        filled = have + np.bincount(np.array(added, int), minlength=kinds)
        if (filled - have > at_hand).any():
            return False
        nobody = np.zeros(kinds, np.int64)
        return completable(rules, classes, filled, target, target, nobody, np.zeros(kinds, np.int64), new_tally(rules))

    possible = any(map(meets, combinations_with_replacement(range(kinds), target - size)))
    found = completable(rules, classes, have, size, target, at_hand, np.zeros(kinds, np.int64), new_tally(rules))
    assert found <= possible
    if len(rules.codes) == 1:  # with two sensitive columns at once the completion need not be the best one
        assert found == possible
