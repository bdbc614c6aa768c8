"""Projects of ARX, read as recipes."""

from __future__ import annotations

import pandas as pd
import pytest

import shoal
from shoal.api.arx import read_arx_project
from shoal.errors import FileError
from tests.api.projects import PERSON, write_project


@pytest.fixture
def make(tmp_path):
    """Return a function that makes a small project as ARX saves it."""
    return lambda *args, **changes: write_project(tmp_path / "clinic.deid", *args, **changes)


def test_roles_hierarchies_models_limit_and_weights_are_taken_up(make):
    project = read_arx_project(make())
    recipe = project.anonymizer
    assert (recipe.k, recipe.max_suppression) == (4, 0.05)
    assert list(recipe.quasi_identifiers) == ["zip", "sex", "born"]
    assert [*recipe.identifiers, *recipe.sensitive, *recipe.keep] == ["name", "ill", "cost"]
    assert recipe.hierarchies["zip"].path("40213") == ("40213", "402**", "*")
    assert recipe.models == (shoal.LDiversity(2, column="ill"),)
    assert recipe.weights == {"zip": 1.5}
    assert list(recipe.notation.date_formats) == ["%d.%m.%Y"]
    assert project.has_data


@pytest.mark.parametrize(
    ("words", "model"),
    [
        ("shannon-entropy-3.0-diversity for attribute 'ill'", shoal.LDiversity(3.0, "entropy", column="ill")),
        ("entropy-3.0-diversity for attribute 'ill'", shoal.LDiversity(3.0, "entropy", column="ill")),
        ("recursive-(4.0,3)-diversity for attribute 'ill'", shoal.LDiversity(3, "recursive", c=4.0, column="ill")),
        ("0.2-closeness with equal ground-distance for attribute 'ill'", shoal.TCloseness(0.2, "equal", column="ill")),
        ("0.3-closeness with ordered distance for attribute 'ill'", shoal.TCloseness(0.3, "ordered", column="ill")),
        ("1.0-disclosure privacy for attribute 'ill'", shoal.DeltaDisclosure(1.0, column="ill")),
        ("basic-1.5-likeness for attribute 'ill'", shoal.BetaLikeness(1.5, column="ill")),
        ("enhanced-1.5-likeness for attribute 'ill'", shoal.BetaLikeness(1.5, enhanced=True, column="ill")),
    ],
)
def test_models_that_shoal_has_are_taken_up(make, words, model):
    project = read_arx_project(make(["3-anonymity", words]))
    assert project.anonymizer.models == (model,)
    assert not [sentence for sentence in project.left if "privacy model" in sentence]


@pytest.mark.parametrize(
    "words",
    [
        "0.1-average-reidentification-risk",
        "5-map",
        "(1.0E-6)-differential privacy",
        "distinct-2-diversity for attribute 'nobody'",
    ],
)
def test_models_that_shoal_has_not_are_listed(make, words):
    project = read_arx_project(make(["3-anonymity", words]))
    assert project.anonymizer.models == ()
    assert any(words in sentence for sentence in project.left)


def test_what_has_no_counterpart_is_listed(make):
    left = " ".join(read_arx_project(make(["0.5-disclosure privacy for attribute 'ill'"])).left)
    assert "k = 2" in left
    assert "least level 0 of generalization of 'sex'" in left
    assert "measure of quality (Loss)" in left


def test_a_hierarchy_that_is_no_tree_is_listed_without_its_values(make):
    broken = "40213;402**;*\n40213;511**;*\n"
    project = read_arx_project(make(parts={"input/hierarchies/zip.csv": broken}))
    assert "zip" not in project.anonymizer.hierarchies
    told = [sentence for sentence in project.left if "not a tree" in sentence]
    assert len(told) == 1
    assert "40213" not in told[0]


@pytest.mark.parametrize("separator", [";", ",", "\t", "|"])
def test_the_files_of_a_project_have_its_separator(make, separator):
    assert len(read_arx_project(make(separator=separator)).anonymizer.hierarchies) == 2


@pytest.mark.filterwarnings("ignore::shoal.errors.NotationNotice")
def test_the_command_writes_a_recipe_that_releases_and_copies_no_row(make, tmp_path, monkeypatch):
    from click.testing import CliRunner

    from shoal.cli.app import app

    project = make()
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke(app, ["import", str(project), "-o", "recipe.toml"])
    assert run.exit_code == 0, run.stderr
    assert "No counterpart:" in run.stdout
    assert "holds the original table" in " ".join(run.stdout.split())
    written = [path for path in tmp_path.rglob("*") if path.is_file() and path != project]
    assert not [path for path in written if PERSON.encode() in path.read_bytes()]
    people = pd.DataFrame(
        {
            "name": [f"n{number}" for number in range(48)],
            "zip": ["40213", "40217", "51107"] * 16,
            "sex": ["f", "m"] * 24,
            "born": ["01.02.1980", "03.04.1990", "05.06.1970", "07.08.1960"] * 12,
            "ill": [("flu", "gout", "cold")[number * number % 7 % 3] for number in range(48)],
            "cost": range(48),
        }
    )
    result = shoal.Anonymizer.load("recipe.toml", method="mondrian").fit(people).result_
    assert result.audit.k >= 4
    assert result.audit.l >= 2
    again = CliRunner().invoke(app, ["import", str(project), "-o", "recipe.toml"])
    assert again.exit_code == 2
    assert "--force" in again.stderr


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({"input/config.xml": None}, "lacks input/definition.xml or input/config.xml"),
        ({"input/definition.xml": "<definition>"}, "not the XML that ARX writes"),
        ({"input/config.xml": "<!DOCTYPE a [<!ENTITY b 'c'>]><config>&b;</config>"}, "not the XML that ARX writes"),
        ({"input/definition.xml": "<definition></definition>"}, "names no quasi-identifying column"),
    ],
)
def test_a_damaged_project_is_refused_in_a_sentence(make, parts, says):
    with pytest.raises(FileError, match=says):
        read_arx_project(make(parts=parts))


def test_what_is_no_project_is_refused_in_a_sentence(tmp_path):
    (tmp_path / "a.deid").write_text("no zip")
    with pytest.raises(FileError, match="is not a project of ARX"):
        read_arx_project(tmp_path / "a.deid")
    with pytest.raises(FileError, match="cannot be read"):
        read_arx_project(tmp_path / "none.deid")


def test_a_part_that_unfolds_beyond_measure_is_refused(make, monkeypatch):
    monkeypatch.setattr("shoal.api.arx._LARGEST", {"xml": 10_000, "csv": 1000})
    with pytest.raises(FileError, match="is larger than"):
        read_arx_project(make(parts={"input/hierarchies/zip.csv": "a;*\n" * 1000}))
