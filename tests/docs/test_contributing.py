"""What CONTRIBUTING shows on one screen each works as it stands: a method, an operator, a model, a format and an engine from outside the package."""

from __future__ import annotations

import re
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import shoal
from shoal import extensions
from shoal.encoding import encode
from shoal.frames import to_frame
from shoal.io import registry
from shoal.kernels.optimize.state.outcome import Outcome
from shoal.kernels.optimize.state.regions import Regions
from shoal.methods.base import Task
from shoal.methods.optimize import annealing
from shoal.methods.optimize.operators import OPERATORS

TEXT = (Path(__file__).parent.parent.parent / "CONTRIBUTING.md").read_text("utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
SCREEN = 40
"""Lines that are seen at once."""
PEOPLE = "".join(
    f'{{"age": {20 + 7 * i % 40}, "job": "{"abc"[i % 3]}", "ill": "{"xy"[i * i % 7 % 2]}"}}\n' for i in range(60)
)


@pytest.fixture
def package(monkeypatch):
    """Return a package of somebody else that holds all blocks and registers what is in them."""
    before = list(OPERATORS)
    module = ModuleType("their_package")
    monkeypatch.setitem(sys.modules, "their_package", module)
    for block in BLOCKS:
        exec(block, vars(module))  # noqa: S102
    monkeypatch.setattr(annealing, "OPERATORS", list(OPERATORS))
    OPERATORS[:] = before
    entries = {
        "shoal.methods": {"sort-and-slice": "their_package:SortAndSlice"},
        "shoal.models": {"at-most": "their_package:AtMost"},
        "shoal.sources": {"jsonl": "their_package:JsonLines"},
        "shoal.engines": {"thorough": "their_package:Thorough"},
    }
    points = {group: [EntryPoint(*one, group) for one in named.items()] for group, named in entries.items()}
    for where in (extensions, registry):
        monkeypatch.setattr(where, "entry_points", lambda group: points[group])
    registry.sources.cache_clear()
    yield module
    registry.sources.cache_clear()


def test_each_fits_on_a_screen():
    assert len(BLOCKS) == 5
    assert max(block.count("\n") for block in BLOCKS) <= SCREEN


def test_the_method_passes_the_public_checks(package):
    shoal.testing.check_method(package.SortAndSlice())


def test_the_operator_takes_part(package):
    letters = ["x"] * 20 + ["y"] * 20 + list("abcdefg")
    found = shoal.Optimize().run(encode(to_frame({"letter": letters}), ["letter"]), Task(k=5))
    assert found.details["operators"]["merge-twins"]["taken"] > 0


def test_the_operator_joins_groups_of_equal_records_of_its_region(package):
    now = SimpleNamespace(problem=SimpleNamespace(k=2, rows=np.array([[3], [3], [3], [3], [1], [2], [3], [3]])))
    labels, regions = np.array([0, 0, 2, 2, 4, 4, 6, 6]), Regions(np.array([0, 6, 8]), np.arange(8, dtype=np.int32))
    assert package.MergeTwins().run(now, labels, regions, 0) == (Outcome(tried=2, taken=1, gained=0.0),)
    assert labels.tolist() == [0, 0, 0, 0, 4, 4, 6, 6]


def test_the_engine_is_asked_for_by_its_name_and_refuses_in_its_words(package):
    table = {"age": list(range(20, 60))}
    given = {"k": 4, "quasi_identifiers": ["age"], "engine": "thorough"}
    assert shoal.anonymize(table, **given).recipe.effort == "best"
    with pytest.raises(shoal.errors.ParameterError, match=r"never fast\.\nHint: leave 'effort' out"):
        shoal.anonymize(table, **given, effort="fast")


def test_a_model_that_no_grouping_meets_is_refused_by_every_method(package):
    table = {"age": list(range(20, 60)), "ill": ["x", "y"] * 20}
    for method in (package.SortAndSlice(), "mondrian", "top-down"):
        with pytest.raises(shoal.errors.PrivacyError):
            shoal.anonymize(
                table, k=4, quasi_identifiers=["age"], sensitive=["ill"], method=method, models=[package.AtMost(3)]
            )


def test_a_table_of_the_format_is_released_by_the_method_with_the_model_by_their_names(package, tmp_path):
    (tmp_path / "people.jsonl").write_text(PEOPLE, "utf-8")
    recipe = shoal.Anonymizer(
        k=4, quasi_identifiers=["age", "job"], sensitive=["ill"], method="sort-and-slice", models=[package.AtMost(9)]
    )
    recipe.save(tmp_path / "recipe.toml")
    result = shoal.Anonymizer.load(tmp_path / "recipe.toml").fit(tmp_path / "people.jsonl").result_
    assert np.bincount(result.groups).max() <= 9
    path = result.save(tmp_path / "release.jsonl")
    assert shoal.audit(path, quasi_identifiers=["age", "job"]).k >= 4
    found = shoal.verify(path, original=tmp_path / "people.jsonl")
    assert found.met
    assert {one.name: one.met for one in found.checks}["at-most"] is True
    path.write_text(path.read_text("utf-8") + 9 * f"{path.read_text('utf-8').splitlines()[0]}\n", "utf-8")
    assert {one.name: one.met for one in shoal.verify(path).checks}["at-most"] is False


def test_a_damaged_file_of_the_format_is_named_without_a_cell(package, tmp_path):
    (tmp_path / "people.jsonl").write_text("secret", "utf-8")
    with pytest.raises(shoal.errors.DataError, match=r"'people\.jsonl' is not a file of JSON lines") as raised:
        shoal.read_table(tmp_path / "people.jsonl")
    assert "secret" not in str(raised.value)
