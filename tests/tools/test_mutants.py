from __future__ import annotations

import pytest

from tests.tools.mutants import MUTATIONS, REPOSITORY, occurrences


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda one: f"{one.file}: {one.new.strip()}")
def test_every_mutation_still_finds_the_one_place_it_changes(mutation):
    assert occurrences(mutation) == 1
    assert (REPOSITORY / mutation.tests.partition("::")[0]).exists()
