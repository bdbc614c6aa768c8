"""The short form of the campaign of pairs: what a release hides leaves no trace in anything public."""

from __future__ import annotations

import pytest

from tests.fuzz.interference import differences, seeds
from tests.fuzz.interference_engines import stream_differences


@pytest.mark.parametrize("block", range(4))
def test_pairs_that_differ_in_what_is_hidden_have_equal_public_files(block):
    found = [differences(seed) for seed in seeds(10 * block, 10 * block + 10)]
    assert [one for one in found if one[1]] == []


def test_pairs_that_differ_in_what_is_hidden_have_equal_public_files_when_they_are_streamed():
    found = [stream_differences(seed) for seed in seeds(0, 40)]
    assert [one for one in found if one[1]] == []
