"""What Sarrafi Aghdam & Sonehara (2016) report of Adult, section 7."""

from __future__ import annotations

import pytest
from benchmarks.papers.similarity import (
    COLUMNS,
    PAPER_KS,
    Case,
    adult_trees,
    coded_for,
    first_rows,
    released_rows,
)
from benchmarks.papers.tables import measured

import shoal
from shoal.encoding import encode
from shoal.methods.sbca import SBCA

pytestmark = pytest.mark.compiled
BASELINE = Case("their Mondrian", shoal.Mondrian(cut="median"), trees=True)


@pytest.fixture(scope="module")
def frame(data_path):
    data_path("adult/adult.csv")
    return first_rows()


def test_the_first_rows_have_the_papers_cardinalities(frame):
    assert [column.cardinality for column in encode(frame, COLUMNS).columns] == [67, 2, 39]


def test_a_fifth_of_the_information_at_most_is_lost_and_far_less_than_by_mondrian(frame):
    sets, trees = encode(frame, COLUMNS), coded_for(BASELINE, frame, COLUMNS, adult_trees())
    for k in PAPER_KS:
        lost = measured(SBCA(), sets, k)["ncp"]
        assert lost < 0.20
        assert lost < 0.3 * measured(BASELINE.method, trees, k)["ncp"]


def test_the_papers_mondrian_loses_nearly_all_of_sex(frame):
    lost = measured(BASELINE.method, encode(frame, COLUMNS), 2)["ncp_by_column"]
    assert lost["sex"] > 0.9


def test_the_release_has_about_twice_as_many_different_rows_as_the_papers_mondrian(frame):
    ours, _ = released_rows(Case("SBCA", SBCA()), frame)
    theirs, _ = released_rows(BASELINE, frame)
    assert 170 < theirs < 250
    assert ours > 1.7 * theirs
