from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
SKIPS = {
    "mark": "import pytest\n@pytest.mark.skip(reason='no data for a mark')\ndef test_it(): pass\n",
    "call": "import pytest\ndef test_it(): pytest.skip('no data for a call')\n",
    "fixture": "import pytest\n@pytest.fixture\ndef data(): pytest.skip('no data for a fixture')\ndef test_it(data): pass\n",
    "module": "import pytest\nabsent = pytest.importorskip('no_such_module')\ndef test_it(): pass\n",
}
ALLOWED = {
    "meant": "import pytest\ndef test_it(): pytest.skip('does not apply to one thread')\n",
    "expected": "import pytest\n@pytest.mark.xfail(reason='no data')\ndef test_it(): assert False\n",
}


def run_tests(folder, texts, ci):
    """Run ``texts`` as test files under the guard; return the exit code and what was printed."""
    for name, text in texts.items():
        (folder / f"test_{name}.py").write_text(text)
    settings = {key: value for key, value in os.environ.items() if not key.startswith(("CI", "PYTEST_"))}
    settings |= {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "CI": ci}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.tools.ci_guard", "--continue-on-collection-errors"]
    run = subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True, check=False)
    return run.returncode, run.stdout


def test_in_ci_every_way_to_skip_for_want_of_something_fails_with_its_reason(tmp_path):
    code, printed = run_tests(tmp_path, SKIPS, "true")
    assert code == 1
    assert "skipped" not in printed.splitlines()[-1]
    for reason in ("no data for a mark", "no data for a call", "no data for a fixture", "'no_such_module'"):
        assert re.search(f"nothing may be missing.*{reason}", printed)


@pytest.mark.parametrize("ci", ["", "false"])
def test_elsewhere_a_skip_is_a_skip(ci, tmp_path):
    code, printed = run_tests(tmp_path, SKIPS, ci)
    assert code == 0
    assert "4 skipped" in printed.splitlines()[-1]


def test_in_ci_a_skip_that_is_meant_and_an_expected_failure_stay_what_they_are(tmp_path):
    code, printed = run_tests(tmp_path, ALLOWED, "true")
    assert code == 0
    assert "1 skipped, 1 xfailed" in printed.splitlines()[-1]


def test_the_guard_is_on_in_this_very_run(request):
    hooks = request.config.pluginmanager.hook.pytest_runtest_makereport.get_hookimpls()
    assert "tests.tools.ci_guard" in {hook.function.__module__ for hook in hooks}
