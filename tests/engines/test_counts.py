"""The count of each engine, which knows nothing of the groups that were found, is asked every model and for whom the people are."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.engines.spark.bundles import TO
from shoal.engines.spark.counting import _count, check_counted, look_for_companions
from shoal.engines.spark.people import OWNERS, Whose
from shoal.engines.stream.checking import recount_pieces
from shoal.engines.stream.spool import write_rows
from shoal.engines.stream.tasks import OWNER
from shoal.errors import PrivacyError
from shoal.plan.coding import learn_batch, make_coding
from shoal.recipe import Recipe

K = 3
GOOD = ["flu", "gout", "cold"] * 4
BAD = ["flu"] * 6 + ["gout", "cold", "flu"] * 2
CELLS = ["a"] * 6 + ["b"] * 6
MODELS = [
    shoal.LDiversity(2),
    shoal.LDiversity(2, "entropy"),
    shoal.LDiversity(2, "recursive", c=3.0),
    shoal.TCloseness(0.2),
    shoal.AlphaK(0.8),
    shoal.BetaLikeness(0.4),
    shoal.DeltaDisclosure(0.2),
]


def table_of(ill, **more):
    return pa.table({"q": CELLS, "ill": ill, **more})


def coding_of(table, models):
    names = ["ill"] if models else []
    return make_coding(learn_batch(table, ["q", *names]), ["q"], names)


def streamed(tmp_path, table, models=(), units=(), *, whole=False, **recipe):
    """Count staged rows as a streamed release does."""
    coding = coding_of(table, models)
    given = {"k": K, "quasi_identifiers": ["q"], "sensitive": ["ill"] if models else []} | recipe
    owners = {unit: table.column(unit) for unit in units}
    asked = SimpleNamespace(
        recipe=Recipe(**given),
        whole=whole,
        quasi_identifiers=("q",),
        units={unit: unit for unit in units},
        job=SimpleNamespace(k=K, sensitive=tuple(given["sensitive"]), models=tuple(models)),
    )
    rows = table.select(["q", "ill"])
    for unit, owner in owners.items():
        rows = rows.append_column(OWNER.format(unit), owner)
    write_rows(rows, tmp_path / "piece.arrow")
    made = SimpleNamespace(suppressed=0, records=table.num_rows)
    return recount_pieces(asked, coding, [tmp_path / "piece.arrow"], made)[0]


def on_spark(table, models=(), units=()):
    """Count the rows of a partition as a release on Spark does."""
    counted = _count(
        table,
        ["q"],
        ["ill"] if models else [],
        coding_of(table, models),
        models,
        Whose(**{unit: unit for unit in units}),
    )
    check_counted(counted, K)
    return counted


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_every_model_is_asked_of_the_count_of_every_engine(tmp_path, model):
    for whole in (False, True):
        assert streamed(tmp_path, table_of(GOOD), [model], whole=whole).k == 6
        with pytest.raises(PrivacyError, match=type(model).__name__):
            streamed(tmp_path, table_of(BAD), [model], whole=whole)
    assert on_spark(table_of(GOOD), [model]).smallest == 6
    with pytest.raises(PrivacyError, match=type(model).__name__):
        on_spark(table_of(BAD), [model])


def test_a_group_that_is_too_small_is_seen_by_every_engine(tmp_path):
    few = table_of(GOOD).set_column(0, "q", pa.array(["a"] * (K - 1) + ["b"] * (13 - K)))
    for whole in (False, True):
        with pytest.raises(PrivacyError, match=f"a group of {K - 1}"):
            streamed(tmp_path, few, whole=whole)
    with pytest.raises(PrivacyError, match=f"a group of {K - 1}"):
        on_spark(few)


@pytest.mark.parametrize("unit", ["person", "household"])
def test_people_are_counted_by_every_engine_not_rows(tmp_path, unit):
    several = np.array([0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5], np.int32)
    same = np.array([0, 1, 0, 1, 0, 1, 2, 3, 4, 2, 3, 4], np.int32)
    named = {unit: unit}
    assert streamed(tmp_path, table_of(GOOD, **{unit: several}), units=[unit], whole=True, **named).k == K
    assert on_spark(table_of(GOOD, **{unit: several}), units=[unit]).smallest == K
    with pytest.raises(PrivacyError, match=f"a group of {K - 1}|{K - 1} {unit}s"):
        streamed(tmp_path, table_of(GOOD, **{unit: same}), units=[unit], whole=True, **named)
    with pytest.raises(PrivacyError, match=f"a group of {K - 1}|{K - 1} {unit}s"):
        on_spark(table_of(GOOD, **{unit: same}), units=[unit])


def test_the_values_of_a_person_count_once_in_every_engine(tmp_path):
    one_has_both = table_of(["flu", "gout"] + ["flu"] * 4 + ["gout", "cold", "flu"] * 2)
    owner = np.array([0, 0, 1, 2, 3, 1, 4, 5, 6, 4, 5, 6], np.int32)
    table, model = one_has_both.append_column("person", pa.array(owner)), shoal.AlphaK(0.9)
    with pytest.raises(PrivacyError, match="AlphaK"):
        streamed(tmp_path, table, [model], units=["person"], whole=True, person="person")
    with pytest.raises(PrivacyError, match="AlphaK"):
        on_spark(table, [model], units=["person"])


def test_records_that_were_parted_are_seen_by_every_engine(tmp_path):
    parted = table_of(GOOD, household=np.array([0, 1, 2, 3, 4, 5, 0, 6, 7, 8, 9, 10], np.int32))
    with pytest.raises(PrivacyError, match=f"fewer than {K} households"):
        streamed(tmp_path, parted, units=["household"], whole=True, household="household")
    pairs = pa.record_batch({TO: [0] * 6 + [1] * 6, OWNERS["household"]: parted.column("household").combine_chunks()})
    with pytest.raises(PrivacyError, match=f"fewer than {K} households"):
        list(look_for_companions([pairs], "household", K))
