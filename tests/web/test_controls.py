"""Whatever a recipe says is shown on the page: by a control, or by a line that takes it back."""

from __future__ import annotations

import html
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, fields
from importlib.metadata import EntryPoint
from typing import get_args

import pytest

import shoal
from shoal import extensions
from shoal.errors import ParameterError
from shoal.privacy import REGISTRY, PrivacyModel
from shoal.recipe import Recipe, read_recipe, recipe_text
from shoal.treatments import TREATMENTS
from shoal.web.controls import CONTROLS, lines, without
from shoal.web.draft import Draft, Source
from shoal.web.models import model_forms, model_settings
from shoal.web.treating import CHOICES, PERIODS, choice_of, fits, treatment_settings, treatments_for

TYPES = {"age": "whole number", "job": "text", "ill": "text", "cost": "number", "born": "date", "id": "text"}
SAMPLES = {
    "k": 7,
    "quasi_identifiers": ["age", "job"],
    "sensitive": ["ill"],
    "identifiers": ["id"],
    "keep": ["cost"],
    "person": "id",
    "household": "id",
    "together": True,
    "survey_weight": "cost",
    "kinds": {"age": "nominal"},
    "hierarchies": {"job": "flat"},
    "decimal": ",",
    "thousands": ".",
    "date_format": "%d.%m.%Y",
    "missing": ["-9"],
    "weights": {"age": 3.0, "job": {"nurse": 2.0}},
    "models": [{"model": "l-diversity", "l": 3}, {"model": "l-diversity", "l": 2, "kind": "entropy"}],
    "method": "mondrian",
    "method_options": {"strict": True},
    "effort": 20,
    "max_suppression": 0.05,
    "release": "representatives",
    "widen": 0.1,
    "ends": {"age": 5},
    "counts": "columns",
    "cells": {"age": {"most": 3}},
    "treat": {"cost": {"treatment": "top-code", "value": 3000.0}, "ill": {"treatment": "pram", "keep": 0.5}},
    "pseudonymize": ["id"],
    "seed": 5,
    "engine": "memory",
    "memory": "2GB",
}
SHOWN = {
    "k": r'id="k-other"[^>]*value="7"',
    "quasi_identifiers": r'chip quasi-identifier"[^>]*aria-label="age',
    "sensitive": r'chip sensitive"[^>]*aria-label="ill',
    "identifiers": r'chip identifier"[^>]*aria-label="id',
    "keep": r'chip kept"[^>]*aria-label="cost',
    "person": r'chip person"[^>]*aria-label="id',
    "household": r'chip household"[^>]*aria-label="id',
    "together": r'id="together-rows"[^>]*checked',
    "survey_weight": r'chip survey-weight"[^>]*aria-label="cost',
    "kinds": r'aria-label="age: read as">.*?value="nominal" selected',
    "hierarchies": r"the value or \*",
    "weights": r'id="weight-1"[^>]*value="3"',
    "models": r'id="value-l-diversity"[^>]*value="3"',
    "method": r'<option value="mondrian" selected',
    "effort": r'<option value="20" selected>20 seconds',
    "max_suppression": r'id="withhold"[^>]*value="5"',
    "release": r'<option value="representatives" selected',
    "widen": r'id="widen"[^>]*value="10"',
    "seed": r'id="seed"[^>]*value="5"',
    "ends": r'<option value="by column" selected',
    "cells": r'aria-label="age: its cells".*?value="disjoint" selected.*?at most <input[^>]*value="3"',
    "treat": r"cut off above a value</option>|value=\"top-code:value\" selected",
    "pseudonymize": r'chip pseudonym"[^>]*aria-label="id',
}
IN_LINES = {"weights": "weights of job", "models": '"kind": "entropy"'}


