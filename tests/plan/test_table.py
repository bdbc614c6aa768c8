"""The plan in memory: what a large table's groups are, whatever the order of its rows."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.encoding import encode
from shoal.errors import CancelledError
from shoal.frames import to_frame
from shoal.methods.base import Task
from shoal.methods.optimize import Optimize
from shoal.methods.optimize.params import EFFORTS
from shoal.plan import table as plan_table
from shoal.plan.contents import in_sample, order_by_content
from shoal.plan.steps import Job, sample_share
from shoal.plan.table import group_table
from shoal.privacy.base import bind_models
from tests.engines.tables import HIERARCHIES, QUASI_IDENTIFIERS, people
from tests.support.panels import QUASI, fewest_companions, owners_by_group, panel, released_groups

MODELS = (shoal.LDiversity(2), shoal.TCloseness(0.4))


def coded(table):
    return encode(to_frame(table), QUASI_IDENTIFIERS, hierarchies=HIERARCHIES, attributes=["illness"])


def released(table, **parameters):
    given = {"k": 5, "quasi_identifiers": QUASI_IDENTIFIERS, "sensitive": ["illness"], "identifiers": ["note"]}
    return shoal.anonymize(table, **given | {"hierarchies": HIERARCHIES, "effort": "fast"} | parameters)


def rows(result):
    return sorted(zip(*(column.to_pylist() for column in result.released.columns), strict=True), key=repr)


def test_effort_fast_cuts_tables_with_ranges_or_sets_earlier():
    columns, plain = coded(people(60)).columns, Job(Optimize(), Task(10, effort="fast"))
    by_hierarchy = [column for column in columns if column.hierarchy is not None]
    assert 0 < len(by_hierarchy) < len(columns)
    assert sample_share(32_768, plain, columns) is None
    assert sample_share(32_769, plain, columns) is not None
    others = [
        replace(plain, task=Task(26, effort="fast")),
        replace(plain, task=Task(10, effort="balanced")),
        replace(plain, models=(shoal.LDiversity(2),)),
        replace(plain, method=shoal.KMember()),
        replace(plain, method=Optimize(params=EFFORTS["fast"])),
    ]
    assert [sample_share(65_536, job, columns) for job in others] == [None] * len(others)
    assert sample_share(65_536, plain, by_hierarchy) is None


@pytest.mark.usefixtures("small_fragments")
@pytest.mark.parametrize("models", [(), MODELS])
def test_groups_of_a_large_table_do_not_depend_on_the_order_of_its_rows(models):
    table = people(900)
    order = np.random.default_rng(1).permutation(table.num_rows)
    one, other = released(table, models=models), released(table.take(pa.array(order)), models=models)
    assert one.details["fragments"] > 3
    assert rows(one) == rows(other)
    assert one.metrics["ncp"] == pytest.approx(other.metrics["ncp"], rel=1e-12)
    assert one.audit.k >= 5


@pytest.mark.usefixtures("small_fragments")
def test_groups_lie_within_fragments_and_models_hold_against_the_whole_table():
    result = released(people(900), models=MODELS)
    assert result.audit.l >= 2
    assert result.audit.t <= 0.4


@pytest.mark.usefixtures("small_fragments")
def test_models_are_measured_against_the_whole_table_and_not_the_fragment():
    table = coded(people(900))
    part = table.as_whole().take(np.arange(100))
    alone = bind_models([shoal.TCloseness(1.0)], table.take(np.arange(100)), ["illness"])[0]
    bound = bind_models([shoal.TCloseness(1.0)], part, ["illness"])[0]
    whole = bind_models([shoal.TCloseness(1.0)], table, ["illness"])[0]
    labels = np.repeat(np.arange(10, dtype=np.int32), 10)
    of_all = np.full(900, -1, np.int32)
    of_all[:100] = labels
    assert bound.measured(labels, 10) == pytest.approx(whole.measured(of_all, 10), rel=1e-12)
    assert alone.measured(labels, 10) != pytest.approx(whole.measured(of_all, 10), rel=1e-6)


def test_a_small_table_is_one_fragment_grouped_in_the_order_of_its_content():
    table = coded(people(300))
    task, order = Task(k=5, effort="fast"), order_by_content(table)
    found = group_table(Optimize(), table, task).labels
    assert (found[order] == Optimize().run(table.take(order), task).labels).all()


@pytest.mark.parametrize("method", ["bottom-up", "top-down", "k-member", "sbca", "merge-split"])
@pytest.mark.usefixtures("small_fragments")
def test_the_order_of_rows_does_not_matter_to_local_methods_on_large_tables(method):
    table = people(700)
    order = np.random.default_rng(1).permutation(700)
    one, other = released(table, method=method), released(table.take(pa.array(order)), method=method)
    assert rows(one) == rows(other)
    assert one.details["fragments"] > 1


def test_a_small_table_goes_through_other_methods_in_the_order_it_has():
    table = coded(people(300))
    for method in (shoal.BottomUp(), shoal.KMember()):
        assert (group_table(method, table, Task(k=5)).labels == method.run(table, Task(k=5)).labels).all()


@pytest.mark.usefixtures("small_fragments")
def test_other_methods_and_models_that_cannot_be_cut_see_the_whole_table():
    table = coded(people(600))
    for method, models in ((shoal.Mondrian(), ()), (Optimize(), (shoal.DeltaDisclosure(3.0),))):
        requirements = bind_models(models, table, ["illness"])
        found = group_table(method, table, Task(k=5, effort="fast", requirements=requirements), models, ["illness"])
        assert "fragments" not in found.details


def test_the_sample_is_chosen_by_content_alone():
    table = coded(people(2000))
    order = np.random.default_rng(3).permutation(2000)
    chosen = in_sample(table, 0, 0.25)
    assert (in_sample(table.take(order), 0, 0.25) == chosen[order]).all()
    assert 0.2 < chosen.mean() < 0.3
    assert (in_sample(table, 1, 0.25) != chosen).any()
    assert in_sample(table, 0, 1.0).all()


@pytest.mark.usefixtures("small_fragments")
def test_a_cancelled_run_ends_or_cuts_the_rest_quickly():
    table, event = coded(people(900)), threading.Event()
    seen = []

    def stop(fraction, text):
        seen.append(text)
        if fraction > 0.3:
            event.set()

    with pytest.raises(CancelledError):
        group_table(Optimize(), table, Task(k=5, effort="fast", progress=stop, cancel=event))
    event.clear()
    task = Task(k=5, effort="fast", progress=stop, cancel=event, on_interrupt="best")
    labels = group_table(Optimize(), table, task).labels
    assert np.bincount(labels).min() >= 5


@pytest.mark.usefixtures("small_fragments")
@pytest.mark.parametrize(
    "models", [(), (shoal.LDiversity(2), shoal.TCloseness(0.5, "equal"), shoal.AlphaK(0.9), shoal.BetaLikeness(6.0))]
)
def test_a_large_panel_is_cut_and_counts_people_against_the_whole_of_them(models):
    table = panel(500, most=4)
    result = shoal.anonymize(
        table,
        k=4,
        quasi_identifiers=QUASI,
        sensitive=["ill"],
        identifiers=["hh", "w"],
        person="nr",
        models=models,
        effort="fast",
    )
    assert result.details["fragments"] > 2
    assert min(map(len, owners_by_group(result, table, "nr").values())) >= 4
    nr, ill = table["nr"].to_pylist(), table["ill"].to_pylist()
    assert len(set(nr) & {one for one, group in zip(nr, result.groups, strict=True) if group >= 0}) == 500
    bearers = Counter(value for _, value in set(zip(nr, ill, strict=True)))
    for rows_of in released_groups(result).values() if models else ():
        pairs = {(nr[row], ill[row]) for row in rows_of}
        counts, persons = Counter(value for _, value in pairs), len({one for one, _ in pairs})
        assert len(counts) >= 2
        assert max(counts.values()) <= 0.9 * persons
        whole = sum(bearers.values())
        assert sum(abs(counts[one] / len(pairs) - bearers[one] / whole) for one in bearers) / 2 <= 0.5
        assert max(counts[one] / persons * 500 / bearers[one] - 1 for one in counts) <= 6.0


@pytest.mark.usefixtures("small_fragments")
def test_a_panel_whose_people_stay_together_is_not_cut():
    table = panel(200, most=3)
    result = shoal.anonymize(
        table, k=4, quasi_identifiers=QUASI, identifiers=["hh", "w", "ill"], person="nr", together=True, effort="fast"
    )
    assert "fragments" not in result.details
    assert fewest_companions(result, table, "nr") >= 4


def test_groups_of_two_fragments_that_fail_a_model_together_are_mended(monkeypatch):
    """In each year 6 of 10 persons in town a bear the value, in both years together all of them."""
    ill = [*["flu"] * 6, *"wxyz", *"wxyz", *["flu"] * 6, *"wxyz" * 5]
    table = pa.table(
        {
            "town": pa.array(["a"] * 20 + ["b"] * 20),
            "person": pa.array([*range(10), *range(10), *range(10, 30)]),
            "ill": pa.array(ill),
        }
    )
    monkeypatch.setattr(plan_table, "sample_share", lambda *_: 1.0)
    monkeypatch.setattr(
        plan_table, "fragment_by_record", lambda *_: np.repeat([0, 1, 2], [10, 10, 20]).astype(np.int32)
    )
    given = {"k": 5, "quasi_identifiers": ["town"], "sensitive": ["ill"], "person": "person", "effort": "fast"}
    given |= {"hierarchies": {"town": "flat"}, "models": [shoal.AlphaK(0.7)]}
    order = pa.array(np.random.default_rng(4).permutation(10))
    shuffled = pa.concat_tables([table[begin : begin + 10].take(order) for begin in range(0, 40, 10)])
    one, other = shoal.anonymize(table, **given), shoal.anonymize(shuffled, **given)
    assert one.details["fragments"] == 3
    assert one.audit.k >= 5
    assert sorted(map(repr, one.released.to_pylist())) == sorted(map(repr, other.released.to_pylist()))
