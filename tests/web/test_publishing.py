"""Writing a release from the web interface: the bar moves with the work, and nothing has its name before all is counted."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

import shoal
from shoal.frames import Frame
from shoal.web.jobs.releasing import make_release, publish
from shoal.web.jobs.worker_queue import WorkerQueue
from shoal.web.routes.publish import clear_after
from shoal.web.stored import store
from tests.web.conftest import write_people

pytestmark = pytest.mark.compiled

RECIPE = {
    "k": 5,
    "quasi_identifiers": ["age", "sex", "zip", "job"],
    "sensitive": ["diagnosis"],
    "identifiers": ["name"],
    "method": "mondrian",
}


@pytest.fixture
def made(tmp_path):
    """Return what a publication of a small release needs."""
    table = store(Frame(shoal.read_table(write_people(tmp_path / "people.csv"))), tmp_path / "people.arrow")
    folder = str(tmp_path / "made")
    told = make_release(lambda *_: None, table=table, recipe=RECIPE, folder=folder)
    endings = {"release": "out.csv", "report": "out.html", "recipe": "out.toml"}
    return {
        "table": table,
        "folder": folder,
        "targets": {what: str(tmp_path / name) for what, name in endings.items()},
        "place": {},
        "inputs": [],
        "own": [],
        "recipe_made": RECIPE,
        "summary": told["summary"],
        "force": False,
    }


def test_the_bar_tells_of_writing_reading_back_and_counting_and_never_goes_back(made):
    told = []
    counted = publish(lambda what, value: told.append((what, *value)), **made)
    assert {what for what, *_ in told} == {"progress"}
    shares = [share for _, share, _ in told]
    assert shares == sorted(set(shares))
    assert shares[-1] < 1
    words = [text for *_, text in told]
    for before, after in (
        ("writing the rows", "reading the file back"),
        ("reading the file back", "counting it again"),
    ):
        assert words.index(before) < words.index(after)
    assert (counted["k"] >= 5, counted["records"]) == (True, 300)


def test_whatever_ends_the_work_before_the_last_step_leaves_no_file(made, tmp_path):
    def cancel(_, value):
        if value[1] == "giving the files their names":
            raise KeyboardInterrupt

    before = sorted(one.name for one in tmp_path.iterdir())
    with pytest.raises(KeyboardInterrupt):
        publish(cancel, **made)
    assert sorted(one.name for one in tmp_path.iterdir()) == before


def test_the_report_tells_what_the_page_told_of_the_release(made):
    made["targets"]["report"] = made["targets"]["report"].replace(".html", ".json")
    publish(lambda *_: None, **made)
    assert json.loads(Path(made["targets"]["report"]).read_text("utf-8")) == made["summary"]


def test_cancelling_ends_the_writing_at_once_and_leaves_no_file(made, tmp_path):
    def names():
        return sorted(one.name for one in tmp_path.iterdir())

    before, reached = names(), threading.Event()
    watch = lambda job: reached.set() if job.text == "writing the report" else None  # noqa: E731
    queue = WorkerQueue(watch, ends_older=False, tasks="tests.web.slow_tasks")
    try:
        job = queue.submit("publish", "publish_slowly", **made)
        clear_after(job, made["targets"].values())
        reached.wait()
        assert names() != before  # the rows are in a hidden folder
        queue.cancel(job)
        assert job.state == "cancelled"
        assert names() == before
    finally:
        queue.close()
