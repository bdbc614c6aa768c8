"""One table, one recipe, one release: what is shown, checked, written and printed is the same one."""

from __future__ import annotations

import os
import sqlite3

import pytest

from shoal.web.draft import Draft, Source
from shoal.web.identity import digest_file, digest_rows, stamp_files
from shoal.web.releases import Releases
from tests.web.conftest import write_people

NAMES = {"release": "r.csv", "report": "r.html", "recipe": "r.toml"}
CHANGED = "people.csv has changed since it was read. Nothing was done. read it again first."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("tables")
    write_people(home / "town.csv", rows=900)
    return home


@pytest.fixture
def people(folder):
    """Return a table of 300 rows that is as it was at the beginning, whatever the last test did with it."""
    return write_people(folder / "people.csv")


def rows_shown(hands):
    return hands.show("columns").split(" rows")[0].split("· ")[-1]


def publish(hands, number, **names):
    read = list(range(hands.show("publish").count('name="read"')))
    return hands.post("publish", **(NAMES | names), number=number, read=read, replace=True)


@pytest.mark.compiled
def test_a_file_that_was_replaced_is_read_again_when_it_is_opened_again(hands, people):
    assert hands.open("people.csv") == "done"
    assert rows_shown(hands) == "300"
    write_people(people, rows=150)
    assert hands.open("people.csv") == "done"
    assert rows_shown(hands) == "150"
    assert hands.make(5) == "done"
    assert publish(hands, 1) == "done"
    assert len((people.parent / "r.csv").read_text().splitlines()) == 151


@pytest.mark.compiled
def test_nothing_is_changed_or_written_while_a_table_is_another_than_the_one_that_was_read(hands, people):
    assert hands.open("people.csv") == "done"
    assert hands.make(5) == "done"
    before = people.stat()
    people.write_text(people.read_text().replace("asthma", "asthmo"))
    os.utime(people, ns=(before.st_atime_ns, before.st_mtime_ns))  # same size, same time
    assert publish(hands, 2, release="other.csv") == CHANGED
    assert hands.post("protect/k", k=7) == CHANGED
    assert 'id="changed-source"' in hands.show("look")
    assert not (people.parent / "other.csv").exists()
    assert hands.post("open/again") == "done"
    assert 'id="changed-source"' not in hands.show("look")
    assert hands.post("protect/k", k=7) == "done"


@pytest.mark.compiled
def test_a_file_that_was_only_touched_is_the_same_table(hands, people):
    assert hands.open("people.csv") == "done"
    people.touch()
    assert hands.post("protect/k", k=8) == "done"


@pytest.mark.compiled
def test_a_table_of_a_database_with_fewer_rows_is_seen(hands, folder):
    with sqlite3.connect(folder / "base.sqlite") as database:
        database.execute("CREATE TABLE IF NOT EXISTS visits (age, sex)")
        database.executemany("INSERT INTO visits VALUES (?, ?)", [(20 + row % 9, row % 2) for row in range(200)])
    opened = {"address": "base.sqlite", "table": "visits"}
    assert hands.post("open/database", **opened) == "done"
    assert rows_shown(hands) == "200"
    with sqlite3.connect(folder / "base.sqlite") as database:
        database.execute("CREATE TABLE another (a)")
    assert hands.post("protect/k", k=9) == "done"  # the file is another, the table is not
    with sqlite3.connect(folder / "base.sqlite") as database:
        database.execute("DELETE FROM visits WHERE sex = 1")
    assert hands.post("protect/k", k=7).startswith("visits has changed since it was read.")
    assert hands.post("open/database", **opened) == "done"
    assert rows_shown(hands) == "100"


@pytest.mark.compiled
def test_only_the_release_that_is_shown_is_written_and_only_a_written_one_is_told_as_done(hands, people):
    assert hands.open("people.csv") == "done"
    assert hands.make(6) == "done"
    first = release_shown(hands)
    assert publish(hands, first) == "done"
    assert 'id="published"' in hands.show("publish")
    assert hands.post("protect/make") == "done"  # a newer one of the same recipe
    assert release_shown(hands) == first + 1
    assert 'id="published"' not in hands.show("publish")
    told = publish(hands, first)
    assert told.startswith(f"This tab shows release {first}, but release {first + 1} has taken its place.")
    assert hands.client.get(f"{hands.home}publish/{first}/release/download").status_code == 200
    assert hands.client.get(f"{hands.home}publish/{first + 1}/release/download").status_code == 404


def release_shown(hands):
    return int(hands.show("publish").split('name="number" value="')[1].split('"')[0])


@pytest.mark.compiled
def test_a_file_that_was_overwritten_by_hand_is_no_longer_counted_as_written(hands, people):
    assert hands.open("people.csv") == "done"
    assert hands.make(5) == "done"
    release = release_shown(hands)
    assert publish(hands, release) == "done"
    assert 'id="recounted"' in hands.show("publish")
    (people.parent / "r.csv").write_text("age\n1\n")
    page = hands.show("publish")
    assert 'id="recounted"' not in page
    assert "r.csv has changed since it was written" in page
    told = hands.client.get(f"{hands.home}publish/{release}/release/download")
    assert told.json()["message"] == "The file 'r.csv' has changed since it was written."


