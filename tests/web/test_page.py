"""The page as a person uses it: keys, undo, tabs, reload, cancelled work, broken files."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3

import pytest

from tests.web.conftest import workers_of, write_people

pytestmark = pytest.mark.compiled


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("tables")
    write_people(home / "people.csv")
    (home / "broken.csv").write_text("a,b\n1,2\n3\n4,5,6\n")
    write_people(home / "town.csv", rows=900)
    with sqlite3.connect(home / "people.sqlite") as database:
        rows = [line.split(",") for line in (home / "people.csv").read_text().splitlines()]
        database.execute(f"CREATE TABLE patients ({', '.join(rows[0])})")
        database.executemany("INSERT INTO patients VALUES (?, ?, ?, ?, ?, ?)", rows[1:])
    shutil.copy(home / "people.sqlite", home / "one.sqlite")  # a release is written into the other
    with sqlite3.connect(home / "two.sqlite") as database:
        database.execute("CREATE TABLE empty (a)")
        database.execute("CREATE TABLE people AS SELECT 1 AS sex, 30 AS age UNION ALL SELECT 2, 40")
    (home / "job.csv").write_text("nurse;care;*\ncook;kitchen;*\nteacher;school;*\n")
    return home


def test_a_broken_file_gives_a_sentence_and_the_page_goes_on(tabs):
    page = tabs.open()
    page.goto(tabs.home + "/open")
    page.click('.files button:has-text("broken.csv")')
    page.wait_for_selector("#notice p")
    assert "fields, but the header has 2" in page.inner_text("#notice")
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


def test_columns_that_are_found_among_many_get_a_role_at_once(tabs, folder):
    names = [f"question {number}" for number in range(40)] + [f"answer {number}" for number in range(160)]
    names[7] = "trust_in_institutions_of_the_state_and_in_its_courts"
    rows = [",".join(str((row * column) % 3) for column in range(200)) for row in range(30)]
    (folder / "wide.csv").write_text("\n".join([",".join(names), *rows]) + "\n")
    page = tabs.open()
    page.goto(tabs.home + "/open")
    page.click('.files button:has-text("wide.csv")')
    page.wait_for_selector("#role-all")
    edges = "one => one.getBoundingClientRect().right"
    assert page.eval_on_selector("table.columns", edges) < page.eval_on_selector("section:has(table.columns)", edges)
    page.fill("#find-column", "question")
    assert page.inner_text("#shown-columns") == "39"
    page.select_option("#role-all", "kept")
    page.wait_for_selector("#role-40.kept")
    assert page.locator("select.kept").count() == 39
    assert page.input_value("#find-column") == "question"  # the columns found stay in view
    page.click("#undo")
    page.wait_for_selector("#role-40.undecided")


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
    assert bars_of_level(page, 1) == 3
    page.drag_and_drop('.tree [data-node="driver"]', '.tree [data-node="school"]')
    page.wait_for_selector('li[data-node="cook"] + li[data-node="school"] + li[data-node="driver"]')
    page.check('input[value="school"]')
    page.click("#dissolve")
    page.wait_for_selector('li.depth-1[data-node="driver"]')
    assert bars_of_level(page, 1) == 3  # care, kitchen, and what stands below the top itself
    page.click("#undo")
    page.wait_for_selector('li.depth-2[data-node="driver"]')
    page.check('input[value="care"]')
    page.check('input[value="school"]')
    page.fill("#node-name", "people")
    page.click("#merge")
    page.wait_for_selector('[data-node="people"]')
    page.click("#undo")
    page.wait_for_selector('[data-node="people"]', state="detached")


def bars_of_level(page, level):
    """Return how many groups the histogram of a level shows."""
    return page.locator(".level").nth(level).locator("rect").count()


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
    tabs.open("/protect").click("#k-20")
    page.wait_for_selector("#k-20[aria-pressed=true]")
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
    page.wait_for_selector('#notice p:has-text("fields, but the header has 2")')


def test_a_dropped_file_is_opened(tabs):
    page = tabs.open()
    page.goto(tabs.home + "/open")
    lines = "years,gender\\n" + "\\n".join(f"{30 + number % 7},{'FM'[number % 2]}" for number in range(40))
    dropped = page.evaluate_handle(
        f"() => {{ const all = new DataTransfer(); all.items.add(new File(['{lines}'], 'dropped.csv')); return all; }}"
    )
    page.dispatch_event("#drop", "drop", {"dataTransfer": dropped})
    page.wait_for_selector('#page[data-step="columns"]')
    assert "dropped.csv · 40 rows" in page.inner_text("header")


def test_a_point_of_the_comparison_is_taken(tabs):
    page = tabs.open_people()
    page.click("#to-compare")
    page.uncheck("#compare-optimize")
    page.fill("#ks", "2, 5")
    page.click("#compare")
    page.wait_for_selector("#take-mondrian-5")
    page.wait_for_selector('#frontier[data-drawn$="dark=false&narrow=false"] canvas')
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 360, "height": 900})
    page.wait_for_selector('#frontier[data-drawn$="dark=true&narrow=true"] canvas')
    page.click("#take-mondrian-5")
    page.wait_for_selector("#k-5[aria-pressed=true]")
    assert page.input_value("#method") == "mondrian"


def test_a_comparison_grows_point_by_point_and_is_taken_up_where_it_was_stopped(tabs):
    page = tabs.open_people()
    page.wait_for_selector("#live-state[data-state=made]")  # or two workers compile the same kernels side by side
    page.click("#to-compare")
    page.check("#compare-optimize")  # the methods compared last are remembered: a test before this one took one out
    page.fill("#ks", "3, 4, 6")
    page.click("#compare")
    page.wait_for_selector("#points tbody tr")  # a point is there while others are on their way, or all are
    page.evaluate("document.getElementById('cancel-compare').click()")  # as good where all are made already
    page.wait_for_selector("#job-compare", state="hidden")
    page.wait_for_selector('#compare:has-text("Continue comparing")')  # the step shows what was made
    before = points_shown(page)
    assert before
    page.fill("#ks", "3, 4, 6")
    page.click("#compare")
    for k in (3, 4, 6):
        for method in ("mondrian", "optimize"):
            page.wait_for_selector(f'#points tr[data-method="{method}"][data-k="{k}"]')
    assert before <= points_shown(page)  # with the seconds they took: they were not made again


def points_shown(page):
    """Return size, method, loss, groups, withheld and seconds of each point."""
    rows = page.evaluate(
        "[...document.querySelectorAll('#points tbody tr')].map(row => [row.dataset.method, ...row.innerText.split('\\t')])"
    )
    return {(row[0], row[1], *row[3:7]) for row in rows}


def test_a_table_of_a_database_is_opened_and_a_release_is_written_into_it(tabs, folder):
    page = tabs.open()
    page.goto(tabs.home + "/open")
    page.click("#from-database > summary")
    page.fill("#database", "people.sqlite")
    page.fill("#database-table", "patients")
    page.click("#open-database")
    page.wait_for_selector("#together strong")
    page.click("#to-protect")
    page.click("#k-10")
    page.wait_for_selector("#k-10[aria-pressed=true]")
    page.select_option("#method", "mondrian")
    page.click("#make")
    page.wait_for_selector("#pairs tbody tr")
    page.click("#next")
    page.click("#into-database summary")
    assert page.input_value("#to-database") == "people.sqlite"
    page.fill("#to-table", "safe")
    for box in page.locator("input[name=read]").all():
        box.check()
    page.click("#publish")
    page.wait_for_selector("#published")
    assert "in the table safe" in page.inner_text("#published")
    assert "--table patients" in page.inner_text("#command")
    assert "--to people.sqlite --to-table safe" in page.inner_text("#command")
    assert "result.save_to_database('people.sqlite', 'safe')" in page.inner_text("#python")
    database = sqlite3.connect(folder / "people.sqlite")
    sizes = database.execute("SELECT COUNT(*) FROM safe GROUP BY age, sex, zip, job").fetchall()
    database.close()
    assert min(size for (size,) in sizes) >= 10


def test_a_database_of_the_folder_is_opened_by_a_click_or_its_tables_are_shown(tabs):
    page = tabs.open()
    page.goto(tabs.home + "/open")
    page.click('.files button:has-text("one.sqlite")')  # it has one table
    page.wait_for_selector("#together strong")
    assert "patients · 300 rows" in page.inner_text("header")
    page.goto(tabs.home + "/open")
    page.click('.files button:has-text("two.sqlite")')
    page.wait_for_selector("#offered")
    assert page.locator("#offered button").all_inner_texts() == ["empty", "people"]
    page.click('#offered button:has-text("people")')
    page.wait_for_selector('header:has-text("people · 2 rows")')
    page.goto(tabs.home + "/open")
    assert page.locator("#offered").count() == 0


def test_hierarchies_that_a_method_needs_are_suggested_at_once_and_withheld_records_can_be_seen(tabs):
    page = tabs.open_people()
    page.click("#to-protect")
    page.fill("#withhold", "20")
    page.select_option("#method", "bug")
    page.wait_for_selector("#lacking")
    page.click("#suggest-all")
    page.wait_for_selector("#lacking", state="detached")
    page.click("#make")
    page.wait_for_selector("#pairs tbody tr")
    page.check("#withheld")
    page.wait_for_selector('#pairs tbody th:text-is("withheld")')
    page.goto(tabs.home + "/hierarchies?column=zip")
    page.wait_for_selector(".tree li.group")
    page.click("#undo")  # all of them were one step
    page.wait_for_selector(".tree", state="detached")


def test_a_model_counts_in_a_list_of_the_population(tabs):
    page = tabs.open_people()
    page.click("#to-protect")
    page.click("#population summary")
    page.select_option("#list-k-map", "town.csv")
    page.fill("#value-k-map", "25")
    page.check("#model-k-map")
    page.wait_for_selector("#model-k-map[checked]")
    page.select_option("#method", "mondrian")
    page.click("#make")
    page.wait_for_selector("#pairs tbody tr")
    page.click("#next")
    page.wait_for_selector('.checks li:has-text("at least 25 who fit")')
    assert "shoal.KMap(k=25, population='town.csv')" in page.inner_text("#python")
