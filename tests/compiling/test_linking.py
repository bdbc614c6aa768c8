from __future__ import annotations

import numpy as np
import pytest
from numba.core.codegen import JITCodeLibrary

from shoal.compiling import decorator

linking = pytest.importorskip("shoal.compiling.linking", exc_type=ImportError)
pytestmark = pytest.mark.compiled
kernel = decorator.kernel


def add_one(number):
    return number + 1


def make_pair():
    """A kernel and one that calls it, compiled again as in another process."""
    inner = kernel()(add_one)

    def call(number):
        return inner(number) * 2

    return inner, kernel()(call)


def test_a_kernel_called_by_kernels_only_gets_no_machine_code():
    inner, outer = make_pair()
    assert outer(3) == 8
    assert inner.outer.signatures == []
    (compiled,) = inner.inner.overloads.values()
    assert isinstance(compiled.library, linking.InnerLibrary)
    assert not compiled.library._object_caching_enabled
    assert not compiled.library.codegen._engine.is_symbol_defined(compiled.fndesc.llvm_cpython_wrapper_name)


def test_a_kernel_may_be_called_by_kernels_and_by_python():
    inner, outer = make_pair()
    assert [outer(3), inner(3), outer(4), inner(np.int32(4))] == [8, 4, 10, 5]


def test_a_kernel_may_call_itself():
    @kernel()
    def factorial(number):
        if number < 2:
            return 1
        return number * factorial(number - 1)

    @kernel()
    def call(number):
        return factorial(number)

    assert call(5) == 120
    assert factorial(6) == 720


def test_arrays_made_and_freed_below_are_as_those_made_by_numba():
    @kernel()
    def squares(count):
        made = np.empty(count, np.int64)
        for position in range(count):
            made[position] = position * position
        return made

    @kernel()
    def sum_of_squares(count):
        total = 0
        for value in squares(count)[1:]:
            total += value
        return total, squares(2)

    total, made = sum_of_squares(1000)
    assert total == sum(number**2 for number in range(1000))
    assert made.tolist() == [0, 1]


def test_a_numba_without_a_part_that_is_needed_is_told():
    with pytest.raises(ImportError, match=r"has no JITCodeLibrary\._no_such_part"):
        linking._check_parts({JITCodeLibrary: ("finalize", "_no_such_part")})
