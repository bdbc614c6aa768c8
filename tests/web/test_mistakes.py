"""What people do wrong: each mistake is told in a sentence, and every step still answers."""

from __future__ import annotations

import shutil
import subprocess
from types import SimpleNamespace

import pytest

from shoal.errors import ParameterError
from shoal.web.draft import Draft
from shoal.web.jobs.worker import Order
from shoal.web.jobs.worker_queue import Job
from shoal.web.routes.columns import whom_they_single_out
from shoal.web.routes.publish import Targets, publish
from shoal.web.session import Session
from shoal.web.workshop import Workshop
from tests.web.conftest import run, serving
from tests.web.hands import using


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("tables")
    (home / "one-column.csv").write_text("age\n" + "".join(f"{20 + row % 9}\n" for row in range(60)))
    (home / "one-row.csv").write_text("age,sex\n30,F\n")
    (home / "few.csv").write_text("age,sex\n" + "30,F\n40,M\n" * 3)
    (home / "names.csv").write_text("id,email\n" + "".join(f"{row},p{row}@x.org\n" for row in range(40)))
    (home / "picture.csv").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)))
    return home


def test_a_picture_is_no_table(hands):
    assert hands.open("picture.csv").startswith("The file 'picture.csv' is not text")
    assert set(hands.statuses()) == {200}


def test_a_table_of_one_row_hides_nobody(hands):
    assert hands.open("one-row.csv") == "done"
    assert hands.post("protect/make") == "Nobody can hide among 10: the table has 1 row. take a smaller k."
    assert hands.post("compare/start", ks="2, 5", methods=["mondrian"]).startswith(
        "Nobody can hide: the table has 1 row"
    )
    assert set(hands.statuses()) == {200}


def test_k_is_not_larger_than_the_table(hands):
    assert hands.open("few.csv") == "done"
    assert hands.post("protect/k", k=7) == "Nobody can hide among 7: the table has 6 rows. take a smaller k."
    assert hands.post("protect/make") == "Nobody can hide among 10: the table has 6 rows. take a smaller k."
    assert set(hands.statuses()) == {200}


def test_a_table_of_names_alone_has_nothing_to_hide_among(hands):
    assert hands.open("names.csv") == "done"
    assert hands.post("protect/make").startswith("No column is a quasi-identifier yet.")
    assert set(hands.statuses()) == {200}


@pytest.mark.compiled
def test_a_table_of_one_column_goes_the_whole_way(hands, folder):
    assert hands.open("one-column.csv") == "done"
    assert hands.make(5) == "done"
    assert set(hands.statuses()) == {200}
    names = {"release": "one.csv", "report": "one.html", "recipe": "one.toml"}
    read = list(range(hands.show("publish").count('name="read"')))
    assert hands.post("publish", **names, number=1, read=read) == "done"
    again = hands.post("publish", **names, number=1, read=read)
    assert again == "The target 'one.csv' exists and is left as it is. tick “replace”, or take another name."
    assert hands.post("publish", **names, number=1, read=read, replace=True) == "done"
    assert {"one.csv", "one.html", "one.toml"} <= {path.name for path in folder.iterdir()}


def test_of_two_tabs_that_publish_at_once_the_second_is_told(tmp_path, monkeypatch):
    session = Workshop(tmp_path, tmp_path).newest
    monkeypatch.setattr(Session, "need_release", lambda _, __: SimpleNamespace(summary={"warnings": []}, folder=""))
    monkeypatch.setattr(Session, "need_table", lambda _: SimpleNamespace(stored=None))
    session.jobs["publish"] = Job("publish", Order(1, "publish", {}), state="running")
    with pytest.raises(ParameterError, match="The files are being written already"):
        run(publish(Targets(release="r.csv", report="r.html", recipe="r.toml", number=1), session))


@pytest.mark.parametrize(("unique", "worst"), [(3, "age"), (0, None)])
def test_no_column_is_blamed_where_nobody_is_alone(tmp_path, monkeypatch, unique, worst):
    counted = {"people": 9, "unique": unique, "without": {"age": 0, "sex": 0}, "sets": None, "alone": None}
    monkeypatch.setattr(Session, "people_now", lambda _: counted)
    session = Workshop(tmp_path, tmp_path, Draft().change(quasi_identifiers=["age", "sex"])).newest
    assert whom_they_single_out(session)["worst"] == worst


@pytest.mark.compiled
def test_cancelling_what_is_over_changes_nothing(hands):
    hands.open("one-column.csv")
    assert hands.make(7) == "done"
    for _ in range(2):
        assert hands.post("jobs/protect/cancel") == "done"
    assert 'id="pairs"' in hands.show("look")


@pytest.mark.compiled
def test_a_folder_nobody_may_write_into_is_told(tmp_path):
    (tmp_path / "people.csv").write_text("age\n" + "".join(f"{20 + row % 9}\n" for row in range(60)))
    locking = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'
    locked = ("unshare", "--map-root-user", "--mount", "sh", "-c", locking, str(tmp_path))
    if (
        shutil.which("unshare") is None
        or subprocess.run([*locked, "true"], capture_output=True, check=False).returncode
    ):
        pytest.skip("no folder can be locked here; that needs a mount of one's own")
    with serving(tmp_path, prefix=locked) as (_, address), using(address) as hands:
        assert hands.open("people.csv") == "done"
        assert hands.make(5) == "done"
        read = list(range(hands.show("publish").count('name="read"')))
        told = hands.post("publish", release="r.csv", report="r.html", recipe="r.toml", read=read, number=1)
        assert told == "The folder of the target 'r.csv' may not be written. choose another."
        assert set(hands.statuses()) == {200}
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


@pytest.mark.parametrize("name", ["..", ".", "%00", "a%00b.csv", "a%0Ab.csv"])
def test_a_dropped_file_with_a_name_that_no_file_can_have_is_refused(hands, name):
    headers = {"x-file-name": name, "x-shoal-edition": hands.edition()}
    told = hands.client.post(f"{hands.home}open/drop", content=b"a\n1\n", headers=headers)
    assert (told.status_code, told.json()["refused"]["message"][:20]) == (200, "The file has no name")


@pytest.mark.parametrize(
    "text",
    ["a = " + "[" * 5000 + "]" * 5000, "k = " + "9" * 5000, 'k = 5\nquasi_identifiers = ["age"]\n[[models]]\nk = 3\n'],
    ids=["deep", "huge", "nameless model"],
)
def test_an_odd_recipe_is_refused_in_a_sentence(hands, text):
    headers = {"x-shoal-edition": hands.edition()}
    told = hands.client.post(f"{hands.home}history/load", json={"text": text}, headers=headers)
    assert told.status_code == 200
    assert told.json()["refused"]["message"].endswith(".")
