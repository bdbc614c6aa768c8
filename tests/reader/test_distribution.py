"""The reader is a distribution of its own, and part of shoal's."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def project(folder):
    return tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]


def wheel_of(folder, target):
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
    subprocess.run(build, cwd=folder, check=True, capture_output=True)
    (wheel,) = target.glob("*.whl")
    return wheel


def test_the_reader_is_built_alone_and_works_without_shoal(tmp_path):
    wheel = wheel_of(ROOT / "reader", tmp_path)
    assert wheel.name.startswith("shoal_reader-")
    names = zipfile.ZipFile(wheel).namelist()
    assert "shoal_reader/py.typed" in names
    assert any(name.endswith("LICENSE") for name in names)
    assert not [name for name in names if name.startswith("shoal/")]
    program = (
        f"import sys; sys.path.insert(0, {str(wheel)!r}); sys.modules['shoal'] = None; import shoal_reader, warnings, pandas;"
        "warnings.simplefilter('ignore'); print(shoal_reader.__file__);"
        "print(shoal_reader.read(pandas.DataFrame({'age': ['[20-29]']})).midpoints()['age'][0])"
    )
    run = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    place, middle = run.stdout.split()
    assert place.startswith(str(wheel))
    assert middle == "24.5"


def test_shoal_brings_the_reader_along(tmp_path):
    names = zipfile.ZipFile(wheel_of(ROOT, tmp_path)).namelist()
    assert {"shoal/__init__.py", "shoal_reader/__init__.py", "shoal_reader/completing.py"} <= set(names)


def test_both_state_the_same_bounds_and_licence():
    reader, shoal = project(ROOT / "reader"), project(ROOT)
    extras = shoal["optional-dependencies"]
    known = {*shoal["dependencies"], *extras["pandas"], *extras["exact"]}
    assert {
        *reader["dependencies"],
        *(one for extra in reader["optional-dependencies"].values() for one in extra),
    } <= known
    assert reader["requires-python"] == shoal["requires-python"]
    assert (ROOT / "reader" / "LICENSE").read_text("utf-8") == (ROOT / "LICENSE").read_text("utf-8")
