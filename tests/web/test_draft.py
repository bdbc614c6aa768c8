"""The recipe while it is made."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from shoal import extensions
from shoal.errors import ColumnError, ParameterError
from shoal.privacy import REGISTRY, PrivacyModel
from shoal.web.as_code import command_text, python_text
from shoal.web.draft import Draft, Source, from_recipe, opened

GUESSED = {
    "name": "identifier",
    "age": "quasi-identifier",
    "job": "quasi-identifier",
    "cost": "other",
    "ill": "sensitive",
}
SOURCE = Source("folder", "people.csv", "/somewhere/people.csv")
NAMES = {"release": "r.csv", "report": "r.html", "recipe": "r.toml"}


@pytest.fixture
def draft():
    return opened(Draft(), SOURCE, GUESSED)


def test_an_opened_table_gets_the_guessed_roles_and_unknown_columns_stay_out(draft):
    assert [draft.role(name) for name in GUESSED] == [
        "identifier",
        "quasi-identifier",
        "quasi-identifier",
        "left out",
        "sensitive",
    ]
    assert draft.ready
    assert draft.recipe().k == 10


def test_a_role_is_changed_in_the_order_of_the_table(draft):
    changed = draft.with_role("name", "quasi-identifier", list(GUESSED))
    assert changed.recipe().quasi_identifiers == ["name", "age", "job"]
    assert changed.recipe().identifiers == []
    assert draft.role("name") == "identifier"


def test_several_columns_get_a_role_in_one_step(draft):
    changed = draft.with_roles(["cost", "age"], "kept", list(GUESSED))
    assert changed.get("keep") == ["age", "cost"]
    assert changed.get("quasi_identifiers") == ["job"]
    with pytest.raises(ColumnError):
        draft.with_roles(["age", "agee"], "kept", list(GUESSED))


def test_a_draft_may_lose_its_last_quasi_identifier_but_then_makes_no_release(draft):
    for name in ("age", "job"):
        draft = draft.with_role(name, "kept", list(GUESSED))
    assert not draft.ready
    with pytest.raises(ParameterError, match="No column is a quasi-identifier"):
        draft.recipe()


def test_unknown_columns_and_impossible_choices_are_refused(draft):
    with pytest.raises(ColumnError):
        draft.with_role("salary", "kept", list(GUESSED))
    with pytest.raises(ParameterError):
        draft.change(k=1)
    with pytest.raises(ParameterError):
        draft.change(colour="red")


def test_a_choice_of_a_column_is_made_and_taken_back(draft):
    weighted = draft.with_choice("weights", "age", 8)
    assert weighted.recipe().weights == {"age": 8}
    assert weighted.with_choice("weights", "age", None).recipe().weights == {}


def test_choices_stay_when_the_same_table_is_read_in_another_way(draft):
    changed = draft.with_role("cost", "kept", list(GUESSED)).with_choice("weights", "age", 8)
    again = opened(changed, Source("folder", "people.csv", "/somewhere/people.csv", {"separator": ";"}), GUESSED)
    assert again.role("cost") == "kept"
    assert again.get("weights") == {"age": 8}


def test_another_table_starts_from_its_own_guesses(draft):
    other = opened(
        draft.with_choice("weights", "age", 8), Source("demo", "demo"), {"age": "sensitive", "zip": "quasi-identifier"}
    )
    assert (other.role("age"), other.role("zip"), other.get("weights")) == ("sensitive", "quasi-identifier", {})


def test_a_table_that_has_the_columns_of_the_one_before_and_more_starts_from_its_own_guesses(draft):
    small = opened(draft, Source("folder", "small.csv", "/somewhere/small.csv"), {"age": "quasi-identifier"})
    again = opened(small, SOURCE, GUESSED)
    assert {name: again.role(name) for name in GUESSED} == {name: draft.role(name) for name in GUESSED}


def test_a_draft_starts_from_a_recipe_file(tmp_path):
    (tmp_path / "recipe.toml").write_text('version = 1\nk = 7\nquasi_identifiers = ["age"]\nkeep = ["cost"]\n')
    draft = opened(from_recipe(tmp_path / "recipe.toml"), SOURCE, GUESSED)
    assert (draft.get("k"), draft.role("age"), draft.role("job"), draft.role("cost")) == (
        7,
        "quasi-identifier",
        "left out",
        "kept",
    )


def test_the_same_as_a_command_and_as_python(draft, tmp_path):
    draft = draft.change(models=[{"model": "l-diversity", "l": 3}], hierarchies={"job": str(tmp_path / "job.csv")})
    assert command_text(draft, NAMES, tmp_path) == "shoal anonymize people.csv --recipe r.toml -o r.csv --report r.html"
    told = python_text(draft, NAMES, tmp_path)
    compile(told, "page", "exec")
    assert "models=[shoal.LDiversity(l=3)]" in told
    assert "hierarchies={'job': 'job.csv'}" in told
    assert "shoal.anonymize(\n    'people.csv'," in told


@dataclass(frozen=True)
class AtMost(PrivacyModel):
    """A model of another package, with a list of people in a file."""

    most: int
    population: str = ""

    def bind(self, table):
        raise NotImplementedError

    def describe(self):
        return ""


def test_the_python_names_models_of_other_packages_and_where_they_come_from(draft, tmp_path, monkeypatch):
    point = EntryPoint("at-most", f"{__name__}:AtMost", "shoal.models")
    monkeypatch.setattr(extensions, "entry_points", lambda group: [point] if group == "shoal.models" else [])
    theirs = {"model": "at-most", "most": 9, "population": str(tmp_path / "town.csv")}
    told = python_text(draft.change(models=[{"model": "l-diversity", "l": 3}, theirs]), NAMES, tmp_path)
    assert told.startswith(f"import shoal\nfrom {__name__} import AtMost\n\n")
    assert "models=[shoal.LDiversity(l=3), AtMost(most=9, population='town.csv')]" in told


def test_the_python_names_every_model_of_shoal(draft, tmp_path):
    numbers = {"k-anonymity": {"k": 3}, "l-diversity": {"l": 3}, "t-closeness": {"t": 0.3}, "alpha-k": {"alpha": 0.5}}
    numbers |= {"beta-likeness": {"beta": 2}, "delta-disclosure": {"delta": 2}, "k-map": {"k": 4}}
    numbers |= {"delta-presence": {"low": 0.0, "high": 0.5, "population": "town.csv"}}
    assert list(numbers) == list(REGISTRY.own)
    told = python_text(draft.change(models=[{"model": name} | one for name, one in numbers.items()]), NAMES, tmp_path)
    for name in numbers:
        assert f"shoal.{REGISTRY.own[name][1]}(" in told


def test_one_column_is_the_person_and_another_takes_its_place(draft):
    columns = list(GUESSED)
    draft = draft.with_role("name", "person", columns)
    assert (draft.role("name"), draft.recipe().person, draft.recipe().identifiers) == ("person", "name", [])
    draft = draft.change(together=True).with_role("cost", "person", columns)
    assert (draft.role("cost"), draft.role("name"), draft.recipe().together) == ("person", "identifier", True)
    draft = draft.with_role("cost", "left out", columns)
    assert (draft.recipe().person, draft.recipe().together) == (None, False)


def test_a_person_may_be_released_as_a_token_which_needs_a_key(draft):
    columns = list(GUESSED)
    draft = draft.with_role("name", "person", columns).with_token("name", token=True)
    assert (draft.role("name"), draft.recipe().pseudonymize) == ("person", ["name"])
    assert draft.with_role("ill", "kept", columns).recipe().pseudonymize == ["name"]
    with pytest.raises(ParameterError, match="made with a key"):
        draft.check_complete()
    keyed = replace(draft, key="/somewhere/shoal.key")
    keyed.check_complete()
    assert "--key shoal.key" in command_text(keyed, NAMES, Path("/somewhere"))
    assert "key='shoal.key'" in python_text(keyed, NAMES, Path("/somewhere"))
    assert keyed.with_role("name", "identifier", columns).recipe().pseudonymize == []


def test_a_choice_waits_while_the_role_of_its_column_has_no_use_for_it(draft):
    columns = list(GUESSED)
    draft = draft.with_choice("weights", "age", 3.0).with_choice("hierarchies", "age", "flat").with_ends("age", 5)
    kept = draft.with_role("age", "kept", columns)
    assert (kept.recipe().weights, kept.recipe().hierarchies, kept.recipe().ends) == ({}, {}, "round")
    treated = kept.with_choice("treat", "age", {"treatment": "round", "to": 5})
    assert treated.recipe().treat == {"age": {"treatment": "round", "to": 5}}
    again = treated.with_role("age", "quasi-identifier", columns)
    assert (again.recipe().weights, again.recipe().treat) == ({"age": 3.0}, {})


def test_ranges_of_one_column_end_at_multiples_and_go_back_to_those_of_all(draft):
    stepped = draft.with_ends("age", 5)
    assert stepped.recipe().ends == {"age": 5}
    assert stepped.with_ends("age", None).recipe().ends == "round"
    assert draft.with_ends("age", None) == draft


def test_the_python_names_treatments_as_objects(draft):
    treated = draft.with_choice("treat", "ill", {"treatment": "pram", "keep": 0.9})
    assert "treat={'ill': shoal.Pram(keep=0.9)}" in python_text(treated, NAMES, Path("/somewhere"))
