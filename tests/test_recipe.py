from __future__ import annotations

import json
import tomllib

import jsonschema
import pyarrow as pa
import pytest

import shoal
from shoal.api import Anonymizer
from shoal.errors import FileError, ParameterError
from shoal.hierarchy import Hierarchy
from shoal.recipe import json_schema
from tests.support.schemas import same_meaning

TABLE = pa.table({"age": list(range(20)), "job": ["nurse", "medic", "smith", "baker"] * 5, "secret": ["x", "y"] * 10})
TREE = Hierarchy.from_dict({"*": {"care": ["nurse", "medic"], "craft": ["smith", "baker"]}})


def made(**changes):
    return Anonymizer(
        **(
            {
                "k": 4,
                "quasi_identifiers": ["age", "job"],
                "sensitive": ["secret"],
                "hierarchies": {"job": TREE},
                "weights": {"age": 2.0},
                "models": [shoal.KAnonymity(3)],
                "method": shoal.Mondrian(strict=False),
                "seed": 9,
            }
            | changes
        )
    )


def test_a_recipe_makes_the_same_release_again(tmp_path):
    first = made()
    first.save(tmp_path / "recipe.toml")
    second = Anonymizer.load(tmp_path / "recipe.toml")
    assert second.recipe().model_dump(exclude={"hierarchies"}) == first.recipe().model_dump(exclude={"hierarchies"})
    assert second.method == shoal.Mondrian(strict=False)
    assert first.fit(TABLE).result_.groups.tolist() == second.fit(TABLE).result_.groups.tolist()


def test_hierarchies_are_written_beside_it_and_referred_to_by_relative_path(tmp_path):
    made().save(tmp_path / "recipe.toml")
    content = tomllib.loads((tmp_path / "recipe.toml").read_text())
    assert content["hierarchies"] == {"job": "recipe-hierarchies/job.csv"}
    moved = tmp_path.rename(tmp_path.parent / "moved")
    assert Anonymizer.load(moved / "recipe.toml").fit(TABLE).result_.audit.k >= 4


def test_a_recipe_holds_no_value_of_the_table(tmp_path):
    anonymizer = made(hierarchies={})
    anonymizer.fit(TABLE)
    anonymizer.save(tmp_path / "recipe.toml")
    text = (tmp_path / "recipe.toml").read_text()
    for value in ("nurse", "smith", "x\n"):
        assert value not in text


def test_changes_replace_what_a_recipe_says(tmp_path):
    made().save(tmp_path / "recipe.toml")
    assert Anonymizer.load(tmp_path / "recipe.toml", k=7).k == 7


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("k = 4\nquasi_identifiers = ['age']\nseeds = 1\n", "unknown key 'seeds'"),
        ("k = 1\nquasi_identifiers = ['age']\n", "wrong at 'k'"),
        ("k = 4\n", "wrong at 'quasi_identifiers'"),
        ("k = 4\nquasi_identifiers = []\n", "wrong at 'quasi_identifiers'"),
        ("k = = 4", "not valid TOML"),
        ("k = 4\nquasi_identifiers = ['age']\nmethod = 'mondrian'\n[method_options]\nstrickt = true\n", "options"),
        ("k = 4\nquasi_identifiers = ['age']\n[[models]]\nmodel = 'k-anonimity'\n", "did you mean 'k-anonymity'"),
        ("k = 4\nquasi_identifiers = ['age']\n[[models]]\nmodel = 'k-anonymity'\nl = 3\n", "parameters ['l']"),
    ],
)
def test_a_wrong_recipe_is_refused_with_a_sentence(tmp_path, text, message):
    (tmp_path / "wrong.toml").write_text(text)
    with pytest.raises(ParameterError) as fault:
        Anonymizer.load(tmp_path / "wrong.toml")
    assert message in str(fault.value)


def test_a_recipe_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(FileError, match="does not exist"):
        Anonymizer.load(tmp_path / "none.toml")


def test_the_published_schema_accepts_a_written_recipe_and_refuses_unknown_keys(tmp_path):
    made().save(tmp_path / "recipe.toml")
    content = tomllib.loads((tmp_path / "recipe.toml").read_text())
    jsonschema.validate(content, json_schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(content | {"seeds": 3}, json_schema())


def test_the_schema_in_the_docs_is_the_one_in_use(request):
    path = request.config.rootpath / "docs" / "reference" / "recipe.schema.json"
    assert same_meaning(json.loads(path.read_text())) == same_meaning(json_schema())
