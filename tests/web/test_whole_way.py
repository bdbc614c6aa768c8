"""The whole way through the page, as a first-time user with a CSV goes it."""

from __future__ import annotations

import pytest

import shoal
from shoal.io.files import open_table
from shoal.recipe import read_recipe

pytestmark = pytest.mark.compiled


def test_a_csv_of_ones_own_becomes_a_checked_release_in_at_most_ten_clicks(tabs, folder):
    page, clicks = tabs.open(), 0

    def click(selector):
        nonlocal clicks
        clicks += 1
        page.click(selector)

    click("text=people.csv")
    page.wait_for_selector("#together strong")
    click("#to-protect")
    click("#make")
    page.wait_for_selector("#pairs tbody tr")
    click("#next")
    for box in page.locator("input[name=read]").all():
        clicks += 1
        box.check()
    click("#publish")
    page.wait_for_selector("#published")
    assert clicks <= 10

    names = ["age", "sex", "zip", "job"]
    released = open_table(folder / "people-release.csv")
    assert shoal.audit(released, quasi_identifiers=names).k >= 10
    assert "name" not in released.names
    assert read_recipe(folder / "people-recipe.toml").quasi_identifiers == names
    assert "<title>For the holder: report on a release" in (folder / "people-report.html").read_text("utf-8")
    assert "--recipe people-recipe.toml" in page.inner_text("#command")
    assert page.inner_text("#recounted").startswith("✓ counted again from the file people-release.csv: 300 records")

    with page.expect_popup() as opened:
        page.click("#show-report")
    opened.value.wait_for_selector("h1")
    assert opened.value.inner_text("h1") == "What was done"
