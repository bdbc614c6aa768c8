"""Every control that the page shows, set to every other choice: recipe, page, file and command say the same.

The controls are read from the page itself. Each choice is made on the same base and taken back again.
"""

from __future__ import annotations

import html
import re
import shlex
import shutil
import tomllib

import pytest
from click.testing import CliRunner

import shoal
from shoal.cli.app import app
from shoal.io.files import open_table
from shoal.privacy import REGISTRY
from shoal.recipe import Recipe, read_recipe, recipe_text
from shoal.treatments import TREATMENTS
from tests.web.forms import forms, shown

pytestmark = pytest.mark.compiled

BASE = {
    "k": 5,
    "quasi_identifiers": ["age", "job", "born"],
    "sensitive": ["ill"],
    "identifiers": ["name"],
    "keep": ["cost", "visit"],
    "person": "id",
    "method": "mondrian",
    "effort": "fast",
    "max_suppression": 0.5,
}
NAMES = {"release": "out.csv", "report": "out.html", "recipe": "out.toml"}
STEPS = {
    "columns": (
        "columns/role",
        "columns/kind",
        "columns/treat",
        "columns/token",
        "columns/weight",
        "columns/together",
        "columns/cells",
    ),
    "protect": ("protect/k", "protect/model", "protect/search"),
    "hierarchies?column=age": ("hierarchies/ends", "hierarchies/make"),
    "hierarchies?column=born": ("hierarchies/ends",),
    "hierarchies?column=job": ("hierarchies/make",),
}
PARTS = 8
"""In how many tests the choices of a step are made."""
RANDOM = {"pram", "noise", "rank-swap", "shift-dates", "round-random"} & set(TREATMENTS)
"""Treatments that draw from the system: another run gives other cells of their columns."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("tables")
    jobs = ("nurse", "cook", "clerk")
    rows = [
        f"p{one // 2},name {one},{20 + one // 2 % 40},{jobs[one // 2 % 3]},19{50 + one // 2 % 30}-0{one % 9 + 1}-11,"
        f"{'ab'[one % 2]},{one * 7 % 90}.5,2020-01-{one % 28 + 1:02d}"
        for one in range(120)
    ]
    (home / "people.csv").write_text("\n".join(["id,name,age,job,born,ill,cost,visit", *rows]) + "\n")
    (home / "own.key").write_bytes(b"0" * 32)
    (home / "own.key").chmod(0o600)
    return home


@pytest.fixture
def base(hands, request):
    """Return the page with the base of all choices, and a key for tokens; models that count records have no person."""
    assert hands.open("people.csv") == "done"
    step = request.node.callspec.params.get("step")
    changes = {
        "protect": {"person": None, "identifiers": ["name", "id"]},
        "columns": {"cells": {"age": {"most": 4}}},
    }.get(step, {})
    assert hands.post("history/load", text=recipe_text(Recipe(**BASE | changes))) == "done"
    assert hands.post("columns/key", name="own.key") == "done"
    return hands


def told(text):
    """Return whether a refusal is a sentence with what to do, and no fault of shoal's own."""
    return text[-1] in ".?)" and "an internal error" not in text


def recipe_of(hands):
    return re.findall(r'id="recipe-text"[^>]*><code>(.*?)</code>', hands.show("recipe"), re.DOTALL)[0]


def meaning(text):
    """Return what a recipe says, models and treatments with the parameters that they have by default."""
    content = tomllib.loads(text)
    models = [
        REGISTRY.loaded()[one["model"]](**{key: one[key] for key in one if key != "model"})
        for one in content.pop("models", [])
    ]
    treated = {
        name: TREATMENTS[one["treatment"]](**{key: one[key] for key in one if key != "treatment"})
        for name, one in content.pop("treat", {}).items()
    }
    return content, models, treated