@pytest.mark.compiled
def test_a_list_that_the_release_reads_is_never_replaced(hands, people, folder):
    before = (folder / "town.csv").read_bytes()
    assert hands.open("people.csv") == "done"
    assert hands.post("protect/model", model="k-map", on=True, value=5, population="town.csv") == "done"
    assert hands.make(5) == "done"
    told = publish(hands, release_shown(hands), release="town.csv")
    assert told == "The target 'town.csv' is an input of this call. write to another file."
    assert publish(hands, release_shown(hands), release="people.csv").startswith("The target 'people.csv' is an")
    assert (folder / "town.csv").read_bytes() == before
    assert hands.post("protect/model", model="k-map", on=False) == "done"


@pytest.mark.compiled
def test_a_change_made_on_an_older_state_is_refused(hands, people):
    assert hands.open("people.csv") == "done"
    seen = hands.edition()
    assert hands.post("protect/k", k=11) == "done"
    assert hands.post("protect/k", edition=seen, k=12).startswith("This tab shows an earlier state")
    assert hands.post("protect/k", edition="", k=12).startswith("This tab shows an earlier state")
    assert 'value="11"' in hands.show("protect")


@pytest.mark.compiled
def test_two_tabs_with_two_tables_work_side_by_side(tabs, folder, people):
    first = tabs.open_people()
    second = tabs.open("/open")
    second.click('.files button:has-text("town.csv")')
    second.wait_for_selector('header:has-text("town.csv · 900 rows")')
    for page, k in ((first, 7), (second, 9)):
        page.click("#to-protect")
        page.select_option("#method", "mondrian")
        page.fill("#k-other", str(k))
        page.press("#k-other", "Enter")
        page.wait_for_selector(f'#k-other[value="{k}"]')
    for page in (first, second):
        page.click("#make")
        page.wait_for_selector("#pairs tbody tr")
        page.click("#next")
        page.wait_for_selector("#publish")
        for box in page.locator("input[name=read]").all():
            box.check()
        page.click("#publish")
        page.wait_for_selector("#published")
    for page, name, rows in ((first, "people", 300), (second, "town", 900)):
        assert f"counted again from the file {name}-release.csv: {rows} records" in page.inner_text("#recounted")
        assert len((folder / f"{name}-release.csv").read_text().splitlines()) == rows + 1
    second.click("#to-open")
    second.click('#others a:has-text("people.csv")')
    second.wait_for_selector('header:has-text("people.csv · 300 rows")')


@pytest.mark.compiled
def test_a_tab_that_no_longer_hears_is_told_that_it_shows_something_older(tabs, people):
    deaf = tabs.context.new_page()
    tabs.open_people()
    deaf.route("**/events", lambda route: route.abort())
    deaf.goto(tabs.home + "/protect")
    deaf.wait_for_selector("#k-20")
    other = tabs.open("/protect")
    other.click("#k-50")
    other.wait_for_selector("#k-50[aria-pressed=true]")
    deaf.click("#k-20")
    deaf.wait_for_selector('#notice p:has-text("This tab shows an earlier state")')
    deaf.wait_for_selector("#k-50[aria-pressed=true]")
    deaf.click("#k-20")
    deaf.wait_for_selector("#k-20[aria-pressed=true]")


def test_the_page_says_at_once_that_the_file_has_changed(tabs, people):
    page = tabs.open_people()
    write_people(people, rows=120)
    page.wait_for_selector("#changed-source")
    page.click("#read-changed")
    page.wait_for_selector('header:has-text("people.csv · 120 rows")')


def test_a_release_that_was_stopped_or_ended_by_the_clock_cannot_be_made_again():
    found = {"folder": "", "summary": {}, "figures": []}
    assert Releases().add("a", Draft(), found).repeatable
    assert not Releases().add("a", Draft(), found | {"stopped": True}).repeatable
    assert not Releases().add("a", Draft().change(effort=20), found).repeatable


def test_files_written_under_names_that_were_written_before_are_no_longer_those_of_the_earlier_release(tmp_path):
    releases, found = Releases(), {"folder": "", "summary": {}, "figures": []}
    first, second = releases.add("a", Draft(), found), releases.add("b", Draft(), found)
    releases.wrote(first, {}, {"targets": {"release": str(tmp_path / "r.csv")}})
    releases.wrote(second, {}, {"targets": {"release": str(tmp_path / "r.csv")}})
    assert set(releases.written) == {second.number}


def test_rows_have_the_same_digest_in_any_order_and_another_where_one_is_gone():
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"age": [3, 1, 2], "sex": pa.array(["F", "M", None]).dictionary_encode()})
    assert digest_rows(table, b"s") == digest_rows(table.take([2, 0, 1]), b"s")
    assert digest_rows(table, b"s") != digest_rows(table.slice(1), b"s")
    assert digest_rows(table, b"s") != digest_rows(table, b"t")


def test_a_file_that_is_gone_has_no_stamp_and_no_digest(tmp_path):
    assert stamp_files([tmp_path / "none.csv"]) == ((),)
    assert digest_file(tmp_path / "none.csv", b"s") == ""


def test_a_source_is_told_from_another_content_in_the_same_place():
    source = Source("folder", "a.csv", "/a.csv")
    assert source.known_as("1").key != source.known_as("2").key
    assert source.known_as("1").place_key == source.known_as("2").place_key
