"""Categories with an order, put in order on the page: by drag, by keys, by click."""

from __future__ import annotations

import pytest

import shoal
from shoal.io.files import open_table
from shoal.recipe import read_recipe
from shoal.web.routes.orders import by_name, uncovered

DEGREES = ["none", "primary", "secondary", "tertiary"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("tables")
    rows = [f"{20 + number % 40},{DEGREES[number % 4]},{'FM'[number % 2]}" for number in range(220)]
    (home / "people.csv").write_text("\n".join(["age,education,sex", *rows]) + "\n")
    return home


def order_on(page):
    return page.evaluate("[...document.querySelectorAll('#order li')].map(one => one.dataset.value)")


def wait_for_first(page, value):
    page.wait_for_selector(f'#order li:first-child[data-value="{value}"]')


@pytest.mark.compiled
def test_values_are_put_in_order_by_drag_key_and_click_and_released_as_ranges_of_it(tabs, folder):
    page = tabs.open_people()
    page.select_option("#kind-2", "order")
    page.click("#order-2")
    page.wait_for_selector("#order li")
    assert order_on(page) == ["none", "primary", "secondary", "tertiary"]  # to begin with by name
    page.drag_and_drop('#order li[data-value="tertiary"]', '#order li[data-value="none"]')
    wait_for_first(page, "tertiary")
    page.focus('#order li[data-value="tertiary"] button')
    for _ in range(3):  # quicker than the page is shown: each key counts
        page.keyboard.press("ArrowDown")
    page.wait_for_selector('#order li:last-child[data-value="tertiary"]')
    assert page.evaluate("document.activeElement.closest('li').dataset.value") == "tertiary"
    page.click('#order li[data-value="primary"] button[aria-label$=up]')
    wait_for_first(page, "primary")
    page.click("#undo")
    wait_for_first(page, "none")
    assert order_on(page) == DEGREES
    page.click("#to-protect")
    page.click("#k-50")
    page.select_option("#method", "mondrian")
    page.click("#make")
    page.wait_for_selector("#pairs tbody tr")
    page.click("#next")
    page.wait_for_selector("#publish")
    for box in page.locator("input[name=read]").all():
        box.check()
    page.click("#publish")
    page.wait_for_selector("#published")
    assert read_recipe(folder / "people-recipe.toml").kinds == {"education": DEGREES}
    assert f"'education': {DEGREES}" in page.inner_text("#python")
    released = set(open_table(folder / "people-release.csv").table.column("education").to_pylist())
    assert released <= {*DEGREES, *(f"[{low} to {high}]" for low in DEGREES for high in DEGREES)}
    assert any(" to " in cell for cell in released)


@pytest.mark.compiled
def test_an_order_is_taken_back_and_a_tree_takes_its_place(tabs):
    page = tabs.open_people()
    page.goto(tabs.home + "/hierarchies?column=education")
    page.click("#in-order")
    page.wait_for_selector("#order li")
    page.click("#suggest")
    page.wait_for_selector(".tree-form")
    page.click("#undo")
    page.wait_for_selector("#order li")
    page.click("#no-tree")
    page.wait_for_selector("#order", state="detached")
    assert "released as sets of values" in page.inner_text("#editor h2")


@pytest.mark.compiled
def test_a_value_that_is_dragged_onto_another_makes_a_group_of_both(tabs):
    page = tabs.open_people()
    page.goto(tabs.home + "/hierarchies?column=education")
    page.click("#suggest")
    page.wait_for_selector('.tree [data-node="none"]')
    page.set_viewport_size({"width": 1400, "height": 1800})  # both in view: the page does not scroll under the mouse
    page.drag_and_drop('.tree [data-node="none"]', '.tree [data-node="tertiary"]')
    page.wait_for_selector('.tree li.group[data-node="tertiary, none"]')
    inside = page.locator('.tree li.group[data-node="tertiary, none"] ~ li').all()[:2]
    assert [one.get_attribute("data-node") for one in inside] == ["none", "tertiary"]


def test_texts_are_sorted_as_people_do():
    assert sorted(["b", "10 km", "2 km", "A", "²", ""], key=by_name) == ["", "2 km", "10 km", "A", "b", "²"]


def test_values_that_an_order_does_not_know_are_counted_with_their_rows():
    assert uncovered(["a"], {"a": 3, "b": 2, "c": 1}) == {
        "uncovered": ["b", "c"], "uncovered_values": 2, "uncovered_rows": 3,
    }  # fmt: skip


def test_a_release_by_the_order_of_a_recipe_has_ranges_of_it():
    table = {"education": DEGREES * 5}
    result = shoal.anonymize(
        table, k=10, quasi_identifiers=["education"], kinds={"education": DEGREES}, method="mondrian"
    )
    assert set(result.data["education"]) <= {"[none to primary]", "[secondary to tertiary]"}
