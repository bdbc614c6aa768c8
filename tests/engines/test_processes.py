"""Scripts that stream a table: what the worker processes see of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as papq
import pytest

pytestmark = pytest.mark.compiled

PLAIN = """
import shoal
print("begun", flush=True)
shoal.Anonymizer(k=3, quasi_identifiers=["age"], sensitive=["ill"], method="mondrian").stream("people.parquet", "release.parquet", workers=2)
"""
WITH_A_MODEL = """
from dataclasses import dataclass
import shoal

@dataclass(frozen=True)
class Harmless(shoal.LDiversity):
    pass

if __name__ == "__main__":
    print("begun", flush=True)
    shoal.Anonymizer(
        k=3, quasi_identifiers=["age"], sensitive=["ill"], method="mondrian", models=[Harmless(2)]
    ).stream("people.parquet", "release.parquet", workers=2)
"""


def run(folder, script):
    papq.write_table(pa.table({"age": list(range(60)), "ill": list("abc") * 20}), folder / "people.parquet")
    (folder / "script.py").write_text(script, "utf-8")
    return subprocess.run([sys.executable, "script.py"], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("script", [PLAIN, WITH_A_MODEL], ids=["without a guard", "with a model of its own"])
def test_a_script_runs_once_and_its_release_is_there(tmp_path: Path, script):
    done = run(tmp_path, script)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("begun") == 1
    assert papq.read_table(tmp_path / "release.parquet").num_rows == 60
