from __future__ import annotations

import re

import pytest

from shoal.api import first_run
from shoal.cli import console
from shoal.cli.options import plain_value, split_call, split_names
from shoal.compiling.folders import open_store


@pytest.mark.parametrize(
    ("part", "whole", "expected"),
    [
        (0, 10, "0 %"),
        (10, 10, "100 %"),
        (1, 3, "33.3 %"),
        (1, 10_000, "<0.1 %"),
        (9_999, 10_000, ">99.9 %"),
        (1, 0, "-"),
    ],
)
def test_a_share_never_rounds_something_to_nothing_or_nearly_all_to_all(part, whole, expected):
    assert console.share(part, whole) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "The 'k' parameter of Anonymizer must be an int of at least 2.",
            "The option -k must be an int of at least 2.",
        ),
        ("The 'max_suppression' parameter of Anonymizer is", "The option --max-suppression is"),
        ("The \"weights['age']\" parameter of Anonymizer must", "The option --weight of 'age' must"),
        ("The 'kinds' parameter names 'a'", "The option --kind names 'a'"),
        ("exists. use force to replace it.", "exists. add --force to replace it."),
        ("hierarchies={'sex': \"flat\"} releases a value or *", "--hierarchy sex=flat releases a value or *"),
        ("give its path, or take engine='memory'.", "give its path, or take --engine memory."),
        ('say which with table="patients".', "say which with --table patients."),
        ("use rest='join', or allow max_suppression=0.012.", "use rest='join', or allow --max-suppression 0.012."),
        ("--others drop or --others keep (others='drop', 'keep'), or", "--others drop or --others keep, or"),
    ],
)
def test_messages_of_the_library_name_options_instead_of_parameters(text, expected):
    assert console.in_options(text) == expected


def test_a_bar_is_drawn_only_on_a_terminal(capsys):
    with console.progress_bar("work") as report:
        report(0.5, "cutting")
    assert capsys.readouterr() == ("", "")


def test_a_bar_is_drawn_on_a_terminal_and_goes_to_standard_error(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    with console.progress_bar("work") as report:
        report(0.5, "cutting")
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "cutting" in shown.err


def test_a_warning_during_the_work_stands_on_a_line_of_its_own(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    with console.progress_bar("work"):
        console.tell_warning("Columns are left out.")
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err)
    assert "Warning: Columns are left out." in re.split(r"[\r\n]+", shown)
    assert console.err() is not console.err()


def test_the_first_run_says_that_it_compiles(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(first_run, "own_store", lambda: open_store(tmp_path))
    with console.progress_bar("work"):
        pass
    assert "The first run compiles" in capsys.readouterr().err
    (tmp_path / "some.kernel").touch()
    with console.progress_bar("work"):
        pass
    assert "The first run compiles" not in capsys.readouterr().err


def test_the_words_after_an_interrupt_say_how_far_it_was():
    console.begin()
    with console.progress_bar("work") as report:
        assert console.progress_so_far() == "at the start; nothing was written"
        report(0.25, "cutting")
        assert console.progress_so_far() == "while cutting (25% done); nothing was written"
        console.note_written("release.csv")
        assert console.progress_so_far() == "while cutting (25% done); already written: release.csv"


def test_names_are_split_at_commas_outside_quotes():
    assert split_names(["a, b", '"c,d",e', ""]) == ("a", "b", "c,d", "e")


def test_a_name_with_parameters_is_read():
    assert split_call("l-diversity:l=3,column=diagnosis, max-share=0.5,strict=true") == (
        "l-diversity",
        {"l": 3, "column": "diagnosis", "max_share": 0.5, "strict": True},
    )
    assert split_call("mondrian") == ("mondrian", {})


@pytest.mark.parametrize(("text", "value"), [("3", 3), ("0.5", 0.5), ("False", False), ("x", "x"), ("1e2", 100.0)])
def test_plain_values_are_numbers_truth_values_or_text(text, value):
    assert plain_value(text) == value
    assert type(plain_value(text)) is type(value)


def test_values_that_look_like_markup_are_printed_as_they_are(capsys):
    table = console.make_table("[red]column[/red]")
    table.add_row("[24-30]")
    table.add_row("[bold]:smile:[/bold]")
    console.out().print(table)
    shown = capsys.readouterr().out
    for text in ("[red]column[/red]", "[24-30]", "[bold]:smile:[/bold]"):
        assert text in shown
