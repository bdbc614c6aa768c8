"""k-map by survey weights, counted again with nothing but the released cells and the weights."""

from __future__ import annotations

import numpy as np
import pytest

import shoal
from shoal.errors import ParameterError, PrivacyError
from shoal.privacy.weights import WeightRequirement, represented
from tests.support.panels import QUASI, panel, released_groups

pytestmark = [pytest.mark.compiled, pytest.mark.filterwarnings("ignore::shoal.errors.RepeatedPersonWarning")]

TABLE = panel(80, most=2, seed=4)
PEOPLE = 150
HIERARCHIES = {
    "age": shoal.Hierarchy.from_intervals(TABLE["age"].to_pylist(), [10, 30]),
    "wave": "flat",
    "sex": "flat",
    "region": "flat",
}


def release(**changes):
    arguments = {
        "k": 2, "quasi_identifiers": QUASI, "sensitive": ["ill"], "identifiers": ["nr", "hh"], "survey_weight": "w",
        "models": [shoal.KMap(PEOPLE)], "effort": "fast", "release": "ranges",
    }  # fmt: skip
    return shoal.anonymize(TABLE, **arguments | changes)


def sums(result):
    weight = TABLE["w"].to_pylist()
    return [sum(weight[row] for row in rows) for rows in released_groups(result).values()]


@pytest.mark.parametrize("method", ["optimize", "mondrian", "mdav", "datafly"])
def test_every_combination_stands_for_enough_people(method):
    more = {"hierarchies": HIERARCHIES, "max_suppression": 0.5} if method == "datafly" else {}
    result = release(method=method, **more)
    assert min(sums(result)) >= PEOPLE
    assert result.audit.people["k_map"] == np.floor(min(sums(result)))
    if method != "datafly":  # it may do without by chance
        assert min(sums(release(method=method, models=[], **more))) < PEOPLE


def test_a_persons_records_stand_for_their_mean_and_other_models_hold_beside():
    result = release(
        method="optimize", person="nr", identifiers=["hh"], models=[shoal.KMap(PEOPLE), shoal.LDiversity(2)]
    )
    weight, person = TABLE["w"].to_pylist(), TABLE["nr"].to_pylist()
    for rows in released_groups(result).values():
        of = {one: [weight[row] for row in rows if person[row] == one] for one in {person[row] for row in rows}}
        assert sum(sum(each) / len(each) for each in of.values()) >= PEOPLE
        assert len({TABLE["ill"][row].as_py() for row in rows}) >= 2


def test_people_are_those_of_the_mean_weight_of_each_person():
    label, person = np.array([0, 0, 0, 1, -1], np.int32), np.array([7, 7, 8, 7, 8], np.int32)
    weight = np.array([10.0, 20.0, 5.0, 4.0, 99.0])
    assert represented(label, 2, weight).tolist() == [35.0, 4.0]
    assert represented(label, 2, weight, person).tolist() == [20.0, 4.0]


def test_the_recipe_keeps_it_without_a_population(tmp_path):
    made = shoal.Anonymizer(k=2, quasi_identifiers=["age"], survey_weight="w", models=[shoal.KMap(30)])
    made.save(tmp_path / "recipe.toml")
    (model,) = shoal.Anonymizer.load(tmp_path / "recipe.toml").models
    assert (model.k, model.population) == (30, None)
    assert "survey weights" in model.describe()


def test_what_cannot_be_estimated_or_reached_is_told_in_one_sentence():
    with pytest.raises(ParameterError, match="neither a list of it nor survey weights"):
        release(survey_weight=None, keep=["w"])
    with pytest.raises(PrivacyError, match="the whole table stands for"):
        release(models=[shoal.KMap(10**6)])


@pytest.mark.parametrize("person", [None, "nr"])
def test_survey_weights_are_kept_by_the_search_and_not_the_slow_way(person):
    told = []
    release(method="mondrian", person=person, progress=lambda _share, text: told.append(text))
    assert told
    assert not any("slow" in text for text in told)


def test_the_search_rounds_weights_down_by_less_than_a_sixteenth():
    weight = np.random.default_rng(0).lognormal(3.0, 2.0, 500)
    bound = WeightRequirement(40, weight)
    rounded = bound.rounded.row.value[bound.rounded.row.codes]
    assert ((weight * 15 / 16 < rounded) & (rounded <= weight)).all()
    assert len(bound.rounded.row.value) < 250
    label = (np.arange(500) % 60).astype(np.int32)
    assert (bound.rounded.failing(label, 60) | ~bound.failing(label, 60)).all()


def test_weights_that_differ_within_a_person_or_are_barely_enough_are_not_rounded():
    weight, label = np.array([10.9, 20.9, 5.9, 4.9]), np.zeros(4, np.int32)
    assert WeightRequirement(10, weight, np.array([0, 0, 1, 2], np.int32)).rounded is None
    barely = WeightRequirement(42, weight)
    assert not barely.failing(label, 1)[0]
    assert barely.rounded is None
