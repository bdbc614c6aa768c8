from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.hierarchy import Hierarchy, links
from shoal.hierarchy.files import read_chains
from shoal.hierarchy.regular import read_regular


def line_by_line(text):
    return Hierarchy._from_links(links.links_from_chains(read_chains(text, ";")))


@given(st.lists(st.integers(0, 60), min_size=1, max_size=60))
def test_a_regular_file_gives_the_tree_that_its_lines_give(numbers):
    """Leaves in any order, some twice, so that siblings and whole branches come and go."""
    text = "".join(f"leaf {n};under {n % 12};top {n % 12 // 4};*\n" for n in numbers)
    found = read_regular(text, ";")
    assert found is not None
    expected = line_by_line(text)
    assert Hierarchy(*found) == expected
    assert found.n_leaves == expected.n_leaves
    assert Hierarchy.from_csv(io.StringIO(text)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "a;x;*\nb;*\n",
        'a;"x";*\nb;x;*\n',
        "a;x;*\na;y;*\n",
        "a;x;*\nx;y;*\n",
        "a;a;*\nb;b;*\n",
        "a;x;*\nb;x;all\n",
        "a; ;*\nb;x;*\n",
        "a\nb\n",
        "",
    ],
    ids=[
        "lengths",
        "quotes",
        "two parents",
        "two levels",
        "repeats",
        "two roots",
        "blank label",
        "no levels",
        "nothing",
    ],
)
def test_another_file_is_left_to_the_reader_that_goes_line_by_line(text):
    assert read_regular(text, ";") is None


def test_two_lines_of_one_leaf_with_two_parents_are_still_a_fault():
    with pytest.raises(ValueError, match="two parents"):
        Hierarchy.from_csv(io.StringIO("a;x;*\nb;y;*\na;y;*\n"))


def test_blank_lines_and_other_ends_of_lines_do_not_count():
    expected = Hierarchy.from_csv(io.StringIO("a;x;*\nb;x;*\n"))
    assert Hierarchy.from_csv(io.StringIO("a;x;*\r\n\r\nb;x;*\r\n")) == expected
    assert Hierarchy.from_csv(io.StringIO("a;x;*\n\nb;x;*")) == expected
