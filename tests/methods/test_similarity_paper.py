"""What Sarrafi Aghdam & Sonehara (2016) report of Adult, section 7."""

from __future__ import annotations

import pytest
from benchmarks import adult
from benchmarks.papers.similarity import (
    COLUMNS,
    PAPER_KS,
    SAMPLE,
    MedianMondrian,
    hierarchies,
    loss_row,
    released_rows,
)
from benchmarks.papers.tables import measured

from shoal.encoding import encode
from shoal.methods.similarity import SBCA

pytestmark = pytest.mark.compiled


@pytest.fixture(scope="module")
def sample(data_path):
    data_path("adult/adult.csv")
    return adult.sample(SAMPLE)


def test_a_fifth_of_the_information_at_most_is_lost_and_far_less_than_by_mondrian(sample):
    sets, trees = encode(sample, COLUMNS), encode(sample, COLUMNS, hierarchies=hierarchies())
    for k in PAPER_KS:
        row = loss_row(sets, trees, k)
        assert row["SBCA"] < 0.20
        assert row["SBCA"] < 0.3 * row["Mondrian, median only, by hierarchy"]


def test_the_papers_mondrian_loses_nearly_all_of_sex(sample):
    lost = measured(MedianMondrian(), encode(sample, COLUMNS), 2)["ncp_by_column"]
    assert lost["sex"] > 0.9


def test_the_release_has_about_twice_as_many_different_rows_as_the_papers_mondrian(sample):
    ours = released_rows(sample, SBCA(), {})
    theirs = released_rows(sample, MedianMondrian(), hierarchies())
    assert 170 < theirs < 250
    assert ours > 1.7 * theirs
