from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels.common.lists import Lists, transpose


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.integers(0, 9), unique=True, max_size=6), min_size=1, max_size=8))
def test_transposed_lists_name_the_lists_of_each_item_in_order(lists):
    start = np.concatenate(([0], np.cumsum([len(one) for one in lists])))
    found = transpose(Lists(start, np.array([one for some in lists for one in some], np.int32)), 10)
    for item, ends in enumerate(pairwise(found.start)):
        assert found.item[slice(*ends)].tolist() == [number for number, one in enumerate(lists) if item in one]
