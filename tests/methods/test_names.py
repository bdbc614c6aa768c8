"""The method that was called ``optimise`` answers to both spellings."""

import shoal
from shoal.methods import method_class
from shoal.recipe import Recipe


def test_the_former_name_of_the_optimizer_is_the_same_method() -> None:
    assert method_class("optimise") is method_class("optimize") is shoal.Optimise is shoal.Optimize


def test_a_recipe_with_the_former_name_is_read_as_the_present_one() -> None:
    assert Recipe.model_validate({"k": 5, "quasi_identifiers": ["age"], "method": "optimise"}).method == "optimize"
    assert shoal.Anonymizer(k=5, quasi_identifiers=["age"], method="optimise").method.info.name == "optimize"
