"""Folders that do not outlive the process that made them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from shoal.io import folder_guard
from shoal.io.folder_guard import Watch, open_address, remove_for_good

OWNER = """
import sys, time
from shoal.io.folder_guard import Watch
watch = Watch(sys.argv[1])
if sys.argv[2] == "end":
    watch.end()
    sys.exit()
print("watched", flush=True)
time.sleep(600)
"""


def start(folder, what):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", OWNER, str(folder), what]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def goes(folder):
    """Wait until a folder is gone; a folder that stays makes the test end by its own limit."""
    while folder.exists():
        time.sleep(0.05)
    return True


@pytest.mark.timeout(300)
def test_a_folder_goes_when_its_owner_is_killed(tmp_path):
    folder = tmp_path / "staged"
    (folder / "rows").mkdir(parents=True)
    owner = start(folder, "wait")
    assert owner.stdout.readline() == "watched\n"
    assert folder.exists()
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    owner.stdout.close()
    assert goes(folder)


def test_a_folder_stays_when_its_owner_says_so(tmp_path):
    folder = tmp_path / "kept"
    folder.mkdir()
    owner = start(folder, "end")  # ends after its watcher has ended
    owner.wait()
    owner.stdout.close()
    assert folder.exists()


def test_a_watcher_removes_a_folder_at_once_when_told_to(tmp_path):
    folder = tmp_path / "staged"
    (folder / "rows").mkdir(parents=True)
    watch = Watch(str(folder))
    watch.remove()
    assert not folder.exists()
    assert watch._process.returncode == 0
    folder.mkdir()
    watch.end()  # both are over: nobody watches any more
    watch.remove()
    assert folder.exists()


def test_a_folder_that_is_made_again_is_removed_again(tmp_path, monkeypatch):
    folder, looks = tmp_path / "staged", []

    def sleep(_):
        looks.append(folder.exists())
        if len(looks) in (1, 3):
            folder.mkdir()  # as a task does that has not heard yet

    folder.mkdir()
    monkeypatch.setattr(folder_guard.time, "sleep", sleep)
    remove_for_good(str(folder))
    assert not folder.exists()
    assert not any(looks)
    assert len(looks) > 8


@pytest.mark.parametrize(
    ("address", "path"), [("plain", "plain"), ("file:///some/folder", "/some/folder"), ("dbfs:/a/b", "/dbfs/a/b")]
)
def test_addresses_of_spark_are_understood(address, path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    expected = str(tmp_path / path) if not path.startswith("/") else path
    assert open_address(address)[1] == expected
