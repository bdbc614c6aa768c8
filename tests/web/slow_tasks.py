"""Tasks for the tests of the worker process."""

from __future__ import annotations

import os
import signal
import threading

from shoal.errors import DataError
from shoal.web.jobs.releasing import publish
from shoal.web.jobs.worker import stoppable


def answer(tell, *, value):
    tell("progress", (0.5, "half"))
    tell("part", value)
    return value * 2


def wait_for_ever(tell):
    tell("progress", (0.1, "waiting"))
    threading.Event().wait()


def wait_for_stop(tell):
    with stoppable() as stop:
        tell("progress", (0.1, "waiting"))
        stop.wait()
        return "the best so far"


def die(tell):
    os.kill(os.getpid(), signal.SIGKILL)


def fail(tell):
    raise DataError("The table is wrong.", hint="mend it.")


def leak(tell):
    raise ValueError("secret cell 40213")


def publish_slowly(tell, **given):
    """Write a release, and wait once its rows are in a file without a name."""

    def wait(what, value):
        tell(what, value)
        if value[1] == "writing the report":
            threading.Event().wait()

    return publish(wait, **given)
