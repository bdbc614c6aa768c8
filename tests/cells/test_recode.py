from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.cells.parse import Cell, parse_cell, parse_column
from shoal.cells.recode import (
    range_text,
    released_cover,
    render,
    set_text,
    value_text,
)
from shoal.encoding import encode
from shoal.errors import DataError
from shoal.frames import Frame
from shoal.hierarchy import Hierarchy
from shoal.methods.base import Grouping
from shoal.metrics import Outcome
from shoal.metrics.loss import loss_metrics

FIGURE_1 = pa.table({"age": [24, 25, 30, 30, 32, 32], "zip": [53712, 53711, 53711, 53711, 53712, 53713]})


def rendered(columns, labels, **parameters):
    table = encode(Frame(pa.table(columns)), list(columns), **parameters)
    grouping = Grouping(np.array(labels, np.int32))
    released = render(table, grouping.labels, released_cover(table, grouping))
    return {name: column.to_pylist() for name, column in released.items()}


def test_figure_1_of_xu_renders_as_printed():
    columns = {name: FIGURE_1.column(name) for name in FIGURE_1.column_names}
    first = rendered(columns, [0, 0, 0, 1, 1, 1])
    assert first["age"] == ["[24-30]"] * 3 + ["[30-32]"] * 3
    assert first["zip"] == ["[53711-53712]"] * 3 + ["[53711-53713]"] * 3
    second = rendered(columns, [0, 1, 1, 1, 0, 0])
    assert second["age"] == ["[24-32]", "[25-30]", "[25-30]", "[25-30]", "[24-32]", "[24-32]"]
    assert second["zip"] == ["[53712-53713]", "53711", "53711", "53711", "[53712-53713]", "[53712-53713]"]


@pytest.mark.parametrize(("labels", "total"), [([0, 0, 0, 1, 1, 1], 7.5), ([0, 1, 1, 1, 0, 0], 6.375)])
def test_figure_1_of_xu_costs_what_the_definition_gives(labels, total):
    table = encode(Frame(FIGURE_1), ["age", "zip"])
    grouping = Grouping(np.array(labels, np.int32))
    outcome = Outcome(table, grouping.labels, released_cover(table, grouping), 3)
    assert loss_metrics(outcome)["ncp_total"] == pytest.approx(total)


def test_every_kind_of_column_has_its_form():
    tree = Hierarchy.from_dict({"*": {"care": ["nurse", "medic"], "craft": ["smith"]}})
    released = rendered(
        {
            "job": ["nurse", "medic", "smith", "nurse", "smith", "smith"],
            "town": ["Ulm", "Bonn", "Ulm", "Ulm", "Kiel", "Kiel"],
            "born": [dt.date(2001, 2, 3), dt.date(2004, 5, 6), *[dt.date(2000, 1, 1)] * 4],
            "debt": [-5, 3, 1, 1, -2, -2],
            "size": [1.5, 2.25, 3.0, 3.0, 4.0, 4.0],
        },
        [0, 0, 1, 1, 2, 2],
        hierarchies={"job": tree},
    )
    assert [released[name][0] for name in released] == [
        "care",
        "{Bonn, Ulm}",
        "[2001-02-03 to 2004-05-06]",
        "[-5 to 3]",
        "[1.5-2.25]",
    ]
    assert [released[name][2] for name in released] == ["*", "Ulm", "2000-01-01", "1", "3"]
    assert [released[name][4] for name in released] == ["smith", "Kiel", "2000-01-01", "-2", "4"]


def test_missing_values_stay_missing_alone_and_are_hidden_in_company():
    released = rendered({"age": [None, None, 5, None], "job": [None, None, "a", None]}, [0, 0, 1, 1])
    assert released == {"age": [None, None, "*", "*"], "job": [None, None, "*", "*"]}


def test_suppressed_records_are_left_out():
    assert rendered({"age": [1, 2, 3]}, [0, -1, 0]) == {"age": ["[1-3]", "[1-3]"]}


texts = (
    st.text(max_size=6)
    | st.text('[](),1a -{}"*', max_size=8)
    | st.sampled_from(["[1, 2)", "[1, 2]", "*", "", "[1-2]", "{a}", "a, b", '"', " x", "a to b", "]", "1-2", "\n"])
)


@given(texts)
def test_a_released_value_is_read_back(text):
    assert parse_cell(value_text(text)) == Cell("value", (text,))


@given(texts, texts)
def test_a_released_range_is_read_back(low, high):
    assert parse_cell(range_text(low, high)) == Cell("range", (low, high))


@given(st.lists(texts, min_size=1, max_size=5, unique=True))
def test_a_released_set_is_read_back(members):
    assert parse_cell(set_text(members)) == Cell("set", tuple(members))


@pytest.mark.parametrize("label", ["[20, 30[", "[20, 30)", "]20, 30]", "(20, 30]", "[20, 30]", "[-5, 3)", "[a to b["])
def test_an_interval_of_another_tool_is_released_as_it_is_and_read_back_as_a_label(label):
    assert value_text(label) == label
    assert parse_cell(label) == Cell("value", (label,))


@pytest.mark.parametrize("label", ["[20-30]", "[1,5-2,5]", "[a to b]", "[1, 2 to 3]", "[20", "[]"])
def test_a_label_that_could_be_a_range_of_our_own_is_quoted(label):
    assert value_text(label) == f'"{label}"'
    assert parse_cell(value_text(label)) == Cell("value", (label,))


def test_any_and_missing_are_read_back():
    assert parse_cell("*") == Cell("any")
    assert parse_cell(None) == Cell("missing")
    assert parse_cell('"*"') == Cell("value", ("*",))


@pytest.mark.parametrize("text", ["[71-72", "{x, y", '"open', "[]", "{x,, y}", "[1-2-3]", "{}", '"a" b'])
def test_broken_forms_are_refused_without_being_shown(text):
    with pytest.raises(DataError) as fault:
        parse_cell(text)
    assert text not in str(fault.value)


def test_a_column_is_read_by_its_distinct_forms():
    forms, cells = parse_column(pa.array(["[1-2]", None, "[1-2]", "*"]))
    assert [cells[form].form for form in forms] == ["range", "missing", "range", "any"]
    assert len(cells) == 3


def test_a_space_at_an_end_needs_quotes_only_among_other_values():
    assert [value_text(text) for text in ("M ", " M", "  ")] == ["M ", " M", '"  "']
    assert set_text(["F", "M "]) == '{F, "M "}'
    assert parse_cell("M ") == Cell("value", ("M ",))