def compare(hands, folder, again):
    """Make and write the release; return what disagrees among page, recipe, file and command, or how it was refused."""
    made = hands.post("protect/make")
    if made != "done":
        return [] if told(made) else [made]
    page = hands.show("publish")
    number = int(re.findall(r'name="number" value="(\d+)"', page)[0])
    written = hands.post("publish", **NAMES, number=number, read=list(range(page.count('name="read"'))), replace=True)
    if written != "done":
        return [written]
    page, recipe = hands.show("publish"), read_recipe(folder / "out.toml")
    released = open_table(folder / "out.csv")
    faults = []
    shows, written = html.unescape(recipe_of(hands)), (folder / "out.toml").read_text("utf-8")
    if meaning(shows.replace("recipe-hierarchies/", "out-hierarchies/")) != meaning(written):
        faults.append(f"the recipe on the page is not the one in the file:\n{shows}\n{written}")
    promised = int(re.findall(r"belongs to at least (\d+) people", re.sub(r"\s+", " ", page))[0])
    reached = shoal.audit(released, quasi_identifiers=recipe.quasi_identifiers).k
    if not recipe.person and not recipe.k <= promised == reached:
        faults.append(f"k = {recipe.k} was asked for, the page says {promised}, the file has {reached}")
    out = set(recipe.identifiers) | {recipe.person, recipe.household} - set(recipe.pseudonymize)
    if out & set(released.names):
        faults.append(f"{out} should be removed, and released are {released.names}")
    return faults + by_command(page, folder, again, recipe)


def by_command(page, folder, again, recipe):
    """Run the printed command in a copy of the folder; return what disagrees."""
    shutil.rmtree(again, ignore_errors=True)
    shutil.copytree(folder, again, ignore=shutil.ignore_patterns("out.csv*", "out.html", "*.datapackage.json"))
    command = html.unescape(re.findall(r'id="command"><code>(.*?)</code>', page, re.DOTALL)[0])
    before = pytest.MonkeyPatch()
    before.chdir(again)
    try:
        came = CliRunner().invoke(app, [*shlex.split(command)[1:], "--force"])
    finally:
        before.undo()
    if came.exit_code:
        return [f"{command} gives {came.output}"]
    drawn = {name for name, one in recipe.treat.items() if one["treatment"] in RANDOM}
    rows = [rows_without(place / "out.csv", drawn) for place in (folder, again)]
    return [] if rows[0] == rows[1] else [f"{command} gives other rows"]


def rows_without(path, drawn):
    table = open_table(path).table
    return sorted(map(str, table.select([name for name in table.column_names if name not in drawn]).to_pylist()))


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("step", STEPS)
def test_each_choice_is_shown_kept_and_released_as_the_command_releases_it(base, folder, tmp_path, step, part):
    faults, known = [], recipe_of(base)
    choices = [
        (form, control, value)
        for form in forms(base.show(step), *STEPS[step])
        for control in form.controls
        for value in control.others
        if value != NAMES["release"]  # written by the tests before
    ]
    for form, control, value in choices[part::PARTS]:
        what = (form.post, form.hidden.get("column") or form.hidden.get("model", ""), control.id, value)
        switched = {"on": "on"} if form.post == "protect/model" else {}  # numbers of a model act once it is on
        came = base.post(form.post, **form.body(control, value) | switched)
        if came != "done":
            faults.append((*what, came))
            continue
        if recipe_of(base) == known:
            faults.append((*what, "acts on nothing"))
            continue
        now = shown(base.show(step), control.id)
        if now not in {None, value} and control.name not in {"k", "how"}:  # buttons are one control together
            faults.append((*what, f"the control then shows {now!r}"))
        faults += [(*what, one) for one in compare(base, folder, tmp_path / "again")]
        assert base.post("history/undo") == "done"
        assert recipe_of(base) == known
    assert faults == [], "\n".join(map(str, faults))


@pytest.mark.parametrize("cells", ["columns", "midpoints"])
def test_cells_are_written_in_the_shape_that_is_chosen_and_the_command_writes_them_so(base, folder, tmp_path, cells):
    assert base.post("protect/make") == "done"
    page = base.show("publish")
    number = int(re.findall(r'name="number" value="(\d+)"', page)[0])
    read = list(range(page.count('name="read"')))
    assert base.post("publish", **NAMES, number=number, read=read, cells=cells, replace=True) == "done"
    names = open_table(folder / "out.csv").names
    assert ("age_low" in names) == (cells == "columns")
    page = base.show("publish")
    assert f"--cells {cells}" in page
    assert re.search(r"counted again from the file out.csv: 120 records in \d+ groups of at least \d+ rows", page)
    assert by_command(page, folder, tmp_path / "again", read_recipe(folder / "out.toml")) == []