def generic(name):
    """Return a value that is not the default for a key that has no sample."""
    field = Recipe.model_fields[name]
    choices = [one for one in get_args(field.annotation) if one not in (field.default, type(None))]
    return choices[0] if choices and isinstance(choices[0], str) else pytest.fail(f"SAMPLES lacks a value of {name!r}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("tables")
    jobs = ("nurse", "cook", "clerk")
    rows = [
        f"{20 + one % 40},{jobs[one % 3]},{'ab'[one * one // 7 % 2]},{one * 7 % 90}.5,2020-01-{one % 28 + 1:02d},p{one}"
        for one in range(80)
    ]
    (home / "people.csv").write_text("\n".join(["age,job,ill,cost,born,id", *rows]) + "\n")
    return home


@pytest.mark.compiled
@pytest.mark.parametrize("name", [one for one in Recipe.model_fields if one != "version"])
def test_each_key_of_a_recipe_is_shown_and_none_acts_unseen(hands, name):
    value = SAMPLES[name] if name in SAMPLES else generic(name)
    content = {"k": 5, "quasi_identifiers": ["age", "job"], name: value}
    if name == "treat":
        content |= {"keep": ["cost"], "sensitive": ["ill"]}
    content |= {"sensitive": ["ill"]} if name == "models" else {}
    content |= {"person": "id"} if name == "together" else {}
    content |= {"method": "mondrian"} if name == "method_options" else {}
    assert hands.open("people.csv") == "done"
    assert hands.post("history/load", text=recipe_text(Recipe(**content))) == "done"
    shown = hands.show("columns") + hands.show("protect")
    told = re.sub("&#34;", '"', "".join(re.findall(r'id="lines".*?</ul>', shown, re.DOTALL)))
    if name in SHOWN:
        assert re.search(SHOWN[name], shown, re.DOTALL)
    else:
        assert f"{name} = " in told
    assert IN_LINES.get(name, "") in told
    for number in range(told.count("<code")):
        part = re.findall(r'name="part" value="([^"]*)"', told)[number]
        key = re.findall(r'name="key" value="([^"]*)"', told)[number]
        if number == 0:
            assert hands.post("protect/without", key=key, part=part) == "done"
    if told:
        assert 'id="lines"' not in hands.show("protect") or told.count("<code") > 1


def test_every_control_is_of_a_key_of_a_recipe():
    assert set(CONTROLS) <= set(Recipe.model_fields)


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('k = 5\nquasi_identifiers = ["age"]\n[[models]]\nmodel = "no-such"\n', "no-such"),
        ('k = 5\nquasi_identifiers = ["age"]\nmethod = "no-such"\n', "no-such"),
        ('k = 5\nquasi_identifiers = ["age"]\nkeep = ["cost"]\n[treat.cost]\ntreatment = "no-such"\n', "no-such"),
    ],
)
def test_a_recipe_that_names_something_unknown_is_refused_in_a_sentence(hands, text, words):
    assert hands.open("people.csv") == "done"
    before = hands.edition()
    assert words in hands.post("history/load", text=text)
    assert hands.edition() == before


@pytest.mark.compiled
def test_changing_one_control_leaves_the_others_as_they_are(hands):
    assert hands.open("people.csv") == "done"
    content = {
        "k": 5,
        "quasi_identifiers": ["age"],
        "effort": 20,
        "widen": 0.1,
        "method": "mondrian",
        "method_options": {"strict": True},
    }
    assert hands.post("history/load", text=recipe_text(Recipe(**content))) == "done"
    assert hands.post("protect/search", max_suppression=5) == "done"
    recipe = hands.show("recipe")
    assert "effort = 20" in recipe
    assert "widen = 0.1" in recipe
    assert "strict = true" in recipe
    assert hands.post("protect/search", method="mondrian") == "done"
    assert "strict = true" in hands.show("recipe")
    assert hands.post("protect/search", method="optimize") == "done"
    assert "strict" not in hands.show("recipe")


@dataclass(frozen=True)
class AtMost(PrivacyModel):
    """No group is larger than ``most``."""

    most: int
    share: float = 0.5

    def bind(self, table):
        raise NotImplementedError

    def describe(self):
        return ""


def test_every_registered_model_is_offered_also_of_another_package(monkeypatch):
    point = EntryPoint("at-most", f"{__name__}:AtMost", "shoal.models")
    monkeypatch.setattr(extensions, "entry_points", lambda group: [point] if group == "shoal.models" else [])
    forms = {one.name: one for one in model_forms()}
    assert set(forms) == set(REGISTRY.loaded()) >= {"at-most", "k-anonymity", "l-diversity", "k-map"}
    assert (forms["at-most"].before, [one.name for one in forms["at-most"].numbers]) == (
        "No group is larger than most.",
        ["most", "share"],
    )
    assert model_settings("at-most", {"most": "9"}, None, "") == {"model": "at-most", "most": 9, "share": 0.5}
    with pytest.raises(ParameterError):
        model_settings("nobody-has-it", {}, None, "")


def test_what_a_form_does_not_show_of_a_model_stays_when_its_number_changes():
    before = {"model": "l-diversity", "l": 2, "kind": "entropy"}
    assert model_settings("l-diversity", {"l": "4"}, before, "") == {"model": "l-diversity", "l": 4, "kind": "entropy"}


def test_every_treatment_is_offered_and_shown_as_what_it_is():
    assert {one.treatment for one in CHOICES} == set(TREATMENTS)
    for choice in CHOICES:
        kind = (choice.types or ("text",))[0]
        settings = treatment_settings(choice.name, "", kind)
        assert choice_of(settings, kind) == choice
    assert choice_of({"treatment": "top-code", "value": 3000.0}, "number").parameter == "value"
    assert choice_of({"treatment": "round", "to": 5, "random": True}, "number") is None
    assert choice_of({"treatment": "round", "to": "month"}, "date").periods
    assert {one.name for one in fields(TREATMENTS["round"])} >= {"to"}
    assert PERIODS


