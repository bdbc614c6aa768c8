from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import shoal
from shoal.kernels import compiling

CALLEE = "from shoal.kernels.compiling import kernel\n\n@kernel()\ndef answer():\n    return {answer}\n"
CALLER = (
    "from shoal.kernels.compiling import kernel\nfrom shoal.kernels.callee import answer\n\n"
    "@kernel()\ndef ask():\n    return answer()\n"
)
PROGRAM = "from shoal.kernels.caller import ask\nprint(ask(), sum(ask.stats.cache_hits.values()))\n"


@pytest.fixture
def copied_package(tmp_path):
    """A copy of shoal with a kernel that calls a kernel of another file."""
    package = tmp_path / "copy" / "shoal"
    shutil.copytree(Path(shoal.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "kernels" / "caller.py").write_text(CALLER)
    (package / "kernels" / "callee.py").write_text(CALLEE.format(answer=1))
    return package


def ask(package, cache_folder, *, program=PROGRAM):
    """Run the caller in a fresh process; return its answer and how often the machine code came from disk."""
    settings = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    settings |= {
        "PYTHONPATH": str(package.parent),
        "SHOAL_CACHE_DIR": str(cache_folder),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    run = subprocess.run([sys.executable, "-c", program], env=settings, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    answer, hits = run.stdout.split()
    return int(answer), int(hits)


def test_a_changed_callee_in_another_file_is_never_run_from_a_stale_cache(copied_package, tmp_path):
    cache = tmp_path / "cache"
    assert ask(copied_package, cache) == (1, 0)
    assert ask(copied_package, cache) == (1, 1)
    (copied_package / "kernels" / "callee.py").write_text(CALLEE.format(answer=2))
    assert ask(copied_package, cache) == (2, 0)


def test_without_a_writable_folder_kernels_run_uncached(copied_package, tmp_path):
    occupied = tmp_path / "a file, not a folder"
    occupied.write_text("")
    assert ask(copied_package, occupied) == (1, 0)
    assert ask(copied_package, occupied) == (1, 0)


def test_kernels_run_and_are_kept_with_a_numba_of_other_inner_parts(copied_package, tmp_path):
    """As if the import of ``linking`` had failed."""
    without = "import sys; sys.modules['shoal.kernels.linking'] = None\n" + PROGRAM
    checked = without + "from shoal.kernels.compiling import linking; assert linking is None\n"
    assert ask(copied_package, tmp_path / "cache", program=checked) == (1, 0)
    assert ask(copied_package, tmp_path / "cache", program=checked) == (1, 1)


def test_the_cache_key_depends_on_names_and_texts_of_all_kernel_files(tmp_path):
    (tmp_path / "a.py").write_text("x = 1\n")
    seen = {compiling.sources_hash(tmp_path)}
    (tmp_path / "a.py").write_text("x = 2\n")
    seen.add(compiling.sources_hash(tmp_path))
    (tmp_path / "b.py").write_text("")
    seen.add(compiling.sources_hash(tmp_path))
    (tmp_path / "b.py").rename(tmp_path / "c.py")
    seen.add(compiling.sources_hash(tmp_path))
    assert len(seen) == 4


def test_the_cache_key_is_the_same_in_every_copy_of_the_same_sources(copied_package):
    (copied_package / "kernels" / "caller.py").unlink()
    (copied_package / "kernels" / "callee.py").unlink()
    assert compiling.sources_hash(copied_package / "kernels") == compiling.sources_hash()


def test_the_chosen_folder_holds_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SHOAL_CACHE_DIR", str(tmp_path / "deep" / "down"))
    folder = compiling.find_cache_folder()
    assert folder == tmp_path / "deep" / "down" / f"kernels-{compiling.sources_hash()}"
    assert folder.is_dir()


def test_a_chosen_folder_that_cannot_be_made_is_not_replaced_by_another(tmp_path, monkeypatch):
    occupied = tmp_path / "file"
    occupied.write_text("")
    monkeypatch.setenv("SHOAL_CACHE_DIR", str(occupied))
    assert compiling.find_cache_folder() is None


def test_the_home_folder_serves_where_the_cache_folder_of_the_system_cannot_be_written(tmp_path, monkeypatch):
    occupied = tmp_path / "file"
    occupied.write_text("")
    monkeypatch.delenv("SHOAL_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(occupied))
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    folder = compiling.find_cache_folder()
    assert folder is not None
    assert folder.parent == tmp_path / "home" / ".cache" / "shoal"


@pytest.mark.compiled
@pytest.mark.parametrize("chosen", [(700, 10, 10), (0, 5, 5), (50_000, 30, 40)])
def test_garbage_is_looked_for_as_before_once_a_kernel_is_compiled(chosen):
    during = []

    @compiling.kernel()
    def refused(number):
        return number.no_such_part

    def watch(*_ignored):
        during.append(gc.get_threshold())
        return original(*_ignored)

    original = refused._compiler.compile
    refused._compiler.compile = watch
    before = gc.get_threshold()
    gc.set_threshold(*chosen)
    try:
        with pytest.raises(numba.core.errors.NumbaError):
            refused(1)
        assert gc.get_threshold() == chosen
    finally:
        gc.set_threshold(*before)
    larger = tuple(map(max, chosen, (20_000, 20, 20)))
    assert during == [larger if chosen[0] else chosen]


def test_numba_settings_are_as_before_once_a_kernel_is_defined(monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", "the user's own choice")
    compiling.kernel()(lambda: 1)
    assert numba.config.CACHE_DIR == "the user's own choice"


@pytest.mark.compiled
def test_a_kernel_said_to_make_no_array_is_refused_when_it_makes_one():
    @compiling.kernel(allocates=False)
    def make_array():
        return np.zeros(3)

    with pytest.raises(numba.core.errors.NumbaError):
        make_array()


@pytest.mark.compiled
def test_a_kernel_called_with_integers_of_any_width_is_compiled_once():
    @compiling.kernel()
    def double(number):
        return number * 2

    @compiling.kernel()
    def call(numbers):
        return double(3) + double(numbers[0]) + double(numbers.shape[0])

    assert call(np.array([2**31 - 1], np.int32)) == 6 + 2 * (2**31 - 1) + 2
    assert len(getattr(double, "inner", double).signatures) == 1
