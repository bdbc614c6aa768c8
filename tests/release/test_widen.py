from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import attacks
from shoal.errors import ParameterError
from shoal.kernels.space.space import cover_groups
from shoal.release.widen import widen
from shoal.testing import checks
from tests.support.tables import TREE, coded_table, coded_tables


def tight_cover(table, seed=0):
    groups = max(1, table.records // 3)
    labels = np.random.default_rng(seed).integers(0, groups, table.records)
    labels = np.unique(labels, return_inverse=True)[1].astype(np.int32)
    return cover_groups(table.space, table.codes, labels, int(labels.max()) + 1)


def people(n=400, seed=0):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": rng.integers(18, 90, n),
            "job": rng.choice(list("abcdefg"), n),
            "town": rng.choice(["u", "v", "w", "x"], n),
            "ill": rng.choice(["flu", "gout", "cold"], n, p=[0.5, 0.3, 0.2]),
        }
    )


def released(share, **changes):
    return shoal.anonymize(
        people(),
        **(
            {
                "k": 4,
                "quasi_identifiers": ["age", "job", "town"],
                "sensitive": ["ill"],
                "hierarchies": {"job": TREE},
                "method": "mondrian",
                "widen": share,
                "ends": "exact",
            }
            | changes
        ),
    )


@settings(max_examples=60, deadline=None)
@given(coded_tables(), st.floats(0.01, 1.0), st.integers(0, 5))
def test_a_wider_box_holds_the_tight_one_and_stays_in_the_domain(table, share, seed):
    tight = tight_cover(table, seed)
    wider = widen(table, tight, share, seed)
    assert (wider.low <= tight.low).all()
    assert (wider.high >= tight.high).all()
    assert (wider.low >= 0).all()
    for row, column in enumerate(table.columns):
        fresh = wider.high[row] != tight.high[row]
        last = len(column.values) - 1 if column.kind.name != "node" else column.cardinality - 1
        assert (wider.high[row][fresh] <= last).all()
    assert ((tight.words & ~wider.words) == 0).all()


@given(st.integers(0, 50))
@settings(max_examples=20, deadline=None)
def test_bits_and_bounds_of_a_widened_set_agree(seed):
    table = coded_table(60, "s", seed)
    wider = widen(table, tight_cover(table, seed), 1.0, seed)
    for group in range(len(wider.size)):
        codes = np.flatnonzero(np.unpackbits(wider.words[group].view(np.uint8), bitorder="little"))
        assert (codes[0], codes[-1]) == (wider.low[0, group], wider.high[0, group])


def test_for_each_cell_that_had_to_be_a_node_so_many_others_become_it():
    table = coded_table(900, "f", 3)
    labels = np.concatenate([np.arange(300) // 3, 100 + np.arange(600)]).astype(np.int32)
    tight = cover_groups(table.space, table.codes, labels, 700)
    mixed = int((tight.low[0] != tight.high[0]).sum())
    wider = widen(table, tight, 0.5, 1)
    decoys = (tight.low[0] == tight.high[0]) & (wider.low[0] != wider.high[0])
    assert mixed > 50
    assert decoys.sum() == round(0.5 * mixed)


def test_an_intruder_who_takes_cells_for_tight_is_often_wrong():
    rates = {}
    for share in (0.0, 0.25, 1.0):
        found = attacks.downcoding(people(), released(share), ["age", "job", "town"], hierarchies={"job": TREE})
        rates[share] = (found.figures["tight"], found.success.share)
    assert rates[0.0][0] == 1.0
    assert rates[0.25][0] < 0.8
    assert rates[1.0][0] < 0.5
    assert rates[0.25][1] < 0.6 * rates[0.0][1]


def test_it_costs_loss_and_keeps_the_groups():
    plain, some, much = released(0.0), released(0.25), released(1.0)
    assert plain.groups.tolist() == much.groups.tolist()
    assert plain.metrics["ncp"] < some.metrics["ncp"] < much.metrics["ncp"]
    assert much.audit.k >= 4


def test_a_recipe_makes_the_same_wide_cells_again_and_another_table_other_ones():
    one, again = released(0.5), released(0.5)
    assert one.released.equals(again.released)
    assert not one.released.equals(released(0.5, seed=1).released)
    table = coded_table(90, "i", 0)
    other = coded_table(90, "i", 0)
    other.codes[0, 0] = (other.codes[0, 0] + 1) % other.columns[0].cardinality
    cover = tight_cover(table)
    assert widen(table, cover, 1.0, 0).low.tolist() != widen(other, cover, 1.0, 0).low.tolist()


@pytest.mark.parametrize("method", ["optimize", "bottom-up", "k-member", "sbca", "merge-split", "mondrian", "mdav"])
def test_every_method_can_release_wider_cells(method):
    def run(table, **parameters):
        return shoal.anonymize(table, **{"release": "ranges", "method": method, "widen": 0.5} | parameters)

    with pytest.warns(shoal.errors.ColumnLeftOutWarning):
        checks.check_released_values_cover_the_original(run)


def test_a_global_recoding_with_wider_cells_has_no_mapping_any_more():
    trees = {"age": shoal.Hierarchy.from_intervals(range(18, 90), [10, 20]), "job": TREE, "town": "flat"}
    result = released(0.5, method="datafly", hierarchies=trees)
    assert result.audit.k >= 4
    with pytest.raises(ParameterError, match="widen"):
        result.transform(people(20))


@pytest.mark.parametrize(
    "model",
    [shoal.DeltaDisclosure(1.2), shoal.TCloseness(0.25), shoal.LDiversity(2)],
    ids=lambda one: type(one).__name__,
)
def test_models_hold_on_the_wider_cells(model):
    result = released(1.0, models=[model])
    counted = model.bind(shoal.encoding.encode(shoal.frames.Frame(people()), ["age"], attributes=["ill"]))
    labels = np.unique([str(list(row.values())[:3]) for row in result.released.to_pylist()], return_inverse=True)[
        1
    ].astype(np.int32)
    assert not counted.failing(labels, int(labels.max()) + 1).any()


def test_what_wider_cells_would_break_is_refused():
    with pytest.raises(ParameterError, match="representatives"):
        released(0.5, method="mdav")
    with pytest.raises(ParameterError, match="'widen'"):
        released(1.5)
