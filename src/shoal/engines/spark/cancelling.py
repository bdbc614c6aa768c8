"""The end of a release that somebody cancels while Spark works on it."""

from __future__ import annotations

import contextlib
import secrets
import threading
from collections.abc import Iterator
from typing import Any

from shoal.arrays import CancelToken
from shoal.errors import CancelledError
from shoal.methods.stopping import check_cancelled

_BETWEEN = 0.2
"""Seconds between two looks at the token."""


@contextlib.contextmanager
def ends_when_cancelled(session: Any, cancel: CancelToken | None) -> Iterator[None]:
    """End the jobs that this block starts when the token is set, and raise ``CancelledError`` then."""
    check_cancelled(cancel)
    if cancel is None:
        yield
        return
    tag, done = f"shoal-{secrets.token_hex(8)}", threading.Event()
    far = "connect" in type(session).__module__  # a client of Spark Connect has no context
    jobs = session if far else session.sparkContext
    add, remove = (jobs.addTag, jobs.removeTag) if far else (jobs.addJobTag, jobs.removeJobTag)
    end = jobs.interruptTag if far else jobs.cancelJobsWithTag

    def watch() -> None:
        while not done.wait(_BETWEEN):
            if cancel.is_set():
                end(tag)  # again and again: a job that the block starts afterwards ends too

    watcher = threading.Thread(target=watch, daemon=True)
    add(tag)
    watcher.start()
    try:
        yield
    except CancelledError:
        raise
    except Exception:
        check_cancelled(cancel)
        raise
    finally:
        done.set()
        watcher.join()
        remove(tag)
