"""The whole way in a network namespace that has no way out: the page needs nothing from anywhere."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.compiled

ALONE = ["unshare", "--map-root-user", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]


@pytest.fixture
def alone():
    """Return what starts a command with no network but the machine's own."""
    if not (shutil.which("unshare") and shutil.which("ip")) or subprocess.run([*ALONE, "true"], check=False).returncode:
        pytest.skip("does not apply: this system lets no user make a network namespace")
    return ALONE


def test_the_whole_way_needs_no_network(alone):
    way = Path(__file__).parent / "test_whole_way.py"
    no_way_out = "import socket; socket.create_connection(('192.0.2.1', 80), 5)"
    assert subprocess.run([*alone, sys.executable, "-c", no_way_out], capture_output=True, check=False).returncode
    told = subprocess.run(
        [*alone, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(way)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stdout
    assert "1 passed" in told.stdout
