"""The table of parameters is the one in use, and the page of the documentation shows it."""

from __future__ import annotations

import inspect

import shoal
from shoal.cli.anonymize import command
from shoal.compare import SHARED
from shoal.parameters import ENGINES, PARAMETERS, REQUIRED
from shoal.recipe import Recipe
from tests.engines.page import PAGE, page
from tests.engines.sweep import ABOUT_THE_RUN, CASES


def test_the_table_holds_every_parameter_in_the_order_of_the_signature():
    taken = [one for one in inspect.signature(shoal.anonymize).parameters.values() if one.name != "data"]
    assert [one.name for one in PARAMETERS] == [one.name for one in taken]
    defaults = [REQUIRED if one.default is inspect.Parameter.empty else one.default for one in taken]
    assert [one.default for one in PARAMETERS] == defaults


def test_recipes_comparisons_and_the_command_line_take_what_the_table_says():
    of_the_format = {"version", "method_options"}
    assert {one.name for one in PARAMETERS if one.in_recipe} == set(Recipe.model_fields) - of_the_format
    assert [one.name for one in PARAMETERS if one.in_comparison] == list(SHARED)
    options = {one.name for one in command.params}
    assert [one.name for one in PARAMETERS if one.on_command_line] == [
        one.name for one in PARAMETERS if one.name in options
    ]


def test_every_parameter_is_described_in_the_words_of_the_table_and_answered_by_every_engine():
    for one in PARAMETERS:
        assert one.words.endswith("."), one.name
        assert set(one.refused) | set(one.alone) <= set(ENGINES)


def test_every_parameter_has_a_place_in_the_sweep():
    swept = {case.parameter for case in CASES}
    assert swept | ABOUT_THE_RUN == {one.name for one in PARAMETERS}
    assert not swept & ABOUT_THE_RUN


def test_the_page_is_made_from_the_table():
    assert PAGE.read_text("utf-8") == page()
