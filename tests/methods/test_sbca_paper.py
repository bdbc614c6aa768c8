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
BASELINE = Case("their Mondrian, categories by the alphabet", shoal.Mondrian(cut="median", order="given"), trees=True)
BY_SIZE = Case("their Mondrian, categories by size", shoal.Mondrian(cut="median"), trees=True)


@pytest.fixture(scope="module")
def frame(data_path):
    data_path("adult/adult.csv")
    return first_rows()


def test_the_first_rows_have_the_papers_cardinalities(frame):
    assert [column.cardinality for column in encode(frame, COLUMNS).columns] == [67, 2, 39]


def test_a_fifth_of_the_information_at_most_is_lost(frame):
    sets = encode(frame, COLUMNS)
    assert all(measured(SBCA(), sets, k)["ncp"] < 0.20 for k in PAPER_KS)


def test_how_far_below_their_mondrian_rests_on_the_order_of_its_categories(frame):
    sets = encode(frame, COLUMNS)
    for k in PAPER_KS:
        lost = measured(SBCA(), sets, k)["ncp"]
        alphabet, by_size = (
            lost / measured(case.method, coded_for(case, frame, COLUMNS, adult_trees()), k)["ncp"]
            for case in (BASELINE, BY_SIZE)
        )
        assert alphabet < 0.3
        assert alphabet < by_size < 1.2


def test_their_mondrian_loses_nearly_all_of_sex_or_nothing_by_which_sex_comes_first(frame):
    table = encode(frame, COLUMNS)
    lost = [measured(case.method, table, 2)["ncp_by_column"]["sex"] for case in (BASELINE, BY_SIZE)]
    assert lost[0] > 0.9
    assert lost[1] == 0


def test_the_different_rows_of_the_papers_mondrian_rest_on_the_order_too(frame):
    ours, alphabet, by_size = (released_rows(case, frame)[0] for case in (Case("SBCA", SBCA()), BASELINE, BY_SIZE))
    assert (alphabet, by_size) == (207, 263)  # the paper: 209
    assert ours > 1.4 * by_size
