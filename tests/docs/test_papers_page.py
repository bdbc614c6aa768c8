"""The page on the five papers names files, functions and options; each of them must be there under that name."""

from __future__ import annotations

import ast
import inspect
import json
import re
from pathlib import Path

import pytest

import shoal

ROOT = Path(__file__).parent.parent.parent
SOURCE = ROOT / "src" / "shoal"
PAGE = (ROOT / "docs" / "explanation" / "papers.md").read_text("utf-8")
CODE = sorted(set(re.findall(r"`([^`]+)`", PAGE)))
FILES = [one for one in CODE if re.fullmatch(r"[\w/.-]+(?:\.py|\.md|/)", one)]
DATA = {"adult.csv"}
NAMES = [one for one in CODE if re.fullmatch(r"[a-z_]+(?:\.[a-z_]+)?", one) and one not in {*FILES, *DATA}]
IN_FILES = [
    (file, name)
    for file, names in re.findall(r"`([\w/]+\.py)`: ((?:`[\w.]+`(?:, | and )?)+)", PAGE)
    for name in re.findall(r"`([\w.]+)`", names)
]
OPTIONS = re.findall(r"`(\w+)\((\w+)=([^`,)]+)[^`)]*\)`((?: or `[^`]+`)*)", PAGE)


def place_of(file):
    """Return where a file of the page lies: from the top of the repository, or inside the package."""
    return next((folder / file for folder in (ROOT, SOURCE) if (folder / file).exists()), None)


def is_defined(name, text):
    """Return whether a file defines a function, class or constant, or has the name as that of a figure."""
    last = re.escape(name.rpartition(".")[2])
    return bool(re.search(rf"\b(?:def|class) {last}\b|^{last}\b|[\"']{last}[\"']|^ +{last}[:=]", text, re.MULTILINE))


@pytest.mark.parametrize("file", FILES)
def test_a_file_that_the_page_names_is_there(file):
    assert place_of(file) is not None


@pytest.mark.parametrize(("file", "name"), IN_FILES)
def test_a_function_that_the_page_names_is_in_its_file(file, name):
    assert is_defined(name, place_of(file).read_text("utf-8"))


@pytest.mark.parametrize("name", NAMES)
def test_a_name_on_the_page_is_one_of_the_package(name):
    assert any(is_defined(name, path.read_text("utf-8")) for path in SOURCE.rglob("*.py"))


@pytest.mark.parametrize(("name", "parameter", "first", "others"), OPTIONS)
def test_an_option_on_the_page_can_be_chosen_and_its_first_choice_is_the_default(name, parameter, first, others):
    method = getattr(shoal, name)
    if others:
        assert inspect.signature(method).parameters[parameter].default == read(first)
    for choice in (first, *re.findall(r"`([^`]+)`", others)):
        assert getattr(method(**{parameter: read(choice)}), parameter) == read(choice)


def read(choice):
    return ast.literal_eval(choice)


def test_the_page_is_read_at_all_and_a_name_that_is_gone_would_be_noticed():
    assert len(FILES) > 20
    assert len(IN_FILES) > 15
    assert len([one for one in OPTIONS if one[-1]]) == 9
    assert place_of("kernels/space/gone.py") is None
    assert not is_defined("gone", "def gone_away(): pass  # gone\n")


def test_what_is_said_of_generated_tables_rests_on_ten_of_them():
    kept = json.loads((ROOT / "benchmarks" / "results" / "papers" / "local_recoding.json").read_text("utf-8"))
    made = [one for one in kept["tables"] if one["title"].startswith(("uniform,", "gaussian,"))]
    assert len(made) == 5
    for table in made:
        assert "10 tables" in table["note"]
        assert table["plot"]["band"]
        assert all(any(name.endswith(" least") for name in row) for row in table["rows"])
