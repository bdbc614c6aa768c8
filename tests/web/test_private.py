"""The folder for rows: readable by nobody else, gone in the end, also after a crash."""

from __future__ import annotations

import contextlib
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from shoal.errors import FileError
from shoal.web.private import private_file, private_folder
from tests.web.conftest import Watched, serving, workers_of, write_people


def test_folder_and_files_are_for_their_owner_alone(tmp_path):
    with private_folder(tmp_path) as folder:
        made = private_file(folder / "rows.arrow")
        made.write_bytes(b"cells")
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
        assert stat.S_IMODE(made.stat().st_mode) == 0o600


def test_nothing_is_left_at_the_end_also_after_an_error(tmp_path):
    seen = []

    def crash():
        with private_folder(tmp_path) as folder:
            seen.append(private_file(folder / "rows.arrow"))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        crash()
    assert not seen[0].parent.exists()


def test_what_a_crash_left_is_removed_by_the_next_start(tmp_path):
    text = (
        "import os, pathlib, sys; from shoal.web.private import private_folder\n"
        "with private_folder(pathlib.Path(sys.argv[1])) as folder:\n"
        "    (folder / 'rows.arrow').write_text('cells'); print(folder, flush=True); os._exit(9)\n"
    )
    left = subprocess.run(
        [sys.executable, "-c", text, str(tmp_path)], capture_output=True, text=True, check=False
    ).stdout.strip()
    assert os.path.exists(left)  # noqa: PTH110
    with private_folder(tmp_path):
        assert not os.path.exists(left)  # noqa: PTH110


def test_the_folder_of_another_server_that_runs_is_left_alone(tmp_path):
    with private_folder(tmp_path) as first:
        with private_folder(tmp_path) as second:
            assert first.exists()
            assert first != second
        assert first.exists()


def test_a_home_that_others_may_enter_is_refused(tmp_path):
    home = tmp_path / f"shoal-{os.getuid()}"
    home.mkdir()
    home.chmod(0o755)
    with pytest.raises(FileError, match="open to others"), private_folder(tmp_path):
        pass


def test_a_home_that_is_a_link_is_refused(tmp_path):
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / f"shoal-{os.getuid()}").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileError), private_folder(tmp_path):
        pass


@pytest.mark.compiled
def test_a_server_that_runs_keeps_rows_only_in_files_of_its_owner_and_a_crash_leaves_none_for_long(
    chromium, tmp_path, monkeypatch
):
    """The whole of it: a table, a release and a comparison; then the server is killed and another starts."""
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    (tmp_path / "tables").mkdir()
    write_people(tmp_path / "tables" / "people.csv")
    home = tmp_path / "tmp" / f"shoal-{os.getuid()}"
    with serving(tmp_path / "tables") as (server, address):
        tabs = Watched(chromium, address)
        page = tabs.open_release()
        page.goto(tabs.home + "/hierarchies?column=zip")
        page.click("#suggest")
        page.wait_for_selector(".tree")
        page.goto(tabs.home + "/compare")
        page.uncheck("#compare-optimize")
        page.fill("#ks", "2")
        page.click("#compare")
        page.wait_for_selector("#points tbody tr")
        kept = [path for path in home.rglob("*") if path.is_file()]
        assert {path.suffix for path in kept} >= {".arrow", ".pickle", ".svg", ".jsonl", ".csv"}
        assert {path.name for path in kept if stat.S_IMODE(path.stat().st_mode) != 0o600} == set()
        assert {path.name for path in home.rglob("*") if path.is_dir() and path.stat().st_mode & 0o077} == set()
        workers = workers_of(server)
        tabs.context.close()
        server.kill()
        server.wait()
    assert any(home.rglob("*.arrow"))
    with serving(tmp_path / "tables"):
        assert {path.suffix for path in home.rglob("*") if path.is_file()} == {""}  # the lock of the new one
        assert not set(workers) & set(running_workers())
    assert not any(home.iterdir())


def running_workers():
    """Return the process numbers of all workers there are, those of dead servers too."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if b"spawn_main" in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
    return found
