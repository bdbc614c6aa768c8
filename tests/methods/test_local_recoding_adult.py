"""Xu et al. (2006), sections 4.2 and 5.2, on UCI Adult and on synthetic tables."""

from __future__ import annotations

import numpy as np
import pytest

import shoal
from shoal.encoding import encode
from shoal.frames import to_frame
from shoal.kernels.range_costs import tabulate_costs
from shoal.kernels.top_down import find_seeds, pair_cost

pytestmark = pytest.mark.compiled
TEXT = ["workclass", "marital-status", "occupation", "race", "sex", "native-country"]
NAMES = ["age", "education-num", *TEXT]


@pytest.fixture(scope="module")
def adult(data_path):
    return shoal.read_table(data_path("adult/adult.csv")).select(NAMES)


@pytest.fixture(scope="module")
def release(adult, data_path):
    """Return a function that releases Adult in the paper's setting; each release is made once."""
    trees = dict.fromkeys(TEXT, "flat") | {name: str(data_path(f"adult/hierarchies/{name}.csv")) for name in TEXT[:2]}
    made = {}

    def run(method, k):
        if (method, k) not in made:
            made[method, k] = shoal.anonymize(adult, k=k, quasi_identifiers=NAMES, hierarchies=trees, method=method)
        return made[method, k]

    return run


@pytest.mark.parametrize("k", [2, 5, 10, 25, 50, 100])
def test_top_down_is_below_mondrian_in_ncp_discernability_and_query_error(adult, release, k):
    ours, mondrian = release("top-down", k), release("mondrian", k)
    assert ours.metrics["ncp"] < mondrian.metrics["ncp"]
    assert ours.metrics["dm"] < mondrian.metrics["dm"]
    for aggregate in ("count", "sum"):
        errors = [shoal.metrics.query_error(adult, one, 300, aggregate, seed=1).mean for one in (ours, mondrian)]
        assert errors[0] < errors[1]


@pytest.mark.parametrize("k", [2, 10])
def test_bottom_up_is_below_mondrian_in_ncp_discernability_and_query_error(adult, release, k):
    ours, mondrian = release("bottom-up", k), release("mondrian", k)
    assert ours.metrics["ncp"] < mondrian.metrics["ncp"]
    assert ours.metrics["dm"] < mondrian.metrics["dm"]
    for aggregate in ("count", "sum"):
        errors = [shoal.metrics.query_error(adult, one, 300, aggregate, seed=1).mean for one in (ours, mondrian)]
        assert errors[0] < errors[1]


def test_bottom_up_without_its_split_step_has_the_ncp_our_design_names(release):
    assert release(shoal.BottomUp(split=False), 10).metrics["ncp_total"] == pytest.approx(3.4e4, rel=0.03)


def share_of_the_dearest_pair(table, rounds, records=2000, starts=40):
    """Return the mean cost of the seeds, over random starts, as a share of the dearest pair's cost."""
    random = np.random.default_rng(0)
    rows = np.ascontiguousarray(table.codes[:, random.permutation(table.records)[:records]].T)
    space, costs = table.space, tabulate_costs(table.space)
    farthest = max(
        find_seeds(space, costs, np.roll(rows, -start, axis=0), 0, records, 1)[2] for start in range(records)
    )
    shares = [
        find_seeds(space, costs, rows[random.permutation(records)], 0, records, rounds)[2] / farthest
        for _ in range(starts)
    ]
    return np.mean(shares)


@pytest.mark.parametrize("kind", ["adult", "uniform", "gaussian"])
def test_three_rounds_find_seeds_nearly_as_dear_as_any_pair(kind, request):
    if kind == "adult":
        table = request.getfixturevalue("release")("mondrian", 10).coded
    else:
        made = getattr(shoal.datasets, kind)(2000, seed=0)
        table = encode(to_frame(made), made.column_names)
    one, three, six = (share_of_the_dearest_pair(table, rounds) for rounds in (1, 3, 6))
    assert three > 0.93  # the paper's figure shows 97 %; see docs/methods/top-down.md
    assert one < three <= six


def test_the_cost_of_seeds_is_that_of_their_pair():
    made = shoal.datasets.uniform(200, seed=1)
    table = encode(to_frame(made), made.column_names)
    rows, costs = np.ascontiguousarray(table.codes.T), tabulate_costs(table.space)
    one, other, cost = find_seeds(table.space, costs, rows, 0, 200, 3)
    assert cost == pair_cost(table.space, costs, rows, one, other)


@pytest.mark.parametrize("method", ["bottom-up", "top-down"])
def test_weights_8_4_2_1_bring_queries_on_heavy_columns_closer(method):
    table, names = shoal.datasets.uniform(4000, seed=0), ["A1", "A2", "A3", "A4"]
    equal, chosen = (
        shoal.anonymize(table, k=10, quasi_identifiers=names, method=method, weights=weights)
        for weights in ({}, dict(zip(names, (8, 4, 2, 1), strict=True)))
    )
    for asked in (names[:1], names[:2], names[:3]):
        errors = [shoal.metrics.query_error(table, one, columns=asked, seed=1).mean for one in (chosen, equal)]
        assert errors[0] < errors[1]
