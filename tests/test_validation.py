from __future__ import annotations

import os
import re
from fractions import Fraction

import numpy as np
import pytest

import shoal
from shoal.compare.state import State
from shoal.errors import ColumnError, FileError, ParameterError
from shoal.metrics.queries import read_queries
from shoal.results.generalization import Generalization
from shoal.validation import check_choice, check_columns, check_float, check_int, nearest_hint


@pytest.mark.parametrize("value", [2, 7, np.int64(3), np.int32(2)])
def test_ints_of_every_kind_come_back_as_python_ints(value):
    checked = check_int("Anonymizer", "k", value, least=2)
    assert checked == value
    assert type(checked) is int


@pytest.mark.parametrize("value", [1, -3, True, 2.0, "2", None, np.float64(3.0)])
def test_what_is_no_int_in_range_is_refused_with_what_got_and_where(value):
    text = f"The 'k' parameter of Anonymizer must be an int of at least 2. Got {value!r} instead."
    with pytest.raises(ParameterError, match=f"^{re.escape(text)}$"):
        check_int("Anonymizer", "k", value, least=2)


def test_an_int_above_the_most_is_refused_and_the_bounds_are_allowed():
    assert [check_int("f", "x", value, least=1, most=3) for value in (1, 3)] == [1, 3]
    with pytest.raises(ParameterError, match=r"must be an int from 1 to 3\. Got 4 instead"):
        check_int("f", "x", 4, least=1, most=3)


@pytest.mark.parametrize("value", [0, 0.5, 1, np.float32(0.25), Fraction(1, 3)])
def test_numbers_of_every_kind_come_back_as_python_floats(value):
    checked = check_float("f", "x", value, least=0, most=1)
    assert checked == float(value)
    assert type(checked) is float


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), float("inf"), True, "0.5", None, 1j])
def test_what_is_no_finite_number_in_range_is_refused(value):
    with pytest.raises(ParameterError, match="must be a finite number of at least 0 and at most 1"):
        check_float("f", "x", value, least=0, most=1)


def test_a_bound_can_be_left_out():
    assert check_float("f", "x", 1e-300, least=0, above=True) == 1e-300
    with pytest.raises(ParameterError, match=r"must be a finite number above 0\. Got 0 instead"):
        check_float("f", "x", 0, least=0, above=True)


def test_an_infinite_number_is_refused_even_without_an_upper_bound():
    with pytest.raises(ParameterError, match="finite"):
        check_float("f", "x", float("inf"), least=0)


def test_a_choice_is_returned_and_a_misspelt_one_gets_the_nearest_name():
    assert check_choice("f", "method", "mondrian", ["mondrian", "optimize"]) == "mondrian"
    with pytest.raises(ParameterError, match=r"one of 'mondrian', 'optimize'\. Got 'mondrain'") as caught:
        check_choice("f", "method", "mondrain", ["mondrian", "optimize"])
    assert caught.value.hint == "did you mean 'mondrian'?"


@pytest.mark.parametrize("value", [None, 3, ["mondrian"], "quite another"])
def test_what_is_no_choice_at_all_gets_no_hint(value):
    with pytest.raises(ParameterError) as caught:
        check_choice("f", "method", value, ["optimize"])
    assert caught.value.hint is None


def test_the_nearest_name_is_offered_only_when_it_is_near():
    assert nearest_hint("diagnosys", iter(["zip", "diagnosis"])) == "did you mean 'diagnosis'?"
    assert nearest_hint("xyz", ["zip code", "diagnosis"]) is None
    assert nearest_hint("anything", []) is None


def test_known_columns_come_back_as_a_tuple():
    assert check_columns("quasi_identifiers", ["zip", "age"], ["age", "zip", "sex"]) == ("zip", "age")
    assert check_columns("sensitive", (name for name in ["sex"]), ["age", "sex"]) == ("sex",)
    assert check_columns("sensitive", [], ["age"]) == ()


def test_one_name_is_not_taken_for_its_letters():
    assert check_columns("sensitive", "sex", ["s", "e", "x", "sex"]) == ("sex",)


def test_an_unknown_column_is_named_with_its_role_and_the_nearest_one():
    with pytest.raises(ColumnError) as caught:
        check_columns("sensitive", ["diagnosys"], ["age", "diagnosis"])
    assert caught.value.message == (
        "The column 'diagnosys' given as sensitive is not in the table. Its columns are: age, diagnosis."
    )
    assert caught.value.hint == "did you mean 'diagnosis'?"


def test_of_a_wide_table_only_the_first_columns_are_listed():
    known = [f"c{i}" for i in range(21)]
    with pytest.raises(ColumnError, match=r"c0, .*, c19, …\."):
        check_columns("keep", ["zzz"], known)


def test_a_column_named_twice_is_refused():
    with pytest.raises(ColumnError, match="The column 'age' is named twice as keep"):
        check_columns("keep", ["age", "sex", "age"], ["age", "sex"])


def read_as_table(path):
    shoal.anonymize(path, k=2, quasi_identifiers=["x"])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="does not apply: this system has no named pipes")
@pytest.mark.parametrize(
    "read",
    [
        read_as_table,
        shoal.Hierarchy.from_csv,
        shoal.Anonymizer.load,
        Generalization.load,
        read_queries,
        lambda path: State(path, ""),
    ],
    ids=lambda read: getattr(read, "__qualname__", str(read)),
)
def test_a_pipe_is_refused_and_never_waited_for(read, tmp_path):
    pipe = tmp_path / "x.csv"
    os.mkfifo(pipe)
    with pytest.raises(FileError, match=r"'x.csv' is a pipe or a device"):
        read(pipe)
