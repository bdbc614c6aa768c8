from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.encoding import encode
from shoal.errors import PrivacyError
from shoal.frames import Frame
from shoal.recount.typical import check_typical
from shoal.release import make as making

DAY = dt.date(2024, 1, 1)


def check(values, cells, groups, kind=None, **choices):
    column = pa.chunked_array([pa.array(values)])
    coded = encode(Frame(pa.table({"x": column})), ["x"], **{key: {"x": one} for key, one in choices.items()})
    check_typical(coded.columns[0], column, pa.chunked_array([pa.array(cells, kind)]), np.array(groups, np.int32))


@pytest.mark.parametrize(
    ("values", "cells", "choices"),
    [
        ([1, 2, 7, 9], [1.5, 1.5, 8.0, 8.0], {}),
        ([2**63 - 1, 2**63 - 2, 5, 6], [2**63 - 1, 2**63 - 1, 6, 6], {}),
        ([Decimal("0.1"), Decimal("0.3"), Decimal(7), Decimal(7)], [0.2, 0.2, 7.0, 7.0], {}),
        ([DAY, dt.date(2024, 1, 3), DAY, DAY], [dt.date(2024, 1, 2)] * 2 + [DAY] * 2, {}),
        ([1.0, None, None, None], [1.0, 1.0, None, None], {}),
        (["a", "a", "b", None], ["a", "a", "b", "b"], {}),
        (["low", "mid", "high", "high"], ["low", "low", "high", "high"], {"kinds": ["low", "mid", "high"]}),
        (["60.0", "61", "60", "60"], ["60"] * 4, {"hierarchies": shoal.Hierarchy.flat(["60", "61"])}),
    ],
)
def test_representatives_among_the_values_of_their_groups_pass(values, cells, choices):
    check(values, cells, [0, 0, 1, 1], **choices)


@pytest.mark.parametrize(
    ("values", "cells", "choices"),
    [
        ([1, 2, 7, 9], [2.5, 2.5, 8.0, 8.0], {}),
        ([2**63 - 1, 2**63 - 2, 5, 6], [-3, -3, 6, 6], {}),
        ([DAY, dt.date(2024, 1, 3), DAY, DAY], [dt.date(2024, 1, 4)] * 2 + [DAY] * 2, {}),
        ([1.0, None, None, None], [None, None, None, None], {}),
        ([1.0, None, None, None], [1.0, 1.0, 1.0, 1.0], {}),
        (["a", "a", "b", None], ["b", "b", "b", "b"], {}),
        (["low", "mid", "high", "high"], ["high"] * 4, {"kinds": ["low", "mid", "high"]}),
    ],
)
def test_a_representative_outside_its_group_is_found(values, cells, choices):
    with pytest.raises(PrivacyError, match="2 representatives in the column 'x' would be outside"):
        check(values, cells, [0, 0, 1, 1], **choices)


def test_no_release_leaves_with_a_representative_of_another_group(monkeypatch):
    table = pa.table({"x": [1.0, 2.0, 30.0, 31.0], "y": list("aabb")})
    given = {"k": 2, "quasi_identifiers": ["x", "y"], "method": "mdav"}
    shoal.anonymize(table, **given)
    means = making.representatives

    def swapped(coded, labels, typical):
        columns = means(coded, labels, typical)
        return columns | {"x": columns["x"].take(pa.array([2, 3, 0, 1]))}

    monkeypatch.setattr(making, "representatives", swapped)
    with pytest.raises(PrivacyError, match="4 representatives in the column 'x'"):
        shoal.anonymize(table, **given)
