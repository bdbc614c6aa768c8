"""Every cell that shoal writes is read as what it stands for, and written again as it was."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shoal.cells.parse import parse_cell
from shoal.cells.recode import range_text, set_text, value_text
from shoal_reader import ReleaseError
from shoal_reader.cells import Cell, is_marked, parse, write

TEXTS = st.text(max_size=8) | st.sampled_from(
    ["*", "[1-2]", "{a, b}", '"', "a to b", " to ", "é, ü", "-3", "1,5", "", "\n", "00123"]
)
NUMBERS = st.integers(-(10**6), 10**6).map(str) | st.floats(-1e6, 1e6, allow_nan=False).map(lambda one: f"{one:.3f}")


@given(TEXTS)
@example('"quoted"')
def test_a_value_comes_back(value):
    assert parse(value_text(value)) == Cell("value", (value,))


@given(TEXTS, TEXTS)
def test_a_range_comes_back(low, high):
    assert parse(range_text(low, high)) == Cell("range", (low, high))


@given(NUMBERS, NUMBERS)
def test_a_range_of_numbers_comes_back(low, high):
    assert parse(range_text(low, high)) == Cell("range", (low, high))


@given(st.lists(TEXTS, min_size=1, max_size=6))
def test_a_set_comes_back(values):
    assert parse(set_text(values)) == Cell("set", tuple(values))


@given(
    st.one_of(
        TEXTS.map(value_text),
        st.builds(range_text, TEXTS, TEXTS),
        st.lists(TEXTS, min_size=1).map(set_text),
        st.just("*"),
        st.none(),
    )
)
def test_what_was_read_is_written_so_that_it_is_read_alike_by_reader_and_shoal(text):
    again = write(parse(text))
    assert parse(again) == parse(text)
    assert vars_of(parse_cell(again)) == vars_of(parse(text))


def vars_of(cell):
    return cell.form, cell.values


@given(
    st.one_of(TEXTS.map(value_text), st.builds(range_text, NUMBERS, NUMBERS), st.lists(TEXTS, min_size=1).map(set_text))
)
def test_what_shoal_writes_is_written_alike(text):
    assert write(parse(text)) == text


def test_a_decimal_comma_is_read_in_ranges():
    assert parse("[159,5-168,5]") == Cell("range", ("159,5", "168,5"))
    assert write(parse("[159,5-168,5]")) == "[159,5-168,5]"


@pytest.mark.parametrize("text", ["[", "[1-", "{", "{a", '{"a}', '"a', '"1" 2'])
def test_a_damaged_cell_is_refused_without_being_shown(text):
    with pytest.raises(ReleaseError, match="not well formed") as caught:
        parse(text)
    assert (
        text not in str(caught.value).replace("[24-30]", "").replace("[-5 to 3]", "").replace("{a, b}", "")
        or text in '[{"'
    )


@pytest.mark.parametrize(
    ("text", "marked"), [("*", True), ("[1-2]", True), ("{a, b}", True), ("a", False), ('"*"', False)]
)
def test_only_forms_of_coarsened_cells_are_marked(text, marked):
    assert is_marked(text) is marked
