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
from shoal.compiling import decorator, disk_cache
from shoal.compiling.folders import open_store

CALLEE = "from shoal.compiling.decorator import kernel\n\n@kernel()\ndef answer():\n    return {answer}\n"
CALLER = (
    "from shoal.compiling.decorator import kernel\nfrom shoal.kernels.callee import answer\n\n"
    "@kernel()\ndef ask():\n    return answer()\n"
)
PROGRAM = (
    "from shoal.kernels.caller import ask\nfrom shoal.compiling.disk_cache import COUNTS\n"
    "print(ask(), COUNTS.loaded.count('caller.ask'))\n"
)


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


def test_kernels_run_with_a_numba_that_lacks_inner_parts(copied_package, tmp_path):
    """As if the import of ``linking`` had failed: nothing is kept, all is left to numba."""
    without = "import sys; sys.modules['shoal.compiling.linking'] = None\n" + PROGRAM
    checked = without + "from shoal.compiling.decorator import linking; assert linking is None\n"
    assert ask(copied_package, tmp_path / "cache", program=checked) == (1, 0)


BROKEN = {
    "fails": "linking.InnerLowering.run_pass = None\n",
    "cannot be packed": "linking.pack_outer = None\n",
    "answers wrongly": "linking.unpack_outer = lambda *_: type('', (), {'entry_point': lambda _, n: __import__('numpy').zeros(n)})()\n",
}


@pytest.mark.parametrize("fault", BROKEN)
def test_kernels_run_with_a_numba_whose_inner_parts_behave_otherwise(copied_package, tmp_path, fault):
    checked = (
        f"from shoal.compiling import decorator, linking\n{BROKEN[fault]}{PROGRAM}assert not decorator.links()\n"
        "from shoal.kernels.caller import answer; assert type(answer.inner).__name__ == 'CPUDispatcher'\n"
    )
    assert ask(copied_package, tmp_path / "cache", program=checked) == (1, 0)


def test_linking_is_switched_off_by_the_environment_and_kernels_are_kept_all_the_same(
    copied_package, tmp_path, monkeypatch
):
    monkeypatch.setenv("SHOAL_LINKING", "0")
    checked = PROGRAM + "from shoal.compiling import decorator; assert not decorator.links()\n"
    assert ask(copied_package, tmp_path / "cache", program=checked) == (1, 0)
    assert ask(copied_package, tmp_path / "cache", program=checked) == (1, 1)
    monkeypatch.delenv("SHOAL_LINKING")
    assert ask(copied_package, tmp_path / "cache") == (1, 0), "linked code is not taken for plain code"


@pytest.mark.parametrize("cut", [0, 40, -1], ids=["emptied", "cut", "one byte short"])
def test_a_damaged_kernel_is_compiled_anew(copied_package, tmp_path, cut):
    cache = tmp_path / "cache"
    assert ask(copied_package, cache) == (1, 0)
    for path in cache.rglob("*.kernel"):
        path.write_bytes(path.read_bytes()[:cut])
    assert ask(copied_package, cache) == (1, 0)
    assert ask(copied_package, cache) == (1, 1)


def test_a_kernel_that_cannot_be_made_from_a_sound_file_is_compiled_anew(copied_package, tmp_path):
    cache = tmp_path / "cache"
    assert ask(copied_package, cache) == (1, 0)
    broken = (
        "from shoal.compiling import linking\n"
        "def refuse(*_): raise RuntimeError\n"
        f"linking.unpack_outer = refuse\nfrom shoal.compiling import decorator; decorator.links = lambda: True\n{PROGRAM}"
    )
    assert ask(copied_package, cache, program=broken) == (1, 0)


def test_a_kept_kernel_that_makes_arrays_is_found_without_the_modules_numba_compiles_with(copied_package, tmp_path):
    (copied_package / "kernels" / "caller.py").write_text(
        "import numpy as np\nfrom shoal.compiling.decorator import kernel\n\n"
        "@kernel()\ndef ask():\n    return np.zeros(3, np.int32), np.full(2, 1.5)\n"
    )
    program = (
        "import sys\nfrom shoal.kernels.caller import ask\nfrom shoal.compiling.disk_cache import COUNTS\n"
        "zeros, halves = ask()\nassert zeros.dtype == 'int32' and halves.tolist() == [1.5, 1.5]\n"
        "print(int('numba.np.arrayobj' in sys.modules), COUNTS.loaded.count('caller.ask'))\n"
    )
    assert ask(copied_package, tmp_path / "cache", program=program) == (1, 0)
    assert ask(copied_package, tmp_path / "cache", program=program) == (0, 1)


@pytest.mark.compiled
@pytest.mark.parametrize("chosen", [(700, 10, 10), (0, 5, 5), (50_000, 30, 40)])
def test_garbage_is_looked_for_as_before_once_a_kernel_is_compiled(chosen):
    during = []

    @decorator.kernel()
    def refused(number):
        return number.no_such_part

    def watch(*_ignored):
        during.append(gc.get_threshold())
        return original(*_ignored)

    original = refused.outer._compiler.compile
    refused.outer._compiler.compile = watch
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


@pytest.mark.compiled
def test_a_kernel_of_another_package_is_compiled_and_not_kept(tmp_path, monkeypatch):
    """Its source is not part of the hash under which kernels are kept."""
    monkeypatch.setattr(disk_cache, "own_store", lambda: open_store(tmp_path))

    @decorator.kernel()
    def double(number):
        return number * 2

    assert double(4) == 8
    assert not any(tmp_path.iterdir())


@pytest.mark.compiled
def test_a_kernel_said_to_make_no_array_is_refused_when_it_makes_one():
    @decorator.kernel(allocates=False)
    def make_array():
        return np.zeros(3)

    with pytest.raises(numba.core.errors.NumbaError):
        make_array()


@pytest.mark.compiled
def test_a_kernel_called_with_integers_of_any_width_is_compiled_once():
    @decorator.kernel()
    def double(number):
        return number * 2

    @decorator.kernel()
    def call(numbers):
        return double(3) + double(numbers[0]) + double(numbers.shape[0])

    assert call(np.array([2**31 - 1], np.int32)) == 6 + 2 * (2**31 - 1) + 2
    assert len(double.inner.overloads) == 1
