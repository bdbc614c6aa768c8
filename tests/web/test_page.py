"""The page as a person uses it: keys, undo, tabs, reload, cancelled work, broken files."""

from __future__ import annotations

import os
import signal

import pytest

from tests.web.conftest import workers_of, write_people

pytestmark = pytest.mark.compiled


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("tables")
    write_people(home / "people.csv")
    (home / "broken.csv").write_text("a,b\n1,2\n3\n4,5,6\n")
    (home / "job.csv").write_text("nurse;care;*\ncook;kitchen;*\nteacher;school;*\n")
    return home


def test_a_broken_file_gives_a_sentence_and_the_page_goes_on(tabs):
    page = tabs.open()
    page.goto(tabs.home + "/open")
    page.click('.files button:has-text("broken.csv")')
    page.wait_for_selector("#notice p")
    assert "fields where the header has 2" in page.inner_text("#notice")
    page.click('.files button:has-text("people.csv")')
    page.wait_for_selector("#together strong")


def test_roles_change_by_key_and_undo_leads_to_the_beginning(tabs):
    page = tabs.open_people()
    page.focus("#role-1")
    page.keyboard.press("5")
    page.wait_for_selector("#role-1.left-out")
    assert page.evaluate("document.activeElement.id") == "role-1"
    page.keyboard.press("Control+z")
    page.wait_for_selector("#role-1.identifier")
    while page.is_enabled("#undo"):
        before = page.get_attribute("#page", "data-version")
        page.click("#undo")
        page.wait_for_selector(f'#page:not([data-version="{before}"])')
    page.wait_for_selector("#drop")
    before = page.get_attribute("#page", "data-version")
    page.click("#redo")
    page.wait_for_selector(f'#page:not([data-version="{before}"])')
    page.goto(tabs.home + "/columns")
    page.wait_for_selector("#role-1.identifier")


def test_a_second_tab_and_a_reload_see_the_same(tabs):
    first = tabs.open_people()
    second = tabs.open("/columns")
    first.select_option("#role-5", "kept")
    second.wait_for_selector("#role-5.kept")
    second.select_option("#role-5", "quasi-identifier")
    first.wait_for_selector("#role-5.quasi-identifier")
    first.reload()
    first.wait_for_selector("#role-5.quasi-identifier")


def test_a_hierarchy_is_loaded_completed_and_changed(tabs):
    page = tabs.open_people()
    page.goto(tabs.home + "/hierarchies?column=job")
    page.select_option("#tree-name", "job.csv")
    page.click("#tree-load")
    page.wait_for_selector("#uncovered")
    assert "1 value" in page.inner_text("#uncovered")
    page.click("#add-values")
    page.wait_for_selector('[data-node="driver"]')
    assert page.locator("#uncovered").count() == 0
    page.check('input[value="driver"]')
    page.fill("#node-name", "kitchen")
    page.click("#move")
    page.wait_for_selector('li.depth-2[data-node="driver"]')
    page.check('input[value="care"]')
    page.check('input[value="school"]')
    page.fill("#node-name", "people")
    page.click("#merge")
    page.wait_for_selector('[data-node="people"]')
    page.click("#undo")
    page.wait_for_selector('[data-node="people"]', state="detached")


def test_a_cancelled_search_leaves_the_page_usable_and_is_repeated(tabs):
    page = tabs.open_people()
    page.click("#to-protect")
    page.select_option("#effort", "best")
    page.click("#make")
    page.wait_for_selector("#job-protect:not([hidden])")
    page.click("#cancel-protect")
    page.wait_for_selector("#job-protect", state="hidden")
    page.select_option("#method", "mondrian")
    page.wait_for_selector('#method option[value="mondrian"][selected]', state="attached")
    page.click("#make")
    page.wait_for_selector("#pairs tbody tr")


def test_the_sentence_about_a_killed_worker_stays_until_something_is_changed(tabs, server):
    page = tabs.open_people()
    page.click("#to-protect")
    page.select_option("#effort", "best")
    page.click("#make")
    page.wait_for_selector('#job-protect [data-job-text]:text-matches("—")')
    for worker in workers_of(server[0]):
        os.kill(worker, signal.SIGKILL)
    page.wait_for_selector('#notice p:has-text("The worker process has ended")')
    page.wait_for_selector("#job-protect", state="hidden")
    tabs.open("/protect").click("#k-5")
    page.wait_for_selector("#k-5[aria-pressed=true]")
    assert "The worker process has ended" in page.inner_text("#notice")
    page.select_option("#method", "mondrian")
    page.wait_for_selector("#notice", state="hidden")
    page.click("#make")
    page.wait_for_selector("#pairs tbody tr")


def test_a_failed_job_is_told_again_after_a_reload(tabs):
    page = tabs.open()
    page.goto(tabs.home + "/open")
    page.click('.files button:has-text("broken.csv")')
    page.wait_for_selector("#notice p")
    page.reload()
    page.wait_for_selector('#notice p:has-text("fields where the header has 2")')


def test_a_dropped_file_is_opened(tabs):
    page = tabs.open()
    page.goto(tabs.home + "/open")
    lines = "age,sex\\n" + "\\n".join(f"{30 + number % 7},{'FM'[number % 2]}" for number in range(40))
    dropped = page.evaluate_handle(
        f"() => {{ const all = new DataTransfer(); all.items.add(new File(['{lines}'], 'dropped.csv')); return all; }}"
    )
    page.dispatch_event("#drop", "drop", {"dataTransfer": dropped})
    page.wait_for_selector('#page[data-step="columns"]')
    assert "dropped.csv · 40 rows" in page.inner_text("header")


def test_a_point_of_the_comparison_is_taken(tabs):
    page = tabs.open_people()
    page.click("#to-compare")
    page.uncheck("#compare-optimise")
    page.fill("#ks", "2, 5")
    page.click("#compare")
    page.wait_for_selector("#take-mondrian-5")
    page.wait_for_selector("#frontier[data-drawn] canvas")
    page.click("#take-mondrian-5")
    page.wait_for_selector("#k-5[aria-pressed=true]")
    assert page.input_value("#method") == "mondrian"
