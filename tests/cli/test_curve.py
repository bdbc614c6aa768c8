from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import shoal
from shoal.cli.app import app
from shoal.metrics import classification_curve, classification_error

pytestmark = pytest.mark.compiled


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a register, its hierarchies and a recipe."""
    here = tmp_path_factory.mktemp("curve")
    register = shoal.datasets.hospital(n=2_000, seed=2)
    register.patients.select(["zip", "job", "diagnosis"]).to_pandas().to_csv(here / "patients.csv", index=False)
    trees = {name: register.hierarchies[name] for name in ("zip", "job")}
    names = {"quasi_identifiers": ["zip", "job"], "sensitive": ["diagnosis"]}
    shoal.Anonymizer(k=5, hierarchies=trees, **names).save(here / "recipe.toml")
    return here


def run(folder: Path, *more: str):
    recipe = ["--recipe", str(folder / "recipe.toml"), "--target", "diagnosis"]
    return CliRunner().invoke(app, ["curve", str(folder / "patients.csv"), *recipe, *more], prog_name="shoal")


def test_each_point_is_what_a_release_at_that_step_has(folder):
    done = run(folder, "-k", "3,300,60", "--queries", "50", "--json")
    assert done.exit_code == 0, done.stderr
    points = json.loads(done.stdout)["points"]
    assert [point["k"] for point in points] == [3, 60, 300]
    bug = shoal.BottomUpGeneralization(target="diagnosis")
    result = shoal.Anonymizer.load(folder / "recipe.toml", k=300, method=bug).fit(folder / "patients.csv").result_
    for point in points:
        release = result if point["k"] == 300 else result.at(k=point["k"])
        assert point["loss"] == release.metrics["ncp"]
        assert point["error"] == classification_error(release, "diagnosis").error
    losses = [point["loss"] for point in points]
    assert losses == sorted(losses)
    assert losses[0] < losses[-1]


def test_a_classifier_of_ones_own_is_trained(folder):
    done = run(folder, "-k", "20", "--queries", "20", "--learner", "sklearn.dummy:DummyClassifier", "--json")
    point = json.loads(done.stdout)["points"][0]
    assert point["error"] == point["baseline"] == pytest.approx(point["worst"])


def test_the_curve_in_the_terminal_has_a_line_for_each_k(folder):
    done = run(folder, "-k", "5,20", "--queries", "20")
    assert done.exit_code == 0
    assert "query error" in done.stdout
    assert done.stdout.count(" % ") >= 12


def test_the_release_of_one_k_is_written_and_has_it(folder, tmp_path):
    target = tmp_path / "release.csv"
    done = run(folder, "-k", "5,200", "--queries", "20", "--at", "40", "-o", str(target), "--json")
    assert done.exit_code == 0, done.stderr
    point = next(one for one in json.loads(done.stdout)["points"] if one["k"] == 40)
    assert shoal.audit(target, quasi_identifiers=["zip", "job"]).k >= 40
    bug = shoal.BottomUpGeneralization(target="diagnosis")
    result = shoal.Anonymizer.load(folder / "recipe.toml", k=200, method=bug).fit(folder / "patients.csv").result_
    assert point["loss"] == result.at(k=40).metrics["ncp"]
    assert len(target.read_text("utf-8").splitlines()) == result.released.num_rows + 1


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--learner", "nowhere:Nothing"], "The learner 'nowhere:Nothing' cannot be made"),
        (["--learner", "forest"], "must be 'tree', 'boosting', or module:Class"),
        (["--at", "5"], "The option --at needs --output. Got none."),
        (["-o", "release.csv"], "The option --output needs --at. Got none."),
        (["-k", ","], "A curve needs at least one size of k. Got none."),
    ],
)
def test_a_bad_choice_is_one_sentence(folder, more, said):
    done = run(folder, *more)
    assert done.exit_code == 2
    assert said in " ".join(done.stderr.split())


def test_a_curve_without_a_recipe_says_what_to_add(folder):
    done = CliRunner().invoke(app, ["curve", str(folder / "patients.csv"), "--target", "diagnosis"])
    assert done.exit_code == 2
    assert "add --recipe recipe.toml" in done.stderr


def test_the_curve_of_a_result_takes_each_k_once(folder):
    bug = shoal.BottomUpGeneralization(target="diagnosis")
    result = shoal.Anonymizer.load(folder / "recipe.toml", k=20, method=bug).fit(folder / "patients.csv").result_
    assert [k for k, _ in classification_curve(result, "diagnosis", k=[20, 5, 20])] == [5, 20]
