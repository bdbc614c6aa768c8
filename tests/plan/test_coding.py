"""Columns learned batch by batch have the codes of the whole table."""

from __future__ import annotations

import pickle

import numpy as np
import pyarrow as pa
import pytest

from shoal.encoding import encode
from shoal.errors import DataError, HierarchyError
from shoal.frames import Frame, to_frame
from shoal.plan.coding import learn_batch, make_coding, merge_learned
from tests.engines.tables import HIERARCHIES, QUASI_IDENTIFIERS, people

NAMES = [*QUASI_IDENTIFIERS, "illness"]


def learned_coding(table, batch=70, untyped=False, **parameters):
    parts = [learn_batch(one, NAMES) for one in table.to_batches(max_chunksize=batch)]
    halves = merge_learned([merge_learned(parts[1::2]), merge_learned(parts[::2])])
    given = {"hierarchies": HIERARCHIES, "untyped": untyped} | parameters
    return make_coding(halves, QUASI_IDENTIFIERS, ["illness"], **given)


@pytest.mark.parametrize("text", [False, True])
def test_batches_are_coded_like_the_whole_table(text):
    table = people(500)
    if text:
        table = pa.table({name: table.column(name).cast(pa.string()) for name in table.column_names})
    whole = encode(
        Frame(table, untyped=True) if text else to_frame(table),
        QUASI_IDENTIFIERS,
        hierarchies=HIERARCHIES,
        attributes=["illness"],
    )
    coding = pickle.loads(pickle.dumps(learned_coding(table, untyped=text)))  # noqa: S301
    parts = [coding.code(one) for one in table.to_batches(max_chunksize=90)]
    assert (np.concatenate([part.codes for part in parts], axis=1) == whole.codes).all()
    assert (
        np.concatenate([part.attributes["illness"].codes for part in parts]) == whole.attributes["illness"].codes
    ).all()
    assert [column.kind for column in coding.columns] == [column.kind for column in whole.columns]
    assert [column.texts for column in coding.columns] == [column.texts for column in whole.columns]
    for one, other in zip(coding.space, whole.space, strict=True):
        assert (one == other).all()
    assert (coding.attributes["illness"].total == whole.as_whole().attributes["illness"].total).all()


def test_a_value_that_was_not_there_before_is_refused():
    coding = learned_coding(people(200))
    changed = people(200).set_column(0, "age", pa.array([500] * 200))
    with pytest.raises(DataError, match="not there when the table was first read"):
        coding.code(changed)
    with pytest.raises(DataError, match="not there"):
        coding.code(people(200).set_column(3, "blood", pa.array(["new"] * 200)))


def test_parts_of_different_types_are_refused():
    other = people(50).set_column(0, "age", pa.array(["thirty"] * 50))
    with pytest.raises(DataError, match="another type"):
        merge_learned([learn_batch(people(50), NAMES), learn_batch(other, NAMES)])


def test_values_that_a_hierarchy_lacks_are_told_without_rows():
    table = people(100).set_column(2, "town", pa.array(["elsewhere"] * 100))
    with pytest.raises(HierarchyError, match="'town' does not cover") as fault:
        learned_coding(table)
    assert "row" not in str(fault.value)
