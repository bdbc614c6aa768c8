"""Texts as people write them, and what they mean."""

import datetime as dt

import pyarrow as pa
import pytest

from shoal.errors import ParameterError
from shoal.frames import Frame
from shoal.notation import AS_IS, Notation, make_notation, understand

DAY = dt.date(1992, 4, 30)


def read(texts, **settings):
    return understand(pa.array(texts), make_notation("a test", **settings))


@pytest.mark.parametrize(
    ("texts", "values", "words"),
    [
        (["39", "-4"], [39, -4], "whole numbers"),
        (["4.25", "1e5"], [4.25, 1e5], "numbers"),
        (["1.234,5", "2,0"], [1234.5, 2.0], "numbers with decimal comma and thousands point"),
        (["2,5", "3"], [2.5, 3.0], "numbers with decimal comma"),
        (["1,234,567", "12"], [1234567, 12], "whole numbers with thousands comma"),
        (["1,234.5", "12"], [1234.5, 12.0], "numbers with decimal point and thousands comma"),
        (["1\u202f234", "5\u00a0678"], [1234, 5678], "whole numbers with thousands space"),
        (["1 234,5", "7"], [1234.5, 7.0], "numbers with decimal comma and thousands space"),
        (["1’234.50", "7"], [1234.5, 7.0], "numbers with decimal point and thousands apostrophe"),
        (["\u22125", " 7 "], [-5, 7], "whole numbers"),
    ],
)
def test_numbers_are_read_in_the_notation_all_of_them_share(texts, values, words):
    found = read(texts)
    assert found.values.to_pylist() == values
    assert found.words == words


@pytest.mark.parametrize(
    ("texts", "value", "form"),
    [
        (["1992-04-30", "2024-02-29"], DAY, ""),
        (["30.04.1992", "1.2.1990"], DAY, "%d.%m.%Y"),
        (["30/04/1992", "01/02/1990"], DAY, "%d/%m/%Y"),
        (["04/30/1992", "01/02/1990"], DAY, "%m/%d/%Y"),
        (["30-APR-1992", "01-feb-1990"], DAY, "%d-%b-%Y"),
        (["30APR1992"], DAY, "%d%b%Y"),
        (["30 April 1992", "1 February 1990"], DAY, "%d %B %Y"),
        (["April 30, 1992"], DAY, "%B %d, %Y"),
        (["30.04.1992 13:45"], dt.datetime(1992, 4, 30, 13, 45), "%d.%m.%Y %H:%M"),  # noqa: DTZ001
        (["04/30/1992 01:45 PM"], dt.datetime(1992, 4, 30, 13, 45), "%m/%d/%Y %I:%M %p"),  # noqa: DTZ001
        (["1992-04-30T13:45:00.5"], dt.datetime(1992, 4, 30, 13, 45, 0, 500_000), ""),  # noqa: DTZ001
        (["1992-04-30T15:45:00+02:00"], dt.datetime(1992, 4, 30, 13, 45, tzinfo=dt.UTC), ""),
        (["13:45", "07:01"], dt.time(13, 45), ""),
        (["12:01 AM", "01:45 pm"], dt.time(0, 1), ""),
    ],
)
def test_dates_and_times_are_read_in_the_notation_all_of_them_share(texts, value, form):
    found = read(texts)
    assert found.values[0].as_py() == value
    assert found.form == form


@pytest.mark.parametrize(
    "texts",
    [
        ["00123", "12345"],  # codes with leading zeros
        ["31.02.1992", "30.04.1992"],  # a day that does not exist
        ["2023-02-30"],
        ["13/13/1992"],
        ["25:00"],
        ["13:45 PM"],
        ["12345678901234567890"],  # too long to be exact
        ["1,23,456"],  # no thousands
        ["39", "forty"],
        ["30 Foo 1992"],
        ["NA", "DE", "FR"],  # countries
    ],
)
def test_what_is_not_written_like_one_thing_stays_text(texts):
    found = read(texts)
    assert found.kind == "text"
    assert found.values is None
    assert not found.choices


@pytest.mark.parametrize(
    ("texts", "choices"),
    [
        (["04/05/1992", "01/02/1990"], ("%d/%m/%Y", "%m/%d/%Y")),
        (["04-05-1992"], ("%d-%m-%Y", "%m-%d-%Y")),
        (["30.04.92"], ("%d.%m.%y",)),
        (["1,234", "2,345"], (",", ".")),
    ],
)
def test_what_can_be_read_in_two_ways_is_never_guessed(texts, choices):
    found = read(texts)
    assert found.values is None
    assert found.choices == choices


