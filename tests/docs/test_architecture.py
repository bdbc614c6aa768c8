"""The maps in ARCHITECTURE.md and in the walks through the code name files that are there, and all files of the packages they are maps of; and what it says stands in one place does."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parent.parent.parent
SOURCES = REPOSITORY / "src" / "shoal"
TEXT = "".join((REPOSITORY / name).read_text("utf-8") for name in ("ARCHITECTURE.md", "docs/explanation/code-walks.md"))
WALKED = ["kernels/optimize", "kernels/guarded", "methods/optimize", "enforcement", "plan", "engines"]
ASIDE = {"neighbours", "__init__"}
"""Small helpers that a walk passes by."""


def test_every_file_it_names_is_there():
    named = set(re.findall(r"\b[\w/]+\.py\b", TEXT))
    assert len(named) > 40
    there = {path.relative_to(SOURCES).as_posix() for path in SOURCES.rglob("*.py")}
    assert [name for name in sorted(named) if not any(f"/{one}".endswith(f"/{name}") for one in there)] == []


@pytest.mark.parametrize("package", WALKED)
def test_no_file_of_a_package_is_left_out(package):
    words = set(re.findall(r"\w+", TEXT))
    files = {path.stem for path in (SOURCES / package).rglob("*.py")} - ASIDE
    assert files - words == set()


def test_only_the_space_compares_kinds_of_columns():
    others = [path for path in SOURCES.rglob("*.py") if path.parent != SOURCES / "kernels" / "space"]
    compared = re.compile(r"^from shoal\.kernels\.space\.space import \(?[^()]*\b(INTERVAL|NODE|SET)\b", re.MULTILINE)
    found = [path.relative_to(SOURCES).as_posix() for path in others if compared.search(path.read_text("utf-8"))]
    assert found == ["encoding/kinds.py"]  # it gives each kind its number


def test_nobody_outside_the_coding_asks_which_kind_a_column_is():
    others = [path for path in SOURCES.rglob("*.py") if path.parent != SOURCES / "encoding"]
    asked = re.compile(
        r"kind\.(name|code)\b|isinstance\([\w.]+\.kind\b|from shoal\.encoding\.kinds import|\bkind is (RANGES|NODES|SETS)"
    )
    found = [path.relative_to(SOURCES).as_posix() for path in others if asked.search(path.read_text("utf-8"))]
    assert found == ["treatments/__init__.py"]  # kinds of treatments


PACKAGES = sorted(path.parent for path in SOURCES.glob("*/__init__.py"))
CALLED = re.compile(r"\bcall(s|ed)\b", re.IGNORECASE)
IGNORES = re.compile(r"\b(not|neither|no|nothing|nobody)\b", re.IGNORECASE)


def docstring(package):
    return ast.get_docstring(ast.parse((package / "__init__.py").read_text("utf-8")))


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_a_package_says_in_a_few_lines_what_it_holds_who_calls_it_and_what_it_must_not_know(package):
    first, _, rest = docstring(package).partition("\n\n")
    assert "\n" not in first
    assert 1 <= len(rest.splitlines()) <= 5
    assert CALLED.search(rest)
    assert "know" in rest
    assert IGNORES.search(rest)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_what_a_package_names_is_there(package):
    known = {path.stem for path in SOURCES.rglob("*")}
    for path in SOURCES.rglob("*.py"):
        known |= set(re.findall(r"^\s*(?:def |class )?(\w+)(?:\(|:|\[| = )", path.read_text("utf-8"), re.MULTILINE))
    assert set(re.findall(r"``(\w+)``", docstring(package))) - known == set()


BESIDE = {"benchmarks", "docs", "fuzz", "mistakes", "reader", "support", "tools"}
"""Rooms of tests that look at more than one package, or at none."""


def test_every_test_is_in_the_room_it_mirrors():
    tests = REPOSITORY / "tests"
    rooms = {path.parent.name for path in tests.glob("*/__init__.py")}
    assert rooms - {package.name for package in PACKAGES} == BESIDE
    modules = tuple(f"test_{path.stem}" for path in SOURCES.glob("*.py"))
    loose = [path.name for path in tests.glob("test_*.py") if not path.stem.startswith(modules)]
    assert loose == ["test_imports.py"]  # of the package itself