def test_lines_take_back_what_they_show():
    draft = Draft(Source("demo", "demo")).change(
        quasi_identifiers=["age", "job"],
        weights={"job": {"nurse": 2.0}},
        engine="memory",
        models=SAMPLES["models"],
        sensitive=["ill"],
    )
    for line in reversed(lines(draft, TYPES)):
        draft = without(draft, line.key, line.part)
    assert lines(draft, TYPES) == []
    assert draft.get("models") == [{"model": "l-diversity", "l": 3}]


def test_ends_and_treatments_go_when_a_column_gets_a_type_that_cannot_have_them():
    draft = Draft().change(
        quasi_identifiers=["born"],
        keep=["cost"],
        ends={"born": "month"},
        treat={"cost": {"treatment": "round", "to": 5}},
    )
    assert draft.with_types({"born": "date", "cost": "number"}) == draft
    assert draft.with_types({"born": "number", "cost": "number"}).get("ends") == "round"
    assert draft.with_types({"born": "date", "cost": "text"}).get("treat") == {}
    assert draft.change(kinds={"born": "nominal"}).with_types({"born": "date"}).get("ends") == "round"
    assert fits({"treatment": "pram"}, "text")
    assert [one.treatment for one in treatments_for("text")] == ["drop", "pram"]


@pytest.mark.parametrize("first", ["person", "treatment"])
def test_dates_are_shifted_by_person_whichever_was_named_first(first):
    draft, shift = Draft().change(quasi_identifiers=["age"], keep=["born"]), {"treatment": "shift-dates", "days": 30}
    names = ["age", "born", "id"]
    if first == "person":
        draft = draft.with_role("id", "person", names).with_choice("treat", "born", shift)
    else:
        draft = draft.with_choice("treat", "born", shift).with_role("id", "person", names)
    assert draft.recipe().treat == {"born": shift | {"person": "id"}}
    assert draft.with_role("id", "identifier", names).recipe().treat == {"born": shift}


def test_a_saved_recipe_names_a_list_of_people_relative_to_itself(tmp_path):
    (tmp_path / "town.csv").write_text("age\n1\n2\n")
    model = shoal.KMap(2, population=str(tmp_path / "town.csv"))
    saved = shoal.Anonymizer(k=2, quasi_identifiers=["age"], models=[model]).save(tmp_path / "deep-recipe.toml")
    assert 'population = "town.csv"' in saved.read_text()
    assert shoal.Anonymizer.load(saved).recipe().models[0]["population"] == str(tmp_path / "town.csv")


NAMES = {"release": "out.csv", "report": "out.html", "recipe": "out.toml"}


@pytest.mark.compiled
@pytest.mark.parametrize("method", [one.name for one in shoal.methods()])
def test_the_printed_command_gives_the_rows_that_the_page_wrote_with_every_method(hands, folder, tmp_path, method):
    needs = {one.name for one in shoal.methods() if one.needs_hierarchies}
    content = {
        "k": 5,
        "quasi_identifiers": ["age", "job"],
        "keep": ["ill"],
        "identifiers": ["id", "cost", "born"],
        "max_suppression": 0.5,
    }
    assert hands.open("people.csv") == "done"
    assert hands.post("history/load", text=recipe_text(Recipe(**content))) == "done"
    assert hands.post("protect/search", method=method) == "done"
    assert hands.post("protect/search", effort="fast") == "done"
    if method in needs:
        assert hands.post("hierarchies/suggest") == "done"
    assert hands.post("protect/make") == "done"
    page = hands.show("publish")
    read = list(range(page.count('name="read"')))
    number = int(re.findall(r'name="number" value="(\d+)"', page)[0])
    assert hands.post("publish", **NAMES, number=number, read=read, replace=True) == "done"
    recipe = read_recipe(folder / "out.toml")
    assert (recipe.method, recipe.effort, recipe.keep) == (method, "fast", ["ill"])
    command = html.unescape(re.findall(r'id="command"><code>(.*?)</code>', hands.show("publish"), re.DOTALL)[0])
    here = tmp_path / "again"
    shutil.copytree(folder, here, ignore=shutil.ignore_patterns("out.csv", "out.html"))
    words = [sys.executable, "-m", "shoal", *shlex.split(command)[1:], "--force"]
    told = subprocess.run(words, cwd=here, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    assert rows_of(here / "out.csv") == rows_of(folder / "out.csv")


def rows_of(path):
    return sorted(path.read_text("utf-8").splitlines())
