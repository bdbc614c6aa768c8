from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels.space import packing as kernels
from tests.kernels.spaces import Interval, build_space


def spread_out(sizes):
    return build_space([Interval(tuple(float(code) for code in range(size))) for size in sizes])


@st.composite
def packed(draw):
    """Return a packing, some records and two ends of a box, as lists of codes."""
    sizes = draw(st.lists(st.sampled_from([1, 2, 3, 16, 17, 300, 5000]), min_size=1, max_size=14))
    record = st.tuples(*[st.integers(0, size - 1) for size in sizes])
    records = draw(st.lists(record, min_size=1, max_size=6))
    low, high = draw(record), draw(record)
    return kernels.make_packing(spread_out(sizes)), records, low, high


def pack(packing, records):
    codes = np.ascontiguousarray(np.array(records, np.int32).T)
    return kernels.pack_records(packing, codes, np.arange(len(records), dtype=np.int32))


@given(packed())
def test_unpacked_records_are_those_that_were_packed(drawn):
    packing, records, _, _ = drawn
    assert [tuple(row) for row in kernels.unpack_records(packing, pack(packing, records)).T.tolist()] == records


def test_records_too_wide_for_one_word_take_two():
    packing = kernels.make_packing(spread_out([300] * 7))
    assert packing.guard.size == 2
    assert packing.word.tolist() == [0] * 6 + [1]


@given(packed())
def test_a_column_outside_a_box_is_found_exactly_when_there_is_one(drawn):
    packing, records, low, high = drawn
    low, high = np.minimum(low, high), np.maximum(low, high)
    rows, ends = pack(packing, records), [pack(packing, [one]) for one in (low, high)]
    guards = [
        int(kernels.number_guard(word, (mask + np.uint64(1)) << shift))
        for word, mask, shift in zip(packing.word, packing.mask, packing.shift, strict=True)
    ]
    assert len(set(guards)) == len(guards)
    for row, record in enumerate(records):
        outside, number = kernels.find_outside(packing, *ends, 0, rows, row)
        columns = [guard for guard, a, code, b in zip(guards, low, record, high, strict=True) if not a <= code <= b]
        assert outside == bool(columns)
        assert number in columns if columns else number % 64 == 0
