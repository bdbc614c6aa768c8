"""A recipe means the same when it is loaded again, and an option replaces its own key and nothing else."""

from __future__ import annotations

import tomllib

import pytest

import shoal
from shoal.api import Anonymizer
from shoal.cli.choices import make_anonymizer
from shoal.engines import memory
from shoal.errors import ParameterError
from shoal.hierarchy import Hierarchy
from tests.cli.conftest import shoal as call
from tests.engines.tables import people

__all__ = ["call"]

TOWNS = Hierarchy.from_dict({"*": {"north": ["a", "b", "c"], "south": ["d", "e", "f"]}})
GIVEN = {"k": 5, "quasi_identifiers": ["age", "town"], "method": "mondrian"}
TABLE = people(120).select(["age", "town"])


def saved(folder, **given):
    Anonymizer(**GIVEN | given).save(folder / "recipe.toml", force=True)
    return folder / "recipe.toml"


def test_weights_of_the_nodes_of_a_hierarchy_are_saved(tmp_path):
    heavy = TOWNS.weighted({"south": 9.0, "a": 0.5})
    path = saved(tmp_path, hierarchies={"town": heavy})
    assert tomllib.loads(path.read_text())["weights"] == {"town": {"south": 9.0, "a": 0.5}}
    fitted = Anonymizer(**GIVEN, hierarchies={"town": heavy}).fit(TABLE).result_
    again = Anonymizer.load(path).fit(TABLE).result_
    assert again.metrics["ncp"] == fitted.metrics["ncp"]
    assert again.metrics["ncp"] != Anonymizer(**GIVEN, hierarchies={"town": TOWNS}).fit(TABLE).result_.metrics["ncp"]


def test_weights_of_nodes_given_beside_a_hierarchy_stand_before_its_own(tmp_path):
    given = {"hierarchies": {"town": TOWNS.weighted({"south": 9.0})}, "weights": {"town": {"north": 2.0}}}
    path = saved(tmp_path, **given)
    assert Anonymizer.load(path).fit(TABLE).result_.metrics == Anonymizer(**GIVEN, **given).fit(TABLE).result_.metrics


def test_a_weight_of_a_column_whose_hierarchy_has_weights_is_not_saved(tmp_path):
    with pytest.raises(ParameterError, match="holds one of the two"):
        saved(tmp_path, hierarchies={"town": TOWNS.weighted({"south": 9.0})}, weights={"town": 2.0})
    assert list(tmp_path.iterdir()) == []


def test_a_model_on_a_table_in_memory_is_not_saved(tmp_path):
    with pytest.raises(ParameterError, match="'population' of the model 'k-map' is an object"):
        saved(tmp_path, models=[shoal.KMap(9, people(300))])
    assert list(tmp_path.iterdir()) == []


def test_a_release_that_is_the_methods_own_is_not_pinned(tmp_path):
    assert "release" not in tomllib.loads(saved(tmp_path).read_text())
    assert Anonymizer.load(tmp_path / "recipe.toml", method="mdav").release == "representatives"
    assert tomllib.loads(saved(tmp_path, release="representatives").read_text())["release"] == "representatives"
    assert Anonymizer.load(tmp_path / "recipe.toml", method="optimize").release == "representatives"


