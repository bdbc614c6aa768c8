"""The campaigns that kill processes notice one that hangs, instead of waiting with it."""

from __future__ import annotations

import sys

import pytest

from tests.tools import killing
from tests.tools.killing import HangError, Served, campaign

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="does not apply: processes are found as Linux lists them"
)
SERVER = """
import subprocess, sys, threading
from tests.tools.killing import say, serve

def release(target):
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])  # it speaks through the same pipe
    say("step one")
    if target.endswith("hang"):
        wait_for_nobody()

def wait_for_nobody():
    threading.Event().wait()

serve(release)
"""


def test_a_process_that_says_nothing_is_a_hang_told_with_its_place_and_killed_with_its_children(tmp_path, monkeypatch):
    served = Served(["-c", SERVER])
    assert list(served.release(tmp_path / "good")) == ["step one", "done"]
    monkeypatch.setattr(killing, "PATIENCE", 5.0)
    steps = served.release(tmp_path / "hang")
    assert next(steps) == "step one"
    children = killing.below(served.process.pid)
    assert len(children) == 2
    with pytest.raises(HangError, match="in wait_for_nobody"):
        next(steps)
    assert not served.lives
    assert not killing.wait_while(lambda: any("3600" in killing.command(one) for one in children))
    served.end()


def test_a_process_that_is_killed_says_nothing_more_even_if_its_children_hold_the_pipe(tmp_path):
    served = Served(["-c", SERVER])
    list(served.release(tmp_path / "good"))
    orphans = killing.below(served.process.pid)
    served.process.kill()
    assert list(served.release(tmp_path / "good")) == []
    served.end()
    for one in orphans:
        assert "3600" in killing.command(one)
        killing.os.kill(one, killing.signal.SIGKILL)


def test_a_hang_is_a_violation_and_the_next_strike_comes():
    told = []

    def one(number, tally):
        tally["struck"] += 1
        if number == 0:
            raise HangError("where it stands")
        return None if number == 1 else "something left"

    assert campaign(3, told.append, one) == {"struck": 3, "hangs": 1, "violations": 2}
    assert "a hang\nwhere it stands" in told
    assert "something left" in told
