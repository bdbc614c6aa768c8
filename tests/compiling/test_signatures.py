from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from shoal.compiling.signatures import OuterCall, SignatureRecorder, boxed


class Pair(NamedTuple):
    numbers: object
    total: object


def double(numbers, times=2):
    return Pair(numbers, numbers.dtype.type(times) * numbers.sum())


def test_a_watch_notes_the_types_that_numba_would_see():
    watch = SignatureRecorder()
    watched = watch.watched(double, double)
    watched(np.zeros(3, np.int32))
    watched(np.zeros(3, np.int32), times=4)
    (short, long) = watch.calls
    array = numba.typeof(np.zeros(3, np.int32))
    assert short == OuterCall(__name__, "double", (array, numba.types.Omitted(2)))
    assert long.types == (array, numba.int64)


def test_a_call_from_within_a_kernel_is_no_outer_call_and_makes_the_outer_one_heavier():
    watch = SignatureRecorder()
    inner = watch.watched(double, double)

    def outer(numbers):
        return inner(numbers)

    def alone(numbers):
        return numbers

    watch.watched(alone, alone)(np.zeros(1))
    watch.watched(outer, outer)(np.zeros(1))
    first, second = watch.heaviest_first()
    assert first.name.endswith("outer")
    assert second.name.endswith("alone")
    assert watch.calls[first] == {f"{__name__}.double"}


def test_what_comes_back_is_what_a_compiled_kernel_would_give_back():
    total = boxed(double(np.array([1, 2], np.int32))).total
    assert type(total) is int
    assert [type(part) for part in boxed((np.float32(1.5), np.bool_(True)))] == [float, bool]


def test_a_call_is_noted_also_where_the_kernel_fails_and_the_next_one_is_outer_again():
    def fail(numbers):
        raise ZeroDivisionError

    watch = SignatureRecorder()
    for _ in range(2):
        try:
            watch.watched(fail, fail)(1)
        except ZeroDivisionError:
            continue
    watch.watched(double, double)(np.zeros(1))
    assert len(watch.calls) == 2
