"""Small things people look at: years, few whole numbers, columns that lost nothing, labels near an axis."""

from __future__ import annotations

import itertools
from datetime import date
from types import SimpleNamespace

import pytest

import shoal
from shoal.report.frontier import frontier_plot
from shoal.report.plots import _number_axis, group_sizes
from shoal.report.words import SIZE_HEADINGS, number, released_form, size_note, size_rows, spread_headings


def spread(*ends):
    return SimpleNamespace(bins=[SimpleNamespace(low=low, high=high) for low, high in itertools.pairwise(ends)])


@pytest.mark.parametrize(
    ("ends", "axis"),
    [
        ((1980, 1990, 2000), {"format": "d"}),
        ((0, 1, 2), {"values": [0.5, 1.5], "labelExpr": "format(datum.value - 0.5, 'd')", "ticks": False}),
        ((0, 10, 20), {}),
        ((0.5, 1.5, 2.5), {}),
        ((1000, 1500, 2000), {}),
    ],
)
def test_an_axis_suits_its_numbers(ends, axis):
    assert _number_axis(spread(*ends)) == axis


def test_a_column_that_lost_nothing_is_not_said_to_be_coarser():
    table = {"age": [30, 30, 40, 40], "job": ["a", "a", "b", "b"]}
    result = shoal.anonymize(table, k=2, quasi_identifiers=["age", "job"], method="mondrian")
    columns = result.report().summary.columns
    assert {released_form(column) for column in columns} == {"as its own values, nothing lost"}
    assert "[30-39]" not in result.report().markdown


def test_the_example_of_a_coarsened_column_is_one_of_its_released_cells():
    born = [date(1950 + year, 1, 1) for year in range(8)]
    table = {"age": [*range(30, 38)], "born": born, "job": [*"aabbccdd"]}
    result = shoal.anonymize(table, k=4, quasi_identifiers=["age", "born", "job"], method="mondrian")
    for column, form in zip(result.report().summary.columns, ("ranges", "ranges", "sets"), strict=True):
        assert column.example in result.released.column(column.name).to_pylist()
        assert released_form(column) == f"as {form} such as {column.example}"


def test_where_people_are_counted_the_report_does_not_say_that_records_are():
    table = {"who": [1, 1, 2, 2, 3, 4], "age": [30, 31, 30, 31, 40, 40]}
    told = []
    for roles in ({"identifiers": ["who"]}, {"person": "who"}):
        result = shoal.anonymize(table, k=2, quasi_identifiers=["age"], method="mondrian", **roles)
        told.append("k counts records, not people." in result.report().markdown)
    assert told == [True, False]


def test_the_label_of_a_point_near_the_axis_stands_above_it():
    points = [
        {"series": "m", "sampled": False, "k": k, "loss": loss, "frontier": True, "recommended": False, "drawn": True}
        for k, loss in ((2, 0.01), (50, 0.4))
    ]
    rows = frontier_plot({"points": points})["data"]["values"]
    assert [row["low"] for row in rows] == [True, False]


@pytest.mark.parametrize(("width", "side"), [(640, "right"), (300, "left")])
def test_the_advice_is_not_cut_off_at_the_left_edge(width, side):
    points = [
        {"series": "m", "sampled": False, "k": k, "loss": 0.1, "frontier": True, "recommended": k == 20, "drawn": True}
        for k in (2, 20, 50)
    ]
    advice = frontier_plot({"points": points}, width)["layer"][-1]["mark"]
    assert advice["align"] == side  # the end of the text that stands at the point


def test_the_advice_is_short_where_the_picture_is_narrow():
    point = {"series": "m", "sampled": False, "k": 5, "loss": 0.1, "frontier": True, "recommended": True, "drawn": True}
    told = [frontier_plot({"points": [point]}, width)["data"]["values"][0]["advice"] for width in (640, 300)]
    assert told == ["recommended: k = 5", "★ k = 5"]


def test_values_are_counted_in_records_where_a_person_has_several_and_groups_in_people():
    table = {"who": [1, 1, 1, 2, 2, 3, 4], "age": [30, 30, 31, 30, 31, 40, 40]}
    told = []
    for roles in ({"identifiers": ["who"]}, {"person": "who"}):
        summary = shoal.anonymize(table, k=2, quasi_identifiers=["age"], method="mondrian", **roles).report().summary
        sizes = group_sizes(summary)["layer"][0]["encoding"]["y"]["axis"]["title"]
        assert (sizes, SIZE_HEADINGS) == ("people", ("size", "people, original", "people, released"))
        told.append((size_rows(summary)[-1], "once in each" in size_note(summary), spread_headings(summary)[1]))
    assert told == [
        (("3", "3", "3"), False, "people, original"),
        (("2", "6", "6"), True, "records, original"),
    ]


@pytest.mark.parametrize(("value", "told"), [(0.25861, "0.25861"), (30560, "30,560"), (12345678.9, "12,345,679")])
def test_no_number_of_a_report_has_an_exponent(value, told):
    assert number(value) == told


def test_small_losses_are_told_apart_on_the_axis_and_the_advice_stays_above_it():
    points = [
        {"series": "m", "sampled": False, "k": k, "loss": loss, "frontier": True, "recommended": k == 5, "drawn": True}
        for k, loss in ((2, 0.0), (5, 0.001), (50, 0.016))
    ]
    ring, advice = frontier_plot({"points": points})["layer"][-2:]
    assert ring["encoding"]["y"]["axis"]["format"] == ".1%"
    assert (advice["mark"]["align"], advice["mark"]["dy"] < 0) == ("right", True)
