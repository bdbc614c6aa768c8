"""What is shipped: metadata, an sdist that can test itself, and files for other package systems that say the same."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

import shoal
from tests.tools.matrix import constraints, lower_bounds

ROOT = Path(__file__).parent.parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """An sdist, built and unpacked."""
    folder = tmp_path_factory.mktemp("sdist")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (packed,) = folder.glob("*.tar.gz")
    with tarfile.open(packed) as archive:
        archive.extractall(folder, filter="data")
    return folder / packed.name.removesuffix(".tar.gz")


def test_an_sdist_passes_its_own_tests(unpacked):
    run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not compiled", "-k", "not builds"]
    tests = ["tests/docs/test_docs.py", "tests/test_errors.py"]
    done = subprocess.run([*run, *tests], cwd=unpacked, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:]


def test_an_sdist_holds_every_source_test_and_page(unpacked):
    for folder in ("src", "tests", "docs", "benchmarks"):
        here = {
            one.relative_to(ROOT)
            for one in (ROOT / folder).rglob("*")
            if one.suffix in {".py", ".md", ".j2", ".js", ".css", ".json"}
            and "__pycache__" not in one.parts
            and not {".environment", "quick"} & set(one.parts)
        }
        assert {one for one in here if not (unpacked / one).exists()} == set()


def test_other_package_systems_get_the_version_and_bounds_of_the_project():
    recipe = (ROOT / "packaging" / "conda" / "meta.yaml").read_text("utf-8")
    assert f'version = "{shoal.__version__}"' in recipe
    stated = dict(re.findall(r"^    - ([a-z-]+) >=([0-9.]+)", recipe.partition("  run:")[2], re.MULTILINE))
    needed = {re.split("[>=]", one)[0]: one.partition(">=")[2] for one in PROJECT["dependencies"] if ";" not in one}
    needed["pyarrow-core"] = needed.pop("pyarrow")
    assert stated == needed | {"python": "3.11"}
    assert f"version: {shoal.__version__}" in (ROOT / "CITATION.cff").read_text("utf-8")


def test_the_workflow_only_calls_words_of_the_makefile():
    flow = (ROOT / ".github" / "workflows" / "tests.yml").read_text("utf-8") if (ROOT / ".github").exists() else ""
    words = re.findall(r"^([a-z]+):.*##", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert [
        call
        for call in re.findall(r"- run: (.*)", flow)
        if call.split()[:1] != ["make"] or call.split()[1] not in words
    ] == []


@pytest.mark.skipif(not (ROOT / ".github").exists(), reason="does not apply: an sdist has no workflow")
def test_the_workflow_tests_every_python_that_the_project_names_and_no_other():
    flow = (ROOT / ".github" / "workflows" / "tests.yml").read_text("utf-8")
    (tested,) = re.findall(r"^ *python: \[(.*)\]$", flow, re.MULTILINE)
    named = re.findall(r"Python :: (3\.[0-9]+)$", "\n".join(PROJECT["classifiers"]), re.MULTILINE)
    assert re.findall(r"[0-9.]+", tested) == named
    assert PROJECT["requires-python"] == f">={named[0]}"


def test_the_oldest_versions_are_the_stated_lower_bounds():
    assert lower_bounds(PROJECT, (3, 11))["numpy"] == "1.26"
    assert lower_bounds(PROJECT, (3, 13))["numpy"] == "2.1"
    assert "numpy==1.26.*\n" in constraints(PROJECT, (3, 12))
    assert "pandas==2.2.3\n" in constraints(PROJECT, (3, 14))
    assert not [name for name in lower_bounds(PROJECT) if name.startswith("shoal")]


def test_links_of_the_package_are_papers_that_the_documentation_names():
    """An index cuts labels of more than 32 characters off."""
    pages = "".join(page.read_text("utf-8") for page in (ROOT / "docs").rglob("*.md"))
    assert PROJECT["urls"]
    for label, address in PROJECT["urls"].items():
        assert len(label) <= 32
        assert address in pages
