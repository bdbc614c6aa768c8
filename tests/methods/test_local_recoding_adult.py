"""Xu et al. (2006), sections 4.2 and 5.2, on UCI Adult and on synthetic tables."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import shoal
from shoal.encoding import encode
from shoal.frames import to_frame
from shoal.kernels.space.range_costs import tabulate_costs
from shoal.kernels.space.space import cover_groups, group_cost
from shoal.kernels.top_down.partition import find_columns, find_seeds

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
            made[method, k] = shoal.anonymize(
                adult, k=k, quasi_identifiers=NAMES, hierarchies=trees, method=method, ends="exact"
            )
        return made[method, k]

    return run


KS = [2, 5, 10, 25, 50, 100]


@pytest.mark.parametrize("k", KS)
@pytest.mark.parametrize("method", ["bottom-up", "top-down"])
def test_both_methods_are_below_mondrian_in_ncp_discernability_and_query_error(adult, release, method, k):
    ours, mondrian = release(method, k), release("mondrian", k)
    assert ours.metrics["ncp"] < mondrian.metrics["ncp"]
    assert ours.metrics["dm"] < mondrian.metrics["dm"]
    for aggregate in ("count", "sum"):
        errors = [shoal.metrics.query_error(adult, one, 300, aggregate, seed=1).mean for one in (ours, mondrian)]
        assert errors[0] < errors[1]


@pytest.mark.parametrize("k", KS)
def test_merging_by_the_least_increase_loses_less_than_by_the_least_union(release, k):
    increase, union = (release(shoal.BottomUp(merge=merge), k) for merge in ("increase", "union"))
    mondrian = release(shoal.Mondrian(order="given"), k)  # one that numbers values by size is better at k = 100
    assert increase.metrics["ncp"] < union.metrics["ncp"] < mondrian.metrics["ncp"]
    assert (union.metrics["dm"] < mondrian.metrics["dm"]) == (k <= 25)  # see docs/methods/bottom-up.md


@pytest.mark.parametrize("k", KS)
def test_a_mondrian_that_cuts_only_at_the_median_loses_more(release, k):
    baseline = release(shoal.Mondrian(cut="median", order="given"), k).metrics
    nearest = release(shoal.Mondrian(order="given"), k).metrics
    assert baseline["ncp"] > nearest["ncp"]
    assert baseline["dm"] > nearest["dm"]


@pytest.mark.parametrize("k", KS)
@pytest.mark.parametrize("cut", ["nearest", "median"])
def test_numbering_values_by_size_never_loses_more_than_the_alphabet(release, cut, k):
    by_size, given = (release(shoal.Mondrian(cut=cut, order=order), k).metrics["ncp"] for order in ("sizes", "given"))
    assert by_size < given


def test_bottom_up_by_unions_without_its_split_step_has_the_ncp_our_design_names(release):
    method = shoal.BottomUp(split=False, merge="union")
    assert release(method, 10).metrics["ncp_total"] == pytest.approx(3.4e4, rel=0.03)


def seeds_of(table, order, rounds):
    """Return two records far apart, as numbers in ``order``, and their cost; the first of ``order`` is the start."""
    rows, columns = table.codes[:, order], np.empty(len(table.columns), np.int64)
    columns = columns[: find_columns(rows, columns)]
    return find_seeds(table.space, tabulate_costs(table.space), columns, rows, rounds, np.empty(order.size))


def share_of_the_dearest_pair(table, rounds, records=2000, starts=40):
    """Return the mean cost of the seeds, over random starts, as a share of the most expensive pair's cost."""
    random = np.random.default_rng(0)
    chosen = random.permutation(table.records)[:records]
    farthest = max(seeds_of(table, np.roll(chosen, -start), 1)[2] for start in range(records))
    shares = [seeds_of(table, random.permutation(chosen), rounds)[2] / farthest for _ in range(starts)]
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


def share_of_the_corners(kind, seed, rounds=3, starts=50):
    """Return the mean cost of the seeds of a generated table as a share of the most expensive pair's, found by all corners."""
    made = getattr(shoal.datasets, kind)(10_000, seed=seed)
    table = encode(to_frame(made), made.column_names)
    values = np.array([made[name].to_numpy() for name in made.column_names], float)
    scaled = (values - values.min(axis=1, keepdims=True)) / np.ptp(values, axis=1, keepdims=True)
    dearest = max(np.ptp(np.array(signs) @ scaled) for signs in itertools.product((1, -1), repeat=len(values)))
    random = np.random.default_rng(seed)
    shuffled = (random.permutation(table.records) for _ in range(starts))
    return np.mean([seeds_of(table, order, rounds)[2] for order in shuffled]) / dearest


@pytest.mark.parametrize(("kind", "share"), [("uniform", 0.97), ("gaussian", 0.95)])
def test_over_ten_generated_tables_three_rounds_reach_the_share_our_page_states(kind, share):
    assert np.mean([share_of_the_corners(kind, seed) for seed in range(10)]) > share


def test_the_cost_of_seeds_is_that_of_their_pair():
    made = shoal.datasets.uniform(200, seed=1)
    table = encode(to_frame(made), made.column_names)
    one, other, cost = seeds_of(table, np.arange(200), 3)
    pair = np.ascontiguousarray(table.codes[:, [one, other]])
    cover = cover_groups(table.space, pair, np.zeros(2, np.int32), 1)
    assert cost == pytest.approx(group_cost(table.space, cover, 0), rel=1e-12)


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
