"""The maps in ARCHITECTURE.md name files that are there, and all files of the packages they are maps of."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parent.parent
SOURCES = REPOSITORY / "src" / "shoal"
TEXT = (REPOSITORY / "ARCHITECTURE.md").read_text("utf-8")
WALKED = ["kernels/optimise", "kernels/guarded", "methods/optimise", "enforcement", "engines"]
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
