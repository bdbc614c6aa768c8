from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SKIPS = {
    "a mark": "import pytest\n@pytest.mark.skip(reason='no data')\ndef test_it(): pass\n",
    "a call": "import pytest\ndef test_it(): pytest.skip('no data')\n",
    "a fixture": "import pytest\n@pytest.fixture\ndef data(): pytest.skip('no data')\ndef test_it(data): pass\n",
    "a missing module": "import pytest\nabsent = pytest.importorskip('no_data')\ndef test_it(): pass\n",
}
MEANT = "import pytest\ndef test_it(): pytest.skip('does not apply to one thread')\n"
EXPECTED_FAILURE = "import pytest\n@pytest.mark.xfail(reason='no data')\ndef test_it(): assert False\n"


def run_tests(folder, text, ci):
    """Run ``text`` as a test file under the guard; return the exit code and what was printed."""
    (folder / "test_it.py").write_text(text)
    settings = {key: value for key, value in os.environ.items() if not key.startswith(("CI", "PYTEST_"))}
    settings |= {"PYTHONPATH": str(ROOT)} | ({} if ci is None else {"CI": ci})
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.ci_guard", "-p", "no:cacheprovider", "test_it.py"]
    run = subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True, check=False)
    return run.returncode, run.stdout


@pytest.mark.parametrize("way", SKIPS)
def test_in_ci_a_skip_for_want_of_something_fails_with_its_reason(way, tmp_path):
    code, printed = run_tests(tmp_path, SKIPS[way], "true")
    assert code != 0
    assert "nothing may be missing" in printed
    assert "no data" in printed or "no_data" in printed


@pytest.mark.parametrize("ci", [None, "", "false"])
def test_elsewhere_a_skip_is_a_skip(ci, tmp_path):
    code, printed = run_tests(tmp_path, SKIPS["a call"], ci)
    assert code == 0
    assert "1 skipped" in printed


def test_in_ci_a_skip_that_is_meant_stays_one(tmp_path):
    code, printed = run_tests(tmp_path, MEANT, "true")
    assert code == 0
    assert "1 skipped" in printed


def test_in_ci_an_expected_failure_stays_one(tmp_path):
    code, printed = run_tests(tmp_path, EXPECTED_FAILURE, "true")
    assert code == 0
    assert "1 xfailed" in printed


def test_the_guard_is_on_in_this_very_run(request):
    hooks = request.config.pluginmanager.hook.pytest_runtest_makereport.get_hookimpls()
    assert "tests.ci_guard" in {hook.function.__module__ for hook in hooks}
