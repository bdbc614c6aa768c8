from __future__ import annotations

from typing import get_args

from shoal.cli.methods import FAMILIES
from shoal.methods import DEFAULT_METHOD, REGISTRY
from shoal.methods.base import Family


def test_every_method_is_listed_with_its_paper(shoal):
    told = shoal("methods", "--json").json
    assert [one["name"] for one in told] == list(REGISTRY)
    assert all(one["paper"] and one["family"] and one["complexity"] for one in told)
    assert [one["name"] for one in told if one["default"]] == [DEFAULT_METHOD]


def test_the_table_names_every_method_and_marks_the_default(shoal):
    run = shoal("methods")
    assert run.code == 0
    for name in REGISTRY:
        assert name in run.out
    assert "(default)" in run.out


def test_every_family_has_its_words():
    assert set(FAMILIES) == set(get_args(Family))
