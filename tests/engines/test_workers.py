"""Answers of worker processes, however long they are."""

from __future__ import annotations

import os
import signal
import threading
from concurrent.futures import Future

import pytest

from shoal.engines.stream import workers
from shoal.engines.stream.workers import Workers
from shoal.errors import FileError

LONG = 100_000


def repeat(setting, text, times):
    return setting + text * times


def stay(_):
    threading.Thread(target=threading.Event().wait).start()  # a process that is asked to end waits for it


def die(_):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("number", [1, 2])
def test_answers_come_in_order_whatever_their_length_and_leave_no_file(tmp_path, number):
    calls = [("ab", 1), ("cd", LONG), ("ef", 2), ("gh", LONG)]
    with Workers(number, tmp_path, None) as pool:
        pool.tell("> ")
        assert list(pool.run(repeat, calls)) == ["> " + text * times for text, times in calls]
    assert not list(tmp_path.glob("answer-*"))


def test_only_what_a_pipe_takes_in_one_step_goes_through_it(tmp_path):
    """Otherwise a worker killed amid its answer leaves the parent waiting for the rest of it, for ever."""
    told = tmp_path / "setting-1"
    told.write_bytes(workers.pickle.dumps("> "))
    short = workers._work(told, repeat, ("ab", 1), tmp_path / "answer-1")
    long = workers._work(told, repeat, ("ab", LONG), tmp_path / "answer-2")
    assert isinstance(short, bytes)
    assert long == tmp_path / "answer-2"
    assert len(workers.pickle.dumps(long)) < workers._AT_ONCE
    assert long.stat().st_mode & 0o077 == 0


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="does not apply: this system has no such signal")
def test_a_killed_worker_is_told_in_a_sentence(tmp_path):
    with Workers(2, tmp_path, None) as pool:
        pool.tell("> ")
        with pytest.raises(FileError, match="A worker process ended before its work was done"):
            list(pool.run(die, [()]))


def test_the_end_does_not_wait_for_workers_that_cannot_end_by_themselves(tmp_path):
    """So it is with those whose fellow was killed holding the lock of the queue."""
    with Workers(2, tmp_path, None) as pool:
        pool.tell("> ")
        assert list(pool.run(stay, [(), ()])) == [None, None]
        processes = list(pool.pool._processes.values())
    assert not any(one.is_alive() for one in processes)


def test_a_task_that_a_broken_pool_never_answers_is_not_waited_for(tmp_path):
    with Workers(2, tmp_path, None) as pool:
        pool.pool._broken = "A child process terminated abruptly"
        with pytest.raises(workers.BrokenProcessPool):
            pool._result([Future()])
