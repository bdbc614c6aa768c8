from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels.common.sorting import order_by_key, order_falling, sort_codes


@given(st.lists(st.integers(-(2**31), 2**31 - 1)))
def test_codes_are_sorted_in_place(values):
    codes = np.array(values, np.int32)
    sort_codes(codes)
    assert codes.tolist() == sorted(values)


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0])))
def test_places_come_largest_first_and_equal_ones_in_their_order(values):
    order = np.empty(len(values), np.int32)
    order_falling(np.array(values), order)
    assert order.tolist() == sorted(range(len(values)), key=lambda place: -values[place])


@given(st.lists(st.integers(-3, 3), max_size=100))
def test_places_are_ordered_by_key_and_equal_keys_keep_their_order(keys):
    key = np.array(keys, np.int64)
    np.testing.assert_array_equal(order_by_key(key), np.argsort(key, kind="stable"))
