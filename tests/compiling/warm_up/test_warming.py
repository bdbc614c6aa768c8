from __future__ import annotations

import ast
import inspect
import os
import subprocess
import sys
import zipfile
from importlib import import_module
from pathlib import Path

import numba
import pytest

import shoal
from shoal.compiling.decorator import Kernel
from shoal.compiling.disk_cache import runs_baseline
from shoal.compiling.warm_up import PART_NAMES
from shoal.compiling.warm_up.jobs import PARTS
from shoal.compiling.warm_up.processes import compile_all, list_calls
from shoal.compiling.warm_up.shipping import compile_baseline, ship

PACKAGE = Path(shoal.__file__).parent
pytestmark = pytest.mark.compiled


def names(calls):
    return {f"{call.module}.{call.name}" for call in calls}


def test_every_part_has_its_jobs():
    assert tuple(PARTS) == PART_NAMES


def test_every_method_is_a_part_and_the_optimizer_is_one_by_effort():
    others = {info.name for info in shoal.methods()} - {"optimize"}
    assert {"fast", "balanced", "best", "narrow", "models", "measures", "demo"} | others == set(PART_NAMES)


def test_the_list_names_outer_kernels_only_the_heaviest_first():
    calls = list_calls(["mondrian"])
    assert names(calls) >= {"shoal.kernels.mondrian.run", "shoal.kernels.space.space.cover_groups"}
    assert all(isinstance(getattr(import_module(call.module), call.name), Kernel) for call in calls)
    assert calls[0].name == "run"
    assert len(calls) == len(set(calls)) < 20


def types_of(calls, name):
    return {str(call.types) for call in calls if call.name == name}


def test_a_single_column_and_arrays_that_cannot_be_written_are_types_of_their_own_and_listed():
    wide, narrow = list_calls(["top-down"]), list_calls(["narrow"])
    assert types_of(wide, "start_repair").isdisjoint(types_of(narrow, "start_repair"))
    assert len(types_of(narrow, "start_repair")) == 1
    measures = list_calls(["measures"])
    assert sorted(call.types[-1].mutable for call in measures if call.name == "true_answer") == [False, True]
    assert names(measures) >= {"shoal.kernels.microaggregation.univariate.split_path"}


def kernels_behind(imported, alias, text):
    """Return the kernel that was imported, or those of an imported module that the text calls."""
    if inspect.ismodule(imported):
        parts = ((name, part) for name, part in vars(imported).items() if isinstance(part, Kernel))
        return [part for name, part in parts if f"{alias}.{name}(" in text]
    return [imported] if isinstance(imported, Kernel) else []


def called_from_outside():
    """Yield the kernels that modules outside the kernels import, by name or with their module."""
    for path in PACKAGE.rglob("*.py"):
        if path.relative_to(PACKAGE).parts[0] == "kernels":
            continue
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("shoal.kernels"):
                for one in node.names:
                    imported = getattr(import_module(node.module), one.name, None)
                    for kernel in kernels_behind(imported, one.asname or one.name, text):
                        yield f"{kernel.__module__}.{kernel.__qualname__}"


def test_every_kernel_that_is_imported_elsewhere_is_in_the_list():
    parts = [part for part in PART_NAMES if part not in ("demo", "fast", "balanced")]
    imported = set(called_from_outside())
    assert len(imported) > 80
    assert imported - names(list_calls(parts)) == set()


def test_a_worker_that_cannot_start_is_told_and_not_waited_for(monkeypatch, capfd):
    monkeypatch.setattr("shoal.compiling.warm_up.processes._WORKER", "shoal.compiling.warm_up.no_such_module")
    with pytest.raises(shoal.ShoalError, match="could not be compiled ahead"):
        compile_all(list_calls(["mondrian"])[:2], 2, lambda *_: None)
    assert "no_such_module" in capfd.readouterr().err


def plain_wheel(folder):
    """A wheel of this very source, as the build tool makes it."""
    wheel, information = folder / "shoal-1.0-py3-none-any.whl", "shoal-1.0.dist-info"
    with zipfile.ZipFile(wheel, "w") as file:
        for path in PACKAGE.rglob("*"):
            if path.is_file() and path.suffix not in (".pyc", ".kernel"):
                file.write(path, f"shoal/{path.relative_to(PACKAGE).as_posix()}")
        file.writestr(f"{information}/METADATA", "Metadata-Version: 2.3\nName: shoal\nVersion: 1.0\n")
        file.writestr(
            f"{information}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        file.writestr(f"{information}/RECORD", "")
    return wheel


RELEASE = """
import shoal
from shoal.datasets import hospital
from shoal.compiling.disk_cache import COUNTS
register = hospital(300, 1)
for hierarchies in ({"sex": "flat", "zip": register.hierarchies["zip"]}, {}):
    for release in ("ranges", "representatives"):
        result = shoal.anonymize(
            register.patients.select(["birth_date", "sex", "zip", "diagnosis"]), k=5, method="mondrian", release=release,
            quasi_identifiers=["birth_date", "sex", "zip"], sensitive=["diagnosis"], hierarchies=hierarchies)
        result.metrics
assert shoal.__file__.startswith(FOLDER), shoal.__file__
print(len(COUNTS.loaded), *COUNTS.compiled)
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder into which a wheel with the kernels of one method is installed; a wheel is installed by unpacking it."""
    if not runs_baseline():
        pytest.skip("does not apply: no kernels are shipped for this processor")
    folder = tmp_path_factory.mktemp("wheel")
    kernels = compile_baseline(["mondrian"], folder / "build")
    wheel = ship(plain_wheel(folder), kernels, folder / "dist")
    with zipfile.ZipFile(wheel) as file:
        assert file.testzip() is None
        file.extractall(folder / "site")
    return wheel, folder / "site"


def test_an_installed_wheel_compiles_nothing_with_an_empty_cache(installed, tmp_path):
    _, site = installed
    settings = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    settings |= {"PYTHONPATH": str(site), "SHOAL_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    program = f"FOLDER = {str(site)!r}\n{RELEASE}"
    run = subprocess.run([sys.executable, "-c", program], env=settings, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    loaded, *compiled = run.stdout.split()
    assert int(loaded) > 4
    assert compiled == []
    assert not list((tmp_path / "cache").rglob("*.kernel"))


def test_the_wheel_says_for_which_python_and_numba_it_is_and_lists_its_files(installed):
    wheel, site = installed
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    assert wheel.name.startswith(f"shoal-1.0-1numba{numba.__version__}-{python}-{python}")
    (information,) = site.glob("*.dist-info")
    tags = (information / "WHEEL").read_text()
    assert "Root-Is-Purelib: false" in tags
    assert f"Build: 1numba{numba.__version__}" in tags
    assert "py3-none-any" not in tags
    listed = {line.split(",")[0] for line in (information / "RECORD").read_text().splitlines()}
    assert listed == {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}
    assert not any("inner-" in name for name in listed)
    assert any(name.startswith("shoal/kernels/compiled/mondrian.run-") for name in listed)
