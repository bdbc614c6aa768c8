"""People with several rows, what is kept and how, tokens and ends of ranges; and the same again without the page."""

from __future__ import annotations

import os
import random
import re
import shlex
import shutil
import stat
import subprocess
import sys
from datetime import date, timedelta

import pytest

import shoal
from shoal.io.files import open_table
from shoal.recipe import read_recipe
from tests.web.conftest import Watched, serving

pytestmark = pytest.mark.compiled

KNOWN = ["born", "sex", "job"]


def write_visits(path):
    """Write a table of visits as Europe writes them: people come several times, costs have a decimal comma."""
    draw = random.Random(5)
    lines = ["patient_id;born;sex;job;home;stands_for;illness;cost;visit"]
    for number in range(120):
        born = date(1950, 1, 1) + timedelta(draw.randrange(9000))
        sex, job = draw.choice("FM"), draw.choice(["nurse", "cook", "clerk"])
        for _ in range(draw.choice([1, 2, 3])):
            visit = date(2025, 1, 1) + timedelta(draw.randrange(300))
            cost = f"{draw.randrange(1000, 99999)},{draw.randrange(100):02d}"
            cells = [f"P{number:04d}", f"{born:%d.%m.%Y}", sex, job, f"h{number // 2}", draw.choice(["1,5", "2,5"])]
            lines.append(";".join([*cells, draw.choice(["flu", "asthma", "-9"]), cost, f"{visit:%d.%m.%Y}"]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("tables")
    write_visits(home / "visits.csv")
    return home


def open_visits(tabs):
    page = tabs.open()
    page.goto(tabs.home + "/open")
    page.click('.files button:has-text("visits.csv")')
    page.wait_for_selector("#together strong")
    return page


def row_of(page, column):
    """Return the number of a column's row in the step Columns."""
    names = page.evaluate("[...document.querySelectorAll('tr[data-column]')].map(row => row.dataset.column)")
    return names.index(column) + 1


def give_role(page, column, role):
    number = row_of(page, column)
    page.select_option(f"#role-{number}", role)
    page.wait_for_selector(f"#role-{number}.{role.replace(' ', '-')}")
    return number


def make_by_mondrian(page):
    page.click("#to-protect")
    page.select_option("#method", "mondrian")
    page.click("#make")
    page.wait_for_selector("#pairs tbody tr")


def publish(page):
    page.click("#to-publish")
    page.wait_for_selector("#publish")
    for box in page.locator("input[name=read]").all():
        box.check()
    page.click("#publish")
    page.wait_for_selector("#published")


def test_people_who_come_several_times_are_found_and_counted(tabs):
    page = open_visits(tabs)
    number = row_of(page, "patient_id")
    assert page.input_value(f"#role-{number}") == "person"
    assert re.search(r"single out \d+ of 120 people", page.inner_text("#together"))
    assert re.search(r"guessed: 120 people in \d+ rows", page.inner_text('tr[data-column="patient_id"]'))


def test_the_same_release_comes_from_the_command_and_from_the_python_as_they_stand_there(tabs, folder, tmp_path):
    page = open_visits(tabs)
    page.click("#correct")
    page.fill("#missing-marks", "-9")
    page.click("#read-again")
    page.wait_for_selector('tr[data-column="illness"] [data-label=missing]:has-text("%")')
    give_role(page, "home", "household")
    give_role(page, "stands_for", "survey weight")
    cost = give_role(page, "cost", "kept")
    page.select_option(f"#treat-{cost}", "round")
    page.fill(f"#treat-value-{cost}", "500")
    page.press(f"#treat-value-{cost}", "Enter")
    page.wait_for_selector(f'#treat-value-{cost}[value="500"]')
    visit = give_role(page, "visit", "kept")
    page.select_option(f"#treat-{visit}", "shift-dates")
    page.wait_for_selector(f"#treat-value-{visit}")
    page.check("#together-rows")
    page.wait_for_selector("#together-rows[checked]")
    page.select_option(f"#token-{row_of(page, 'patient_id')}", "token")
    page.wait_for_selector("#key-make")
    page.click("#to-protect")
    page.wait_for_selector("#make")
    page.click("#make")
    page.wait_for_selector('#notice p:has-text("made with a key")')
    page.click("#to-columns")
    page.click("#key-make")
    page.wait_for_selector('#tokens code:text-is("shoal.key")')
    assert stat.S_IMODE((folder / "shoal.key").stat().st_mode) == 0o600
    page.click(f"#coarser-{row_of(page, 'born')}")
    page.click("#suggest")
    page.wait_for_selector('.tree [data-node="1950s"]')
    assert page.locator("#uncovered").count() == 0
    make_by_mondrian(page)
    publish(page)
    assert re.search(r"belongs to at least \d+ people and households", page.inner_text(".checks"))
    assert page.inner_text("#recounted").startswith("✓ counted again from the file visits-release.csv")

    check_release(folder)
    recipe = read_recipe(folder / "visits-recipe.toml")
    assert (recipe.person, recipe.household, recipe.survey_weight) == ("patient_id", "home", "stands_for")
    assert recipe.treat["cost"] == {"treatment": "round", "to": 500}
    for name, words in {
        "command": command_words(page),
        "python": [sys.executable, "-c", page.inner_text("#python")],
    }.items():
        again = tmp_path / name
        shutil.copytree(folder, again, ignore=shutil.ignore_patterns("*release*", "*report*"))
        told = subprocess.run(words, cwd=again, capture_output=True, text=True, check=False, env=os.environ)
        assert told.returncode == 0, told.stderr
        check_release(again)
        assert (again / "visits-report.html").exists()
        assert cells(again, *KNOWN) == cells(folder, *KNOWN)
        assert cells(again, "patient_id") == cells(folder, "patient_id")  # the same key gives the same tokens


def command_words(page):
    program, *words = shlex.split(page.inner_text("#command"))
    assert program == "shoal"
    return [sys.executable, "-m", "shoal", *words]


def cells(folder, *names):
    table = open_table(folder / "visits-release.csv").table.select(list(names))
    return sorted(zip(*(map(str, column.to_pylist()) for column in table.columns), strict=True))


def check_release(folder):
    """Check a release by itself: groups of ten people, costs rounded, no name of a person in it."""
    released = open_table(folder / "visits-release.csv")
    assert shoal.audit(released, quasi_identifiers=KNOWN, person="patient_id").k >= 10
    assert {float(str(cost).replace(",", ".")) % 500 for cost in released.table.column("cost").to_pylist()} == {0.0}
    assert "home" not in released.names
    assert "P0001" not in (folder / "visits-release.csv").read_text("utf-8")


def test_a_key_that_exists_is_never_replaced(tabs, folder):
    (folder / "old.key").write_bytes(b"0" * 32)
    (folder / "old.key").chmod(0o600)
    page = open_visits(tabs)
    give_role(page, "patient_id", "pseudonym")
    if page.locator("#key-new").count():
        page.fill("#key-new", "old.key")
        page.click("#key-make")
        page.wait_for_selector('#notice p:has-text("a key is never replaced")')
    page.select_option("#key-name", "old.key")
    page.click("#key-take")
    page.wait_for_selector('#tokens code:text-is("old.key")')
    assert (folder / "old.key").read_bytes() == b"0" * 32


def test_ranges_end_where_it_is_said(tabs, folder):
    page = open_visits(tabs)
    page.goto(tabs.home + "/hierarchies?column=born")
    page.click("#no-tree")
    page.wait_for_selector("#end")
    page.select_option("#end", "year")
    page.wait_for_selector('#end option[value="year"][selected]', state="attached")
    make_by_mondrian(page)
    shown = page.evaluate("[...document.querySelectorAll('#pairs [data-column=born]')].map(cell => cell.innerText)")
    ends = {end for text in shown for end in re.findall(r"\d{4}-\d\d-\d\d|\d\d\.\d\d\.\d{4}", text)}
    assert ends
    assert all(re.search(r"01.01|31.12|12.31", end) for end in ends)
    page.click("#to-protect")
    assert page.input_value("#ends") == "by column"
    page.select_option("#ends", "exact")
    page.wait_for_selector('#ends option[value="exact"][selected]', state="attached")
    page.goto(tabs.home + "/hierarchies?column=born")
    assert page.input_value("#end") == ""


def test_a_choice_for_a_column_does_no_harm_when_its_role_changes(tabs):
    page = open_visits(tabs)
    number = give_role(page, "job", "quasi-identifier")
    page.fill(f"#weight-{number}", "3")
    page.press(f"#weight-{number}", "Enter")
    page.wait_for_selector(f'#weight-{number}[value="3"]')
    give_role(page, "job", "identifier")
    make_by_mondrian(page)
    page.click("#to-columns")
    page.wait_for_selector("#role-1")
    give_role(page, "job", "quasi-identifier")
    assert page.input_value(f"#weight-{number}") == "3"


def test_a_saved_recipe_works_elsewhere_and_is_never_overwritten_unasked(tabs, folder):
    page = open_visits(tabs)
    page.goto(tabs.home + "/hierarchies?column=born")
    page.click("#suggest")
    page.wait_for_selector('.tree [data-node="1950s"]')
    page.goto(tabs.home + "/recipe")
    assert 'born = "recipe-hierarchies/born.csv"' in page.inner_text("#recipe-text")
    page.click("#save-recipe")
    page.wait_for_selector('#saved:has-text("recipe.toml is saved")')
    recipe = read_recipe(folder / "recipe.toml")
    assert shoal.Hierarchy.from_csv(recipe.hierarchies["born"]).n_nodes > 100
    before = (folder / "recipe.toml").read_text("utf-8")
    page.click("#save-recipe")
    page.wait_for_selector('#notice p:has-text("exists")')
    assert (folder / "recipe.toml").read_text("utf-8") == before
    page.set_input_files("#recipe-file", folder / "recipe.toml")
    page.wait_for_selector('#page[data-step="columns"]')
    page.goto(tabs.home + "/hierarchies?column=born")
    page.wait_for_selector('.tree [data-node="1950s"]')


def test_the_page_starts_from_a_recipe(chromium, folder, tmp_path):
    (tmp_path / "mine.toml").write_text(
        'version = 1\nk = 7\nquasi_identifiers = ["born", "sex"]\nsensitive = ["illness"]\nperson = "patient_id"\n'
        'treat = {illness = {treatment = "pram", keep = 0.9}}\nends = {born = "year"}\n'
    )
    with serving(folder, "--recipe", str(tmp_path / "mine.toml")) as (_, address):
        tabs = Watched(chromium, address)
        page = open_visits(tabs)
        assert page.input_value(f"#role-{row_of(page, 'job')}") == "left out"
        assert page.input_value(f"#role-{row_of(page, 'patient_id')}") == "person"
        assert page.input_value(f"#treat-{row_of(page, 'illness')}") == "pram"
        page.click("#to-protect")
        page.wait_for_selector("#k-other")
        assert page.input_value("#k-other") == "7"
        assert page.input_value("#ends") == "by column"
        tabs.context.close()
        assert tabs.faults == []
