"""What a reader feels of a loss."""

from __future__ import annotations

import math

import pytest

import shoal
from shoal.report.words import felt_sentences


def test_a_column_of_many_values_is_not_flattered_by_the_size_of_its_domain():
    """800 jobs, of which every cell holds ten: 1 % by the width of cells, a third of what a job tells."""
    jobs = [f"job {one:03}" for one in range(800)]
    tree = {"*": {f"part {part}": jobs[10 * part : 10 * part + 10] for part in range(80)}}
    result = shoal.anonymize(
        {"job": jobs},
        k=10,
        quasi_identifiers=["job"],
        hierarchies={"job": shoal.Hierarchy.from_dict(tree)},
        effort="fast",
    )
    found = result.felt.columns["job"]
    assert result.metrics["ncp"] < 0.02
    assert (found.exact, found.typical, found.different) == (0.0, 10.0, 80)
    assert found.guess == pytest.approx(math.log(10) / math.log(800))
    assert felt_sentences(result.felt.exact, result.felt.typical) == [
        "0 % of the recoded cells are exact; a typical other cell stands for 10 values of its column."
    ]


@pytest.mark.parametrize("job", ["set", "flat"])
def test_the_figures_are_those_of_the_cells(job):
    table = {"age": [20, 20, 20, 30, 31, 32] * 4, "job": ["a", "a", "b", "c", "c", "c"] * 4}
    result = shoal.anonymize(
        table, k=3, quasi_identifiers=["age", "job"], hierarchies={"job": job}, method="mondrian", ends="exact"
    )
    for name in table:
        cells = result.data[name] if isinstance(result.data, dict) else result.data[name].to_pylist()
        found = result.felt.columns[name]
        exact = [str(cell)[0] not in "[{*" for cell in cells]
        assert found.exact == pytest.approx(sum(exact) / len(cells))
        assert found.different == len(set(cells))
    assert result.felt.exact == pytest.approx(sum(one.exact for one in result.felt.columns.values()) / 2)


def test_a_missing_value_that_is_mixed_in_hides_all_values():
    table = {"age": [20, 21, 22, None] * 3}
    result = shoal.anonymize(table, k=12, quasi_identifiers=["age"], method="mondrian")
    assert result.felt.columns["age"].typical == 4
    assert result.felt.columns["age"].guess == pytest.approx(1.0)


def test_a_release_without_loss_is_exact():
    result = shoal.anonymize({"sex": ["f", "m"] * 10}, k=5, quasi_identifiers=["sex"], method="mondrian")
    assert (result.felt.exact, result.felt.typical) == (1.0, None)
    assert result.felt.columns["sex"].guess == 0
    assert felt_sentences(1.0, None) == ["All recoded cells are exact."]
