"""What a command loads, and what it leaves alone."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys
from shoal.cli.app import app
try:
    app({arguments!r}, prog_name="shoal")
except SystemExit as end:
    assert end.code == 0, end.code
print("\\nLOADED", *sorted(set(sys.modules) & {watched!r}))
"""


def loaded(watched, *arguments):
    program = PROGRAM.format(arguments=list(arguments), watched=set(watched))
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout.rpartition("LOADED")[2].split()


@pytest.fixture
def table(tmp_path):
    file = tmp_path / "people.csv"
    file.write_text("age,sex,note\n" + "".join(f"{20 + n % 7},{'fm'[n % 2]},x\n" for n in range(40)))
    return file


RARELY_NEEDED = ("pandas", "pyarrow.parquet", "ssl", "shoal.engines.stream.engine", "shoal.summary.make")


def test_a_release_loads_neither_pandas_nor_parquet_nor_what_streams_tables_or_makes_reports(table, tmp_path):
    pytest.importorskip("pandas")
    release = tmp_path / "release.csv"
    arguments = [
        "anonymize",
        str(table),
        "-k",
        "3",
        "--qi",
        "age,sex",
        "--method",
        "mondrian",
        "--others",
        "drop",
        "-o",
        str(release),
    ]
    assert loaded([*RARELY_NEEDED, "pyarrow"], *arguments) == ["pyarrow"]
    assert release.read_text().startswith('"age","sex"')


AFTERWARDS = """
from shoal.cli.starting import leave_pandas_out
leave_pandas_out()
import sys
import pyarrow as pa
pa.array(["a"])
assert "pandas" not in sys.modules
import pandas as pd
from shoal.frames import to_frame
frame = pd.DataFrame({"job": pd.Series(["nurse", "cook", None], dtype="category"), "age": [1.0, None, 3.0]})
table = to_frame(frame).table
assert table["job"].to_pylist() == ["nurse", "cook", None]
assert table["age"].null_count == 1
assert pa.types.is_dictionary(pa.Array.from_pandas(frame["job"]).type)
assert list(pa.table({"a": [1]}).to_pandas()["a"]) == [1]
"""


def test_a_frame_of_pandas_is_taken_as_ever_where_pyarrow_had_been_kept_from_it():
    pytest.importorskip("pandas")
    run = subprocess.run([sys.executable, "-c", AFTERWARDS], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