@pytest.mark.parametrize(
    ("texts", "settings", "value"),
    [
        (["04/05/1992"], {"date_format": "%m/%d/%Y"}, dt.date(1992, 4, 5)),
        (["04/05/1992"], {"date_format": ["%d.%m.%Y", "%d/%m/%Y"]}, dt.date(1992, 5, 4)),
        (["30.04.92"], {"date_format": "%d.%m.%y"}, DAY),
        (["30.04.45"], {"date_format": "%d.%m.%y"}, dt.date(2045, 4, 30)),
        (["19920430"], {"date_format": "%Y%m%d"}, DAY),
        (["1,234"], {"decimal": ","}, 1.234),
        (["1,234"], {"decimal": "."}, 1234),
        (["1,234"], {"thousands": ","}, 1234),
        (["1.234"], {"decimal": ","}, 1234),
        (["1.234"], {"thousands": "."}, 1234),
    ],
)
def test_what_the_user_says_decides(texts, settings, value):
    assert read(texts, **settings).values[0].as_py() == value


def test_the_decimal_mark_of_the_other_columns_decides_where_one_alone_does_not():
    german = Frame(pa.table({"a": ["1,234", "2,345"], "b": ["2,5", "3,75"], "c": ["1.234", "5.678"]}))
    assert german.typed("a").to_pylist() == [1.234, 2.345]
    assert german.typed("c").to_pylist() == [1234, 5678]
    english = Frame(pa.table({"a": ["1,234", "2,345"], "b": ["2.5", "3.75"]}))
    assert english.typed("a").to_pylist() == [1234, 2345]
    both = Frame(pa.table({"a": ["1,234", "2,345"], "b": ["2.5", "3.75"], "c": ["2,5", "3,75"]}))
    assert both.reading("a").choices == (",", ".")


@pytest.mark.parametrize("mark", ["NA", "N/A", "n/a", ".", "-", "?", "", "NaN", "null", "-99", "-999"])
def test_usual_marks_for_a_missing_value_are_found_among_numbers(mark):
    found = read(["39", mark, "41"])
    assert found.values.to_pylist() == [39, None, 41]
    assert found.marks == (mark,)


def test_marks_are_found_among_dates_too():
    assert read(["30.04.1992", "-"]).values.to_pylist() == [DAY, None]


def test_a_negative_number_is_a_code_only_where_no_other_is_negative():
    assert read(["-99", "-5", "3"]).values.to_pylist() == [-99, -5, 3]
    assert read(["-9", "3"]).values.to_pylist() == [-9, 3]


def test_named_marks_are_missing_everywhere_and_no_others_are():
    frame = Frame(pa.table({"land": ["NA", "DE"], "n": ["-99", "5"]}), notation=Notation(missing=("NA",)))
    assert frame.typed("land").to_pylist() == [None, "DE"]
    assert frame.cells("land").to_pylist() == [None, "DE"]
    assert frame.typed("n").to_pylist() == [-99, 5]
    assert read(["5", "NA"], missing=[]).kind == "text"


def test_codes_are_found_in_columns_of_numbers_and_can_be_named():
    numbers = pa.table({"n": [5, -99, 7], "x": [1.5, 9.0, None]})
    frame = Frame(numbers)
    assert frame.typed("n").to_pylist() == [5, None, 7]
    assert frame.cells("n").to_pylist() == [5, -99, 7]
    assert frame.understood(["n", "x"]) == {"n": "-99 as missing"}
    named = Frame(numbers, notation=Notation(missing=("9",)))
    assert named.typed("x").to_pylist() == [1.5, None, None]
    assert named.typed("n").to_pylist() == [5, -99, 7]


def test_text_stays_text_where_nothing_shall_be_understood():
    assert Frame(pa.table({"n": ["1", "2"]}), notation=AS_IS).typed("n").to_pylist() == ["1", "2"]


@pytest.mark.parametrize(
    "settings",
    [
        {"decimal": ";"},
        {"thousands": "x"},
        {"decimal": ",", "thousands": ","},
        {"date_format": "dd.mm.yyyy"},
        {"date_format": "%Q"},
        {"missing": [9]},
    ],
)
def test_wrong_settings_are_refused_in_one_sentence(settings):
    with pytest.raises(ParameterError, match="parameter of a test must"):
        read(["1"], **settings)


@pytest.mark.parametrize(
    ("columns", "options", "said"),
    [
        ({"pay": ["2.394", "981"]}, {}, {"pay": "numbers with an assumed decimal point"}),
        ({"pay": ["2.394", "981", "NA"]}, {}, {"pay": "numbers with an assumed decimal point, 'NA' as missing"}),
        ({"pay": ["2.394", "981"], "size": ["2.5", "3.75"]}, {}, {}),
        ({"pay": ["2.394", "981"]}, {"decimal": "."}, {}),
        ({"pay": ["2.394", "0.981"]}, {}, {}),
    ],
)
def test_a_point_that_could_mark_thousands_is_read_as_a_decimal_point_and_said(columns, options, said):
    longest = max(map(len, columns.values()))
    table = pa.table({name: [*texts, *[None] * (longest - len(texts))] for name, texts in columns.items()})
    frame = Frame(table, untyped=True, notation=Notation(**options))
    assert frame.typed("pay")[0].as_py() == 2.394
    assert frame.understood(["pay"]) == said
