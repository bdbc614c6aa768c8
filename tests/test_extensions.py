"""Methods and models of the user's own: in report, dictionary and recipe, and by name once a package registers them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import extensions
from shoal.errors import ExtensionWarning, ParameterError
from shoal.kernels.optimize.state.outcome import Outcome
from shoal.methods import method_infos
from shoal.methods.base import Grouping, Method, MethodInfo, Task
from shoal.methods.optimize import annealing
from shoal.methods.optimize.operators import OPERATORS, Operator
from shoal.methods.optimize.problem import Problem
from shoal.privacy import model_name
from shoal.privacy.base import PrivacyModel, Requirement
from tests.support.tables import coded_table

TABLE = pa.table({"age": list(range(40)), "ill": ["flu", "gout"] * 20})


@dataclass(frozen=True)
class Blocks(Method):
    """Groups of neighbouring rows."""

    size: int = 8

    info: ClassVar[MethodInfo] = MethodInfo("blocks", "Blocks of rows", "local", "Nobody 2024", "O(n)")

    def run(self, table, task):
        return Grouping((np.arange(table.records) // self.size).astype(np.int32))


@dataclass(frozen=True)
class AtMost(PrivacyModel):
    """No group is larger than ``most``."""

    most: int

    def bind(self, table):
        return NotAbove(self.most)

    def describe(self):
        return f"No group has more than {self.most} records."


@dataclass(frozen=True)
class NotAbove(Requirement):
    most: int

    def failing(self, labels, groups):
        return np.bincount(labels[labels >= 0], minlength=groups) > self.most


class LDiversity(AtMost):
    """Bears the name of another model."""


def anonymize(**changes):
    given = {"k": 4, "quasi_identifiers": ["age"], "sensitive": ["ill"], "method": Blocks(), "models": [AtMost(9)]}
    return shoal.anonymize(TABLE, **(given | changes))


@pytest.fixture
def installed(monkeypatch):
    """Act as if a package had registered the method, the model and one that cannot be imported."""
    entries = {
        "shoal.methods": {"blocks": f"{__name__}:Blocks", "mondrian": f"{__name__}:Blocks", "gone": "no_such:Method"},
        "shoal.models": {"at-most": f"{__name__}:AtMost"},
    }
    monkeypatch.setattr(
        extensions, "entry_points", lambda group: [EntryPoint(*one, group) for one in entries[group].items()]
    )


def test_they_stand_in_the_report_and_in_the_dictionary_with_their_own_words(tmp_path):
    made = anonymize()
    made.save(tmp_path / "release.csv")
    made.report().save(tmp_path / "report.md")
    report = (tmp_path / "report.md").read_text("utf-8")
    assert "No group has more than 9 records." in report
    assert "found by the method blocks" in report
    (told,) = [json.loads(path.read_text("utf-8")) for path in tmp_path.glob("*.json")]
    assert told["shoal"]["method"] == "blocks"
    assert told["shoal"]["models"] == [{"model": "AtMost", "most": 9}]


def test_a_recipe_that_names_what_is_not_installed_is_refused_in_a_sentence(tmp_path):
    maker = shoal.Anonymizer(k=4, quasi_identifiers=["age"], models=[AtMost(9)])
    maker.save(tmp_path / "recipe.toml")
    with pytest.raises(ParameterError, match=r"The 'model' parameter of a recipe must be one of .* Got 'AtMost'"):
        shoal.Anonymizer.load(tmp_path / "recipe.toml")
    shoal.Anonymizer(k=4, quasi_identifiers=["age"], method=Blocks()).save(tmp_path / "other.toml")
    with pytest.raises(ParameterError, match="Got 'blocks'"):
        shoal.Anonymizer.load(tmp_path / "other.toml")


def test_a_recipe_brings_them_back_once_a_package_registers_them(installed, tmp_path):
    maker = shoal.Anonymizer(k=4, quasi_identifiers=["age"], method=Blocks(size=5), models=[AtMost(9)])
    maker.save(tmp_path / "recipe.toml")
    again = shoal.Anonymizer.load(tmp_path / "recipe.toml")
    assert (again.method, again.models) == (Blocks(size=5), (AtMost(9),))
    assert 'model = "at-most"' in (tmp_path / "recipe.toml").read_text("utf-8")


def test_a_registered_method_is_known_by_name_and_takes_over_none_of_shoals_own(installed):
    assert np.bincount(anonymize(method="blocks").groups).tolist() == [8] * 5
    assert shoal.methods.__module__ == "shoal.methods"
    assert type(shoal.Anonymizer(k=2, quasi_identifiers=["age"], method="mondrian").method) is shoal.Mondrian


def test_a_registered_method_that_cannot_be_imported_is_named_in_a_sentence(installed):
    with pytest.raises(ParameterError, match="'gone' is registered as no_such:Method, which cannot be imported"):
        anonymize(method="gone")


def test_a_package_that_cannot_be_imported_is_named_and_all_others_are_listed(installed):
    with pytest.warns(ExtensionWarning, match="'gone' is registered as no_such:Method, which cannot be imported"):
        names = [info.name for info in method_infos()]
    assert names[-1] == "blocks"
    assert len(names) == 15
    assert names.count("mondrian") == 1  # which the package registered too


def test_a_model_is_known_though_a_broken_package_uses_the_name_of_its_class(monkeypatch):
    monkeypatch.setattr(extensions, "entry_points", lambda group: [EntryPoint("at-most", "no_such:AtMost", group)])
    assert model_name(AtMost(9)) == "AtMost"


def test_registered_methods_are_listed_after_shoals_own(installed, monkeypatch):
    monkeypatch.setattr(extensions, "entry_points", lambda group: [EntryPoint("blocks", f"{__name__}:Blocks", group)])
    assert [info.name for info in method_infos()][-1] == "blocks"


def test_a_model_that_bears_the_name_of_another_is_not_taken_for_it():
    assert model_name(LDiversity(9)) == "LDiversity"
    assert model_name(shoal.LDiversity(2)) == "l-diversity"


class Boast(Operator):
    """Leave the groups as they are under other numbers, and claim that much was gained by it."""

    name = "boast"

    def run(self, now, labels, regions, region):
        start, stop = regions.start[region], regions.start[region + 1]
        records = regions.record[start:stop]
        labels[records] = start + stop - 1 - labels[records]
        return (Outcome(1, 1, 1e9),)


class JoinAll(Operator):
    """Make one group of all records of a region, which is too large for other operators."""

    name = "join-all"

    def run(self, now, labels, regions, region):
        labels[regions.record[regions.start[region] : regions.start[region + 1]]] = regions.start[region]
        return (Outcome(1, 1, 0.0),)


def test_an_operator_takes_part_once_it_is_in_the_list_and_the_loss_is_counted_whatever_it_claims(monkeypatch):
    table, task = coded_table(200, "iff", 3), Task(k=4)
    monkeypatch.setattr(annealing, "OPERATORS", [*OPERATORS, Boast()])
    found = shoal.Optimize().run(table, task)
    told = found.details["operators"]
    assert told["boast"]["taken"] == told["boast"]["tried"] > 0
    assert found.details["losses"][-1] == pytest.approx(Problem.of(table, task).completed(found.labels).loss)


def test_an_operator_that_breaks_the_groups_is_named_and_ends_the_work(monkeypatch):
    monkeypatch.setattr(annealing, "OPERATORS", [JoinAll()])
    with pytest.raises(ParameterError, match=r"join-all left groups of \d+ to \d+ records\. Each needs 4 to 8\."):
        shoal.Optimize().run(coded_table(200, "iff", 3), Task(k=4))
