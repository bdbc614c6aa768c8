"""The folder for rows: readable by nobody else, gone in the end, also after a crash."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

import pytest

from shoal.errors import FileError
from shoal.web.private import private_file, private_folder


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
