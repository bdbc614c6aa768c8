"""Jobs in a worker process: progress, cancel, a killed worker, the newest instead of the older."""

from __future__ import annotations

import threading

import pytest

from shoal.compare import Point
from shoal.web.jobs import worker_queue as queue_module
from shoal.web.jobs.comparing import seconds_left
from shoal.web.jobs.worker import Order
from shoal.web.jobs.worker_queue import DIED, Job, JobError, WorkerQueue

PATIENCE = 120


class Heard:
    """Collects what a queue tells, and waits for a state."""

    def __init__(self):
        self.changed = threading.Condition()
        self.states = []

    def __call__(self, job):
        with self.changed:
            self.states.append((job.order.number, job.state, job.text))
            self.changed.notify_all()

    def wait(self, job, state, text=""):
        with self.changed:
            assert self.changed.wait_for(lambda: (job.order.number, state, text) in self.states, PATIENCE)


@pytest.fixture
def heard():
    return Heard()


@pytest.fixture(params=[True, False], ids=["ends the older", "lets the older end"])
def queue(request, heard):
    made = WorkerQueue(heard, ends_older=request.param, tasks="tests.web.slow_tasks")
    yield made
    made.close()


@pytest.fixture
def search(heard):
    made = WorkerQueue(heard, ends_older=True, tasks="tests.web.slow_tasks")
    yield made
    made.close()


def test_a_job_tells_its_progress_and_its_parts_and_its_result(queue, heard):
    parts = []
    job = queue.submit("any", "answer", parts.append, value=21)
    assert job.future.result(PATIENCE) == 42
    assert parts == [21]
    assert (job.state, job.share) == ("done", 1.0)
    assert (job.order.number, "running", "half") in heard.states


def test_a_cancelled_job_ends_at_once_and_the_next_one_runs(queue, heard):
    job = queue.submit("long", "wait_for_ever")
    heard.wait(job, "running", "waiting")
    queue.cancel(job)
    assert job.state == "cancelled"
    with pytest.raises(JobError, match="cancelled"):
        job.future.result(0)
    assert queue.submit("any", "answer", value=1).future.result(PATIENCE) == 2


def test_a_worker_that_dies_gives_a_sentence_and_the_next_job_a_fresh_worker(queue):
    with pytest.raises(JobError, match="has ended") as told:
        queue.submit("any", "die").future.result(PATIENCE)
    assert (told.value.message, told.value.hint) == DIED
    assert queue.submit("any", "answer", value=3).future.result(PATIENCE) == 6


def test_an_error_of_the_library_keeps_its_words(search):
    with pytest.raises(JobError, match=r"The table is wrong\.") as told:
        search.submit("any", "fail").future.result(PATIENCE)
    assert told.value.hint == "mend it."


def test_a_foreign_error_never_tells_its_text(search):
    with pytest.raises(JobError, match="an internal error") as told:
        search.submit("any", "leak").future.result(PATIENCE)
    assert "40213" not in str(told.value)


def test_a_newer_job_of_the_kind_takes_the_place_of_one_that_runs(search, heard):
    older = search.submit("protect", "wait_for_ever")
    heard.wait(older, "running", "waiting")
    newer = search.submit("protect", "answer", value=5)
    assert older.state == "cancelled"
    assert newer.future.result(PATIENCE) == 10


def test_a_newer_job_of_the_kind_takes_the_place_of_one_that_waits(search, heard):
    running = search.submit("compare", "wait_for_ever")
    heard.wait(running, "running", "waiting")
    older = search.submit("protect", "answer", value=1)
    newer = search.submit("protect", "answer", value=2)
    assert older.state == "cancelled"
    search.cancel(running)
    assert newer.future.result(PATIENCE) == 4


def test_the_time_left_is_a_guess_by_the_share_unless_the_task_says_it(monkeypatch):
    monkeypatch.setattr(queue_module.time, "monotonic", lambda: 30.0)
    job = Job("kind", Order(1, "task", {}), state="running", share=0.25, started=10.0)
    assert job.seconds_left == 60.0
    job.told_left = (5.0,)
    assert job.seconds_left == 5.0
    job.told_left = (None,)
    assert job.seconds_left is None


def test_a_comparison_says_what_is_left_by_what_each_method_took():
    made = [
        Point("quick", None, 2, 100, sampled=False, seconds=0.5),
        Point("quick", None, 5, 100, sampled=False, seconds=0.1),
    ]
    assert seconds_left(made, ["quick", "slow"], 3) is None  # of the slow one nothing is known
    made.append(Point("slow", None, 2, 100, sampled=False, seconds=20.0))
    assert seconds_left(made, ["quick", "slow"], 3) == pytest.approx(0.3 + 40)


def test_a_search_can_be_stopped_to_take_what_it_has(search, heard):
    job = search.submit("protect", "wait_for_stop")
    heard.wait(job, "running", "waiting")
    search.stop(job)
    assert job.future.result(PATIENCE) == "the best so far"
    assert search.submit("protect", "answer", value=1).future.result(PATIENCE) == 2
