"""What objects show in a notebook, and as plain text."""

from __future__ import annotations

import pickle
import re
import sys

import pytest

import shoal
from shoal.errors import MissingExtraError
from shoal.notebook import card, facts, safely
from shoal.request import Bar, bars

TABLE = {"age": [30, 31, 40, 41, 50, 51], "job": ["<b>a</b>", "b"] * 3}


@pytest.fixture(scope="module")
def result():
    return shoal.anonymize(TABLE, k=2, quasi_identifiers=["age"], sensitive=["job"], method="mondrian")


@pytest.fixture(scope="module")
def shown(result):
    fitted = shoal.Anonymizer(k=2, quasi_identifiers=["age"], sensitive=["job"], method="mondrian").fit(TABLE)
    return {
        "result": result,
        "audit": result.audit,
        "recipe": shoal.Anonymizer(k=2, quasi_identifiers=["age"]),
        "fitted": fitted,
        "hierarchy": shoal.Hierarchy.from_dict({"*": ["<i>", "b"]}),
        "comparison": shoal.compare(TABLE, methods="mondrian", k=[2, 3], quasi_identifiers=["age"]),
        "report": result.report(),
    }


KINDS = ["result", "audit", "recipe", "fitted", "hierarchy", "comparison", "report"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_fetches_nothing_runs_nothing_and_escapes_cells(shown, kind):
    html = shown[kind]._repr_html_()
    assert html
    assert not re.search(r"<script|src=[\"']?http|url\(|@import", html)
    assert "<b>a</b>" not in html
    assert "<i>" not in html


@pytest.mark.parametrize("kind", KINDS)
def test_the_plain_text_is_one_useful_line(shown, kind):
    text = repr(shown[kind])
    assert "\n" not in text
    assert "object at 0x" not in text
    assert re.search(r"\d", text)


@pytest.mark.parametrize("kind", KINDS)
def test_without_the_extras_there_is_a_picture_all_the_same(shown, kind, monkeypatch):
    vars(shown["report"]).pop("html", None)
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert shown[kind]._repr_html_().startswith("<div")
    with pytest.raises(MissingExtraError):
        shown["report"].html  # noqa: B018


def test_a_recipe_says_what_differs_from_its_defaults():
    recipe = shoal.Anonymizer(k=7, quasi_identifiers=["age"], method="mondrian")
    assert repr(recipe) == "Anonymizer(k=7, quasi_identifiers=['age'], method=mondrian)"
    assert "7" in recipe._repr_html_()
    assert "effort" not in recipe._repr_html_()


def test_a_result_from_a_pickle_still_shows_itself(result):
    assert "k" in pickle.loads(pickle.dumps(result))._repr_html_()  # noqa: S301 - our own


def test_a_picture_that_cannot_be_made_becomes_the_plain_text():
    class Broken:
        @safely
        def _repr_html_(self):
            raise RuntimeError

        def __repr__(self):
            return "<plain>"

    assert "&lt;plain&gt;" in Broken()._repr_html_()
    assert card("a<b", facts({"c": "<d>"})).count("&lt;") == 2


def test_a_bar_draws_nothing_in_a_pipeline(capsys):
    shoal.anonymize(TABLE, k=2, quasi_identifiers=["age"], sensitive=["job"], method="mondrian", progress=True)
    assert capsys.readouterr() == ("", "")


def test_a_bar_is_drawn_in_a_terminal_and_taken_away(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    bar = Bar()
    bar(0.5, "finding groups")
    assert bar._live.tasks[0].completed == 0.5
    bar.close()
    assert bar._live is None


def test_a_bar_in_a_notebook_is_one_display_that_changes(monkeypatch):
    told = []

    class Handle:
        def update(self, content, *, raw):
            told.append(content["text/html"])

    monkeypatch.setattr(bars, "in_notebook", lambda: True)
    monkeypatch.setattr("IPython.display.display", lambda *_args, **_more: Handle())
    bar = Bar()
    bar(0.25, "a < b")
    bar.close()
    assert 'value="0.250"' in told[0]
    assert "a &lt; b" in told[0]
    assert told[-1] == ""


def test_a_bar_is_taken_away_when_the_work_fails(monkeypatch):
    closed = []
    monkeypatch.setattr(Bar, "close", lambda self: closed.append(self))  # noqa: PLW0108 - a function becomes a method
    with pytest.raises(shoal.errors.ColumnError):
        shoal.anonymize(TABLE, k=2, quasi_identifiers=["agee"], progress=True)
    assert len(closed) == 1
