"""The page for everyone: by keyboard alone, at any width, in the dark, on paper, and without a serious finding of axe."""

from __future__ import annotations

import re

import pytest

import shoal
from shoal.io.files import open_table
from tests.web.conftest import wait_until

pytestmark = pytest.mark.compiled

STEPS = ("open", "columns", "hierarchies?column=job", "protect", "compare", "look", "publish", "recipe")


def serious_findings(page):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
    found = axe.Axe().run(page).response["violations"]
    return [
        (page.url, one["id"], node["html"])
        for one in found
        if one["impact"] in {"serious", "critical"}
        for node in one["nodes"]
    ]


def visit(tabs, page):
    """Show every step, and give its name when it stands still."""
    for step in STEPS:
        page.goto(f"{tabs.home}/{step}")
        page.wait_for_selector("body:not([inert]):not([aria-busy])")
        if step == "look":
            page.wait_for_selector("#pairs tbody tr")
        yield step


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_in_any_step(tabs, scheme):
    page = tabs.open_release()
    page.emulate_media(color_scheme=scheme)
    found = []
    for step in visit(tabs, page):
        found += serious_findings(page)
        if step == "look":
            for tab in ("columns", "sizes", "associations", "questions"):
                page.click(f"#tab-{tab}")
                found += serious_findings(page)
    assert found == []


@pytest.mark.parametrize("width", [360, 800, 1400])
def test_every_step_fits_its_width_and_axe_finds_nothing_serious(tabs, width):
    page = tabs.open_release()
    page.set_viewport_size({"width": width, "height": 900})
    found = []
    for step in visit(tabs, page):
        found += serious_findings(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, step
    assert found == []


def test_a_long_name_and_a_column_nothing_is_known_about_fit_a_telephone(tabs, folder):
    name = "everybody-who-came-to-the-hospital-of-the-town-in-2023"
    rows = [f"{20 + number % 9},{number * 7919 % 1000 / 7:.3f}" for number in range(60)]
    (folder / f"{name}.csv").write_text("\n".join(["age,quxly", *rows]) + "\n")
    page = tabs.open()
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(tabs.home + "/open")
    page.click(f'.files button:has-text("{name}")')
    page.wait_for_selector('tr.unsure[data-column="quxly"]')
    found = serious_findings(page)
    page.goto(tabs.home + "/protect")
    page.select_option("#method", "mondrian")
    page.click("#make")
    page.wait_for_selector("#pairs tbody tr")
    for _ in visit(tabs, page):
        found += serious_findings(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert found == []


def test_a_page_in_the_dark_is_dark_with_its_pictures(tabs):
    page = tabs.open_release()
    page.emulate_media(color_scheme="dark")
    page.click("#tab-columns")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert max(map(int, re.findall(r"\d+", ground))) < 64
    wait_until(page, "document.querySelector('#panel-columns img').currentSrc.includes('dark=1')")


def test_paper_shows_the_step_without_what_can_only_be_clicked(tabs):
    page = tabs.open_release()
    page.emulate_media(media="print")
    assert page.is_visible("#pairs")
    for hidden in ("nav", "footer", ".skip"):
        assert page.locator(hidden).first.is_hidden()
    assert page.pdf().startswith(b"%PDF")


def test_the_reason_for_a_cell_is_asked_and_closed_by_key(tabs):
    page = tabs.open_release()
    cell = page.locator("#pairs .cell.changed").first
    name = cell.get_attribute("id")
    cell.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#why:not([hidden]) h2")
    told = page.inner_text("#why")
    assert told.startswith(f"Why is {cell.get_attribute('data-column')} ")
    above = page.evaluate(
        "document.getElementById('why-row').previousElementSibling.contains(document.querySelector('.cell.asked'))"
    )
    assert above  # the cell stays in view, and so does its column
    assert "others" in told
    page.keyboard.press("Escape")
    page.wait_for_selector("#why", state="detached")
    assert page.evaluate("document.activeElement.id") == name


def tab_to(page, wanted):
    """Press Tab until what is wanted has the focus; there must be a way to it."""
    for _ in range(150):
        if page.evaluate("wanted => document.activeElement.matches(wanted)", wanted):
            return
        page.keyboard.press("Tab")
    there, focus = page.locator(wanted).count(), page.evaluate("document.activeElement.outerHTML.slice(0, 200)")
    pytest.fail(f"{wanted} cannot be reached by Tab; {there} of it on the page, the focus is on {focus}")


@pytest.mark.parametrize("width", [1400, 390])
def test_the_whole_way_by_keyboard(tabs, folder, width):
    page = tabs.open()
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(tabs.home + "/open")

    def press(wanted, key="Enter"):
        tab_to(page, wanted)
        page.keyboard.press(key)

    press('.files button[value="people.csv"]')
    page.wait_for_selector("#together strong")
    press("#role-5", "4")
    page.wait_for_selector("#role-5.kept")
    press("#role-5", "1")
    page.wait_for_selector("#role-5.quasi-identifier")
    press("#to-protect")
    page.wait_for_selector("#k-20")
    press("#k-20")
    page.wait_for_selector("#k-20[aria-pressed=true]")
    if not page.is_checked("#model-l-diversity"):
        press("#model-l-diversity", "Space")
    page.wait_for_selector("#model-l-diversity[checked]")
    press("#make")
    page.wait_for_selector("#pairs tbody tr")
    press("#next")
    page.wait_for_selector("#publish")
    for name in ("release", "report", "recipe"):
        tab_to(page, f"#name-{name}")
        page.keyboard.press("Home")
        page.keyboard.type(f"by-key-{width}-")
    page.focus("#step")
    for box in page.locator("input[name=read]").all():
        press("#" + box.get_attribute("id"), "Space")
    press("#publish")
    page.wait_for_selector("#published")
    released = open_table(folder / f"by-key-{width}-people-release.csv")
    assert shoal.audit(released, quasi_identifiers=["age", "sex", "zip", "job"]).k >= 20
