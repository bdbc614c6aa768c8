"""The release in view from the first click: a quick one beside the choices, which is never the one that is written."""

from __future__ import annotations

import re
import threading

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.frames import Frame
from shoal.web.draft import Draft, Source, opened
from shoal.web.fixes import remarks
from shoal.web.jobs import previewing
from shoal.web.jobs.previewing import FIRST_LOOK, MOST_RECORDS, Sample, preferred_rows, preview, prices
from shoal.web.routes.rendering import price_words
from shoal.web.stored import store
from tests.web.conftest import wait_until, write_people

pytestmark = pytest.mark.compiled

QUASI = ["age", "sex", "zip", "job"]


def nobody_listens(*_):
    """Hear no progress."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("tables")
    write_people(home / "people.csv")
    rows = [f"{20 + one % 50},{'FM'[one % 2]},{one * 37 % 9973}.5,{one * 3 % 700}" for one in range(400)]
    (home / "costs.csv").write_text("\n".join(["age,sex,amount,quux", *rows]) + "\n")
    return home


@pytest.fixture
def stored(folder, tmp_path):
    return store(Frame(shoal.read_table(folder / "people.csv")), tmp_path / "people.arrow")


@pytest.mark.parametrize("method", ["optimize", "mondrian", "k-member"])
def test_a_preview_tells_what_a_fast_release_gives(stored, method):
    recipe = {
        "k": 5,
        "quasi_identifiers": QUASI,
        "keep": ["diagnosis"],
        "method": method,
        "effort": "best",
        "identifiers": ["name"],
    }
    found = preview(nobody_listens, table=stored, recipe=recipe, first=0)
    made = shoal.anonymize(
        stored.load().table,
        k=5,
        quasi_identifiers=QUASI,
        keep=["diagnosis"],
        identifiers=["name"],
        method=method,
        effort="fast",
    )
    assert found["kept"] == 1 - made.metrics["ncp"]
    assert (found["k"], found["whole"], found["records"]) == (made.audit.k, True, 300)
    assert [one["name"] for one in found["columns"]] == QUASI
    assert found["names"] == [*QUASI, "diagnosis"]
    released = made.released.to_pylist()
    for row in found["rows"]:
        after = dict(zip(found["names"], (is_ for _, is_ in row), strict=True))
        assert any(all(str(one[name]) == after[name] for name in after) for one in released)
    for one in found["columns"]:
        assert one["typical"] in {str(row[one["name"]]) for row in released}


def test_other_rows_are_shown_when_they_are_asked_for_and_the_same_while_choices_change(stored):
    recipe = {"k": 5, "quasi_identifiers": QUASI, "method": "mondrian", "identifiers": ["name", "diagnosis"]}
    before = [was for was, _ in preview(nobody_listens, table=stored, recipe=recipe, first=0)["rows"][0]]
    again = [was for was, _ in preview(nobody_listens, table=stored, recipe=recipe | {"k": 9}, first=0)["rows"][0]]
    other = [was for was, _ in preview(nobody_listens, table=stored, recipe=recipe, first=1)["rows"][0]]
    assert before == again != other


def test_a_preview_that_is_stopped_gives_nothing(stored, monkeypatch):
    class Stopped:
        def __enter__(self):
            stop = threading.Event()
            stop.set()
            return stop

        def __exit__(self, *_):
            """Nothing is to be put back."""

    monkeypatch.setattr(previewing, "stoppable", Stopped)
    assert (
        preview(
            nobody_listens,
            table=stored,
            recipe={"k": 5, "quasi_identifiers": QUASI, "identifiers": ["name", "diagnosis"]},
            first=0,
        )
        is None
    )


def test_a_large_table_is_looked_at_by_samples_of_whole_people_of_which_the_larger_holds_the_smaller():
    whose = np.arange(40_000) // 3
    frame = Frame(pa.table({"person": whose, "row": np.arange(40_000)}))
    rows = preferred_rows(frame, "person")
    small, large = (Sample.of(frame, rows, size) for size in (FIRST_LOOK, MOST_RECORDS))
    taken = [set(one.frame.table.column("row").to_pylist()) for one in (small, large)]
    assert [len(one) for one in taken] == [FIRST_LOOK, MOST_RECORDS]
    assert taken[0] < taken[1]
    people = small.frame.table.column("person").to_numpy()
    assert np.unique(people, return_counts=True)[1].max() == 3
    assert (np.unique(people, return_counts=True)[1] < 3).sum() <= 2
    shown = [one.frame.table.column("row").take(one.shown[:9].tolist()).to_pylist() for one in (small, large)]
    assert shown[0] == shown[1]
    assert len({row // 3 for row in shown[0]}) == 9  # nine people, not three rows of each
    assert Sample.of(frame, preferred_rows(frame, None), 40_000).frame is frame


def test_a_first_look_is_handed_over_before_a_closer_one_with_the_same_rows(tmp_path, monkeypatch):
    people = shoal.read_table(write_people(tmp_path / "people.csv"))
    table = store(Frame(people), tmp_path / "people.arrow")
    monkeypatch.setattr(previewing, "FIRST_LOOK", 100)
    monkeypatch.setattr(previewing, "MOST_RECORDS", 200)
    told = []
    recipe = {"k": 5, "quasi_identifiers": QUASI, "method": "mondrian", "identifiers": ["name", "diagnosis"]}
    found = preview(lambda what, value: told.append((what, value)), table=table, recipe=recipe, first=0)
    [rough] = [value for what, value in told if what == "part"]
    assert (rough["records"], rough["rough"], found["records"], found["rough"], found["whole"]) == (
        100,
        True,
        200,
        False,
        False,
    )
    assert [[was for was, _ in row] for row in rough["rows"]] == [[was for was, _ in row] for row in found["rows"]]


def live(page):
    return page.inner_text("#live")


def wait_for_preview(page):
    page.wait_for_selector("#live-state[data-state=made]")


def test_every_choice_is_followed_by_what_it_gives(tabs):
    page = tabs.open_people()
    wait_for_preview(page)
    assert re.search(r"300 → 0|2\d\d → 0", live(page))
    assert page.locator("#three tbody tr").count() == 3
    before = page.inner_text("#live-kept")
    page.select_option("#role-2", "left out")
    wait_until(page, "before => document.getElementById('live-kept').innerText !== before", before)
    wait_for_preview(page)
    assert "age" not in page.inner_text("#three thead")
    page.click("#undo")
    wait_until(page, "before => document.getElementById('live-kept').innerText === before", before)
    page.click("#to-protect")
    page.click("#k-50")
    page.wait_for_selector('#live .nums dd:text-is("50")')
    assert "1 in 50" in page.inner_text("header")


def test_choices_that_give_no_release_are_told_in_the_panel_and_stop_nobody(tabs):
    page = tabs.open_people()
    page.click("#to-protect")
    page.fill("#value-l-diversity", "300")
    page.check("#model-l-diversity")
    page.wait_for_selector("#live-state[data-state=failed]")
    assert "These choices give no release" in live(page)
    assert page.locator("#notice p").count() == 0
    page.click("#undo")
    wait_for_preview(page)


def test_the_arrow_never_leads_to_an_empty_step_and_a_preview_is_never_written(tabs, folder):
    page = tabs.open_people()
    wait_for_preview(page)
    for step in ("hierarchies", "protect", "compare", "look"):
        page.click("#next")
        page.wait_for_selector(f'#page[data-step="{step}"]')
    assert page.locator("#three tbody tr").count() == 3
    page.click("#next")
    page.wait_for_selector('#page[data-step="publish"] #to-make')
    assert page.locator("#publish").count() == 0
    page.click("#to-make")
    page.wait_for_selector("#publish")
    assert page.inner_text("#headline") == "5 of 6 columns are released."


def test_nothing_goes_out_or_stays_behind_undecided(tabs, folder):
    page = tabs.open()
    page.goto(tabs.home + "/open")
    page.click('.files button:has-text("costs.csv")')
    page.wait_for_selector("#rest")
    assert "open" in page.inner_text("#to-columns")
    assert page.locator("select.undecided").count() >= 1
    page.goto(tabs.home + "/publish")
    page.click("#to-make")
    page.wait_for_selector("#publish")
    for box in page.locator("input[name=read]").all():
        box.check()
    page.click("#publish")
    page.wait_for_selector('#notice p:has-text("not decided yet")')
    assert not (folder / "costs-release.csv").exists()
    page.click("#drop-rest")
    page.wait_for_selector("#rest", state="detached")
    page.wait_for_selector('#to-columns:has-text("✓")')
    for box in page.locator("input[name=read]").all():
        box.check()
    page.click("#publish")
    page.wait_for_selector("#published")


def test_all_columns_of_text_are_decided_on_at_once(tabs, folder):
    rows = [f"{20 + one % 50},{'FM'[one % 2]},{one * 37 % 9973}.5,quux {one * 7 % 91}" for one in range(120)]
    (folder / "words.csv").write_text("\n".join(["age,sex,quuz,wuzzle", *rows]) + "\n")
    page = tabs.open()
    page.goto(tabs.home + "/open")
    page.click('.files button:has-text("words.csv")')
    page.click("#drop-texts")
    page.wait_for_selector("#drop-texts", state="detached")
    assert page.locator("select.undecided").count() == 1
    assert page.input_value("#role-4") == "left out"


def test_a_column_is_undecided_until_somebody_decides_on_it():
    draft = opened(Draft(), Source("demo", "demo"), {"age": "quasi-identifier", "quux": "other", "x": "other"})
    assert draft.undecided == {"quux", "x"}
    decided = draft.with_role("quux", "left out", ["age", "quux", "x"])
    assert (decided.undecided, decided.role("quux")) == ({"x"}, "left out")
    again = opened(decided, Source("demo", "demo"), {"age": "quasi-identifier", "quux": "other", "x": "other"})
    assert again.undecided == {"x"}


COLUMNS = [
    {"name": "age", "type": "whole number", "unique": 3},
    {"name": "cost", "type": "number", "unique": 40},
    {"name": "visit", "type": "date", "unique": 9},
    {"name": "ill", "type": "text", "unique": 0},
]


def test_remarks_that_are_alike_are_one_and_each_has_ways_out_that_can_be_taken():
    draft = Draft(Source("demo", "demo")).change(
        k=5, quasi_identifiers=["age"], keep=["cost", "visit"], sensitive=["ill"]
    )
    found = [{"kind": "alike", "column": "ill"}, {"kind": "apart"}]
    told = remarks(draft, COLUMNS, found)
    assert [one.words.split(" ")[0] for one in told] == ["cost", "In", "Rows"]
    assert told[0].words.startswith("cost and visit are released with 49 values that occur only once.")
    blunt, known, out = (way.draft for way in told[0].ways)
    assert set(blunt.get("treat")) == {"cost", "visit"}
    assert known.get("quasi_identifiers") == ["age", "cost", "visit"]
    assert out.get("keep") == []
    assert [way.draft.get("models") for way in told[1].ways[:2]] == [
        [{"model": "l-diversity", "l": number}] for number in (2, 3)
    ]
    assert told[1].ways[2].draft.get("k") == 10
    assert told[2].ways[0].draft.get("together")
    assert len({way.name for one in told for way in one.ways}) == 7


def test_a_column_that_others_give_away_is_told_once_and_by_its_formula():
    draft = Draft(Source("demo", "demo")).change(quasi_identifiers=["age"], keep=["cost"])
    [told] = remarks(
        draft, COLUMNS, [{"kind": "derived", "column": "cost", "words": "cost = 2 · age, for 100.0 % of records"}]
    )
    assert told.words.startswith("cost = 2 · age")
    assert [way.words for way in told.ways] == ["make cost a quasi-identifier", "leave cost out"]


def test_a_preview_names_the_columns_that_follow_from_the_quasi_identifiers(tmp_path):
    table = {"age": [20 + one % 30 for one in range(300)], "sex": ["FM"[one % 2] for one in range(300)]}
    table["double"] = [2 * one + 0.5 for one in table["age"]]
    kept = store(Frame(pa.table(table)), tmp_path / "table.arrow")
    recipe = {"k": 20, "quasi_identifiers": ["age", "sex"], "keep": ["double"], "method": "mondrian"}
    found = preview(nobody_listens, table=kept, recipe=recipe, first=0)
    assert "Nothing was released" in found["fault"][0]
    assert [(one["kind"], one["column"]) for one in found["remarks"]] == [("derived", "double")]


def test_what_a_way_out_costs_is_measured_on_the_same_rows(stored):
    base = {
        "k": 5,
        "quasi_identifiers": QUASI,
        "method": "mondrian",
        "identifiers": ["name"],
        "sensitive": ["diagnosis"],
    }
    impossible = base | {"models": [{"model": "l-diversity", "l": 90}]}
    found = prices(nobody_listens, table=stored, recipes={"": base, "way": base | {"k": 20}, "no": impossible})
    assert found[""]["k"] >= 5
    assert found["way"]["k"] >= 20
    assert found["way"]["kept"] < found[""]["kept"]
    assert found["no"] == {}


def test_a_way_out_is_told_with_its_price_taken_by_a_click_and_taken_back(tabs):
    page = tabs.open_people()
    page.click("#to-protect")
    page.fill("#k-other", "2")
    page.press("#k-other", "Enter")
    way = page.locator("#live .ways li", has_text="raise k to 4")
    way.locator(".price").wait_for()
    assert re.search(r"k = 4, detail kept [\d.]+ % instead of [\d.]+ %", way.inner_text())
    way.locator("button").click()
    page.wait_for_selector('#k-other[value="4"]')
    page.click("#undo")
    page.wait_for_selector('#k-other[value="2"]')


def test_the_stop_of_a_search_is_not_seen_before_there_is_something_to_take(tabs):
    page = tabs.open_people()
    page.click("#to-protect")
    page.wait_for_selector("#k-20")
    page.evaluate("document.getElementById('job-protect').hidden = false")
    assert page.is_visible("#cancel-protect")
    assert page.is_hidden("#stop-protect")


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (0.94, "k stays 10, detail kept 91 % instead of 94 %"),
        (0.962, "k stays 10, detail kept about 93 % instead of 96 %"),  # measured on fewer rows than are shown
        (None, "k stays 10, detail kept 91 %"),
    ],
)
def test_a_price_starts_from_the_detail_that_is_shown(shown, words):
    prices = {"": {"k": 10, "kept": 0.94}, "way": {"k": 10, "kept": 0.91}, "no": {}}
    assert price_words(prices, "way", None if shown is None else {"kept": shown}) == words
    assert price_words(prices, "no", {"kept": 0.94}) == "gives no release"
    assert price_words({"": {"k": 10, "kept": 0.94}}, "way", {"kept": 0.94}) == ""
    assert price_words({"": {}, "way": {"k": 20, "kept": 0.5}}, "way", None) == "k = 20, detail kept 50 %"
