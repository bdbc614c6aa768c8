"""Kernels that came with the package are run where they fit, and never else."""

from __future__ import annotations

import os
import shutil

import pytest

from shoal.compiling.disk_cache import baseline, runs_baseline
from tests.compiling.test_decorator import CALLEE, PROGRAM, ask, copied_package

__all__ = ["copied_package"]
pytestmark = [
    pytest.mark.compiled,
    pytest.mark.skipif(not runs_baseline(), reason="does not apply: no kernels are shipped for this processor"),
]


@pytest.fixture
def shipped(copied_package, tmp_path, monkeypatch):
    """A copy of shoal that carries its compiled kernels, as a wheel does."""
    target = baseline()
    with monkeypatch.context() as patched:
        patched.setenv("SHOAL_CPU", target.processor)
        assert ask(copied_package, tmp_path / "build", program=FOR_ALL + PROGRAM) == (1, 0)
    folder = copied_package / "kernels" / "compiled"
    folder.mkdir(mode=0o755)
    for path in (tmp_path / "build").rglob("*.kernel"):
        if not path.name.startswith("inner-"):
            shutil.copy(path, folder)
            (folder / path.name).chmod(0o644)
    assert len(list(folder.iterdir())) == 1
    return copied_package


FOR_ALL = "import os; os.environ['NUMBA_CPU_NAME'], os.environ['NUMBA_CPU_FEATURES'] = os.environ['SHOAL_CPU'], ''\n"
NOTHING_KEPT = (
    "assert not list(__import__('pathlib').Path(__import__('os').environ['SHOAL_CACHE_DIR']).rglob('*.kernel'))\n"
)


def test_with_shipped_kernels_nothing_is_compiled_though_the_cache_is_empty(shipped, tmp_path):
    assert ask(shipped, tmp_path / "empty", program=PROGRAM + NOTHING_KEPT) == (1, 1)


def test_a_changed_source_is_never_answered_by_a_shipped_kernel(shipped, tmp_path):
    (shipped / "kernels" / "callee.py").write_text(CALLEE.format(answer=2))
    assert ask(shipped, tmp_path / "empty") == (2, 0)


FOREIGN = {
    "another numba": "disk_cache.numba.__version__ = '0.0.1'\n",
    "another LLVM": "disk_cache.llvmlite.__version__ = '0.0.1'\n",
    "another Python": "disk_cache.sys = type('', (), {'implementation': type('', (), {'cache_tag': 'cpython-39'}), 'platform': 'linux'})\n",
    "an older processor": "disk_cache.X86_64_V3 |= {'what older ones lack'}\n",
    "another kind of processor": "disk_cache.BASELINES = {}\n",
}


@pytest.mark.parametrize("stamp", FOREIGN)
def test_what_was_compiled_for_something_else_is_compiled_anew(shipped, tmp_path, stamp):
    if stamp == "an older processor" and baseline().processor != "x86-64-v3":
        pytest.skip("does not apply: every processor of this kind runs what is shipped")
    program = f"from shoal.compiling import disk_cache\n{FOREIGN[stamp]}{PROGRAM}"
    assert ask(shipped, tmp_path / "empty", program=program) == (1, 0)


@pytest.mark.skipif(os.name != "posix", reason="does not apply: the rights of others are POSIX's")
@pytest.mark.parametrize("what", ["the folder", "the file"])
def test_a_kernel_that_others_may_write_is_not_run(shipped, tmp_path, what):
    folder = shipped / "kernels" / "compiled"
    (folder if what == "the folder" else next(folder.iterdir())).chmod(0o777)
    assert ask(shipped, tmp_path / "empty") == (1, 0)


def test_a_damaged_kernel_is_compiled_anew_and_left_where_it_is(shipped, tmp_path):
    (path,) = (shipped / "kernels" / "compiled").iterdir()
    path.write_bytes(path.read_bytes()[:-1])
    assert ask(shipped, tmp_path / "empty") == (1, 0)
    assert path.exists()
