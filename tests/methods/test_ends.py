"""Every method ends, whatever the numbers are, and what it releases is k-anonymous."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.encoding import encode
from shoal.encoding.kinds import _finite_positions
from shoal.errors import ShoalWarning
from shoal.frames import Frame
from shoal.kernels.space.space import range_cost
from shoal.methods.base import Task
from shoal.methods.microaggregation.scaling import as_coordinates

COLUMNS = {
    "two zeros": [0.0, -0.0, 0.0],
    "zeros in turns": [0.0, -0.0] * 4,
    "whole numbers that are one float": [2**53, 2**53 + 1] * 4,
    "the largest floats": [1.7e308, -1.7e308, 1.6e308, 5.0] * 5,
    "the smallest floats": [5e-324, 1e-323, 0.0, 1e-310] * 5,
    "the largest and the smallest": [1.7e308, 5e-324, -1.7e308, 1.0, None] * 4,
    "neighbours among floats": [1.0, math.nextafter(1.0, 2.0), math.nextafter(1.0, 0.0)] * 5,
    "the largest whole numbers": [2**63 - 1, 2**63 - 2, 5, 6] * 2,
    "one value": [7.5] * 9,
    "mostly missing": [None] * 8 + [1.0, 2.0],
}
METHODS = [info.name for info in shoal.methods()]


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("method", METHODS)
def test_every_method_ends_on_every_number(method, column):
    values = COLUMNS[column]
    table = pa.table({"x": values, "y": [place % 3 for place in range(len(values))]})
    trees = dict.fromkeys(table.column_names, "flat") if method in {"bug", "datafly", "incognito"} else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShoalWarning)
        result = shoal.anonymize(
            table, k=3, quasi_identifiers=["x", "y"], method=method, hierarchies=trees, effort="fast", release="ranges"
        )
    assert np.bincount(result.groups).min() >= 3
    assert 0.0 <= result.metrics["ncp"] <= 1.0
    assert 0.0 <= result.metrics["il_percent"] <= 100.0 + 1e-9


@pytest.mark.parametrize("column", COLUMNS)
def test_every_range_has_a_finite_cost(column):
    coded = encode(Frame(pa.table({"x": COLUMNS[column]})), ["x"])
    low, high = coded.codes.min(), coded.codes.max()
    cost = range_cost(coded.space, 0, low, high)
    assert 0.0 <= cost <= 1.0


def test_positions_that_do_not_differ_have_a_width_to_divide_by():
    assert _finite_positions(np.array([7.5, 7.5]))[1] == 1.0


def test_scaled_distances_of_ordinary_numbers_are_what_they_were():
    table = encode(Frame(pa.table({"x": [1.0, 2.0, 4.0], "y": [30.0, 10.0, 20.0]})), ["x", "y"])
    found = as_coordinates(table, "none")
    assert found.tolist() == [[1.0, 30.0], [2.0, 10.0], [4.0, 20.0]]


@pytest.mark.parametrize("scale", ["z", "range", "none"])
def test_huge_numbers_are_grouped_as_the_same_numbers_made_small(scale):
    small = [0.0, 1.0, 2.0, 50.0, 51.0, 52.0, 53.0]

    def labels(factor):
        table = encode(Frame(pa.table({"x": [factor * one for one in small]})), ["x"])
        return shoal.MDAV(scale=scale).run(table, Task(k=3)).labels.tolist()

    assert labels(2.0**1000) == labels(2.0**-900) == labels(1.0)
