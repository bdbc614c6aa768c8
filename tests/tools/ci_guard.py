"""Where CI is true, a test must not be skipped for want of data or of a component: it fails.

A skip that is meant, because the test has no sense where it stands, gives a reason that begins with
"does not apply".
"""

from __future__ import annotations

import os

import pytest

MEANT = "does not apply"


def in_ci():
    return os.environ.get("CI", "").lower() in {"1", "true", "yes"}


def _fail_if_skipped(report):
    if not report.skipped or hasattr(report, "wasxfail") or not in_ci():
        return report
    path, line, reason = report.longrepr
    reason = reason.removeprefix("Skipped: ")
    if not reason.startswith(MEANT):
        report.outcome = "failed"
        report.longrepr = f"{path}:{line}: skipped where nothing may be missing (CI is true): {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    return _fail_if_skipped((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    return _fail_if_skipped((yield))