@pytest.fixture
def recipe(tmp_path):
    """Return a recipe that says something of two columns in each key that names columns."""
    (tmp_path / "town.csv").write_text("a;x;*\nb;x;*\nc;x;*\nd;y;*\ne;y;*\nf;y;*\n", "utf-8")
    (tmp_path / "recipe.toml").write_text(
        """k = 5
quasi_identifiers = ["age", "height", "town", "blood"]
keep = ["note", "cost"]
missing = ["NA", "-1"]
[kinds]
age = "numeric"
height = "numeric"
[hierarchies]
town = "town.csv"
blood = "flat"
[weights]
age = 2.0
[weights.town]
x = 3.0
y = 4.0
[ends]
age = 10
height = 5
[treat.note]
treatment = "drop"
[treat.cost]
treatment = "round"
to = 10
""",
        "utf-8",
    )
    return tmp_path / "recipe.toml"


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("kinds", {"age": "nominal"}, {"age": "nominal", "height": "numeric"}),
        ("hierarchies", {"blood": "set"}, {"town": "town.csv", "blood": "set"}),
        ("weights", {"height": "7"}, {"age": 2.0, "height": 7.0, "town": {"x": 3.0, "y": 4.0}}),
        ("weights", {"town:y": "9"}, {"age": 2.0, "town": {"x": 3.0, "y": 9.0}}),
        ("weights", {"town": "9"}, {"age": 2.0, "town": 9.0}),
        ("ends", {"age": 20}, {"age": 20.0, "height": 5.0}),
        ("ends", "exact", "exact"),
        ("missing", ("B",), ["B"]),
        ("missing", (), []),
        ("k", 9, 9),
    ],
)
def test_an_option_replaces_its_own_key_and_nothing_else(recipe, name, given, expected):
    before = make_anonymizer(recipe, {}, None).recipe().model_dump()
    after = make_anonymizer(recipe, {name: given}, None).recipe().model_dump()
    found = after[name]
    if name == "hierarchies":
        found = {column: choice.rpartition("/")[2] for column, choice in found.items()}
    assert found == expected
    assert {key: after[key] for key in after if key != name} == {key: before[key] for key in before if key != name}


def test_a_step_beside_a_word_leaves_the_other_columns_at_this_word(recipe):
    recipe.write_text('k = 5\\nquasi_identifiers = ["age", "height"]\\nends = "exact"\\n'.replace("\\n", "\n"))
    assert make_anonymizer(recipe, {"ends": {"age": 5}}, None).ends == {"age": 5.0, "height": "exact"}


@pytest.mark.parametrize("command", ["anonymize", "compare"])
@pytest.mark.parametrize(("words", "marks"), [([], ["Z"]), (["--missing", "Y"], ["Y"]), (["--missing", ""], [])])
def test_marks_for_missing_values_given_as_an_option_stand_before_those_of_the_recipe(
    call, tmp_path, monkeypatch, command, words, marks
):
    (tmp_path / "t.csv").write_text("age,town\n" + "".join(f"{20 + n % 9},{'YZ'[n % 2]}\n" for n in range(40)), "utf-8")
    (tmp_path / "r.toml").write_text('k = 5\nquasi_identifiers = ["age", "town"]\nmissing = ["Z"]\n', "utf-8")
    seen = []
    real = memory.release_in_memory
    monkeypatch.setattr(
        memory, "release_in_memory", lambda asked, *more: (seen.append(asked.missing), real(asked, *more))[1]
    )
    words = ["-k", "5", *words] + (["--methods", "mondrian"] if command == "compare" else ["--method", "mondrian"])
    done = call(command, tmp_path / "t.csv", "--recipe", tmp_path / "r.toml", *words, "--json")
    assert done.code == 0, done.err
    assert [list(one) for one in seen] == [marks]


@pytest.mark.parametrize(("text", "released"), [("", ["representatives"]), ('release = "ranges"', ["ranges"])])
def test_compare_keeps_the_release_that_a_recipe_names(call, tmp_path, monkeypatch, text, released):
    (tmp_path / "t.csv").write_text("age,town\n" + "".join(f"{20 + n % 9},{n % 3}\n" for n in range(40)), "utf-8")
    (tmp_path / "r.toml").write_text(f'k = 5\nquasi_identifiers = ["age", "town"]\n{text}\n', "utf-8")
    seen = []
    real = memory.release_in_memory
    monkeypatch.setattr(
        memory, "release_in_memory", lambda asked, *more: (seen.append(asked.release), real(asked, *more))[1]
    )
    done = call("compare", tmp_path / "t.csv", "--recipe", tmp_path / "r.toml", "-k", "5", "--methods", "mdav")
    assert (done.code, seen) == (0, released)
