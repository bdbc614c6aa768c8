"""The sample of a table with very many equal records, or of very few different ones."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as papq
import pytest

import shoal
from shoal.encoding import encode
from shoal.frames import to_frame
from shoal.plan import steps
from shoal.plan.contents import Sample, draw_sample, in_sample, make_pilot, merge_samples
from tests.engines.tables import HIERARCHIES, QUASI_IDENTIFIERS, few_tuples, one_huge_tuple, people

GIVEN = {"k": 5, "quasi_identifiers": QUASI_IDENTIFIERS, "sensitive": ["illness"], "identifiers": ["note"]}
GIVEN |= {"hierarchies": HIERARCHIES, "effort": "fast"}


def coded(table):
    return encode(to_frame(table), QUASI_IDENTIFIERS, hierarchies=HIERARCHIES)


def counts(sample):
    return dict(zip(map(tuple, sample.codes.T.tolist()), sample.copies.tolist(), strict=True))


@pytest.mark.parametrize("make", [people, one_huge_tuple, few_tuples])
@pytest.mark.parametrize("share", [0.3, 1.0])
def test_a_sample_holds_each_tuple_once_whatever_the_batches(monkeypatch, make, share):
    monkeypatch.setattr("shoal.plan.contents._MERGED", 3)
    table = coded(make(900))
    chosen = table.codes[:, in_sample(table, 5, share)].T.tolist()
    parts = np.array_split(np.random.default_rng(1).permutation(900), 8)
    merged = merge_samples(draw_sample(table.take(part), 5, share) for part in parts)
    assert counts(merged) == counts(draw_sample(table, 5, share)) == Counter(map(tuple, chosen))
    assert merged.share == share


def test_a_pilot_has_the_tuples_that_a_smaller_sample_would_have():
    table = coded(people(900))
    sample = draw_sample(table, 5, 0.5)
    pilot = make_pilot(sample, 5, 100)
    smaller = draw_sample(table, 5, 0.05)
    assert len(pilot.copies) == 100
    assert counts(smaller).items() <= counts(pilot).items() <= counts(sample).items()
    assert pilot.share == pytest.approx(0.5 * 100 / len(sample.copies))


@pytest.mark.parametrize(
    ("tuples", "share", "asked"), [(0, 0.1, [0.1, 1.0]), (3, 0.1, [0.1, 1.0]), (500, 0.1, [0.1]), (3, 1.0, [1.0])]
)
def test_a_sample_of_few_tuples_gives_way_to_all_tuples(tuples, share, asked):
    drawn = []

    def draw(share):
        drawn.append(share)
        return Sample(np.zeros((1, tuples), np.int32), np.ones(tuples, np.int64), share)

    assert steps.take_sample(draw, share).share == asked[-1]
    assert drawn == asked


@pytest.mark.usefixtures("small_fragments", "small_batches", "small_sample")
@pytest.mark.parametrize("make", [one_huge_tuple, few_tuples])
def test_extreme_tables_are_cut_alike_in_memory_and_streamed_in_any_order(tmp_path, make):
    table = make(900)
    shuffled = table.take(pa.array(np.random.default_rng(2).permutation(900)))
    papq.write_table(shuffled, tmp_path / "table.parquet")
    expected = shoal.anonymize(table, **GIVEN)
    streamed = shoal.Anonymizer(**GIVEN).stream(tmp_path / "table.parquet", tmp_path / "release.parquet", workers=1)
    assert expected.details["fragments"] == streamed.fragments > 1
    rows = [made.to_pylist() for made in (expected.released, papq.read_table(tmp_path / "release.parquet"))]
    assert Counter(map(repr, rows[0])) == Counter(map(repr, rows[1]))
    assert expected.audit.k >= 5
