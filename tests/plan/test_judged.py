"""Models judged by counted groups, as rows that were streamed and rows on Spark are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from shoal.plan.coding import learn_batch, make_coding
from shoal.plan.judged import judge_column
from shoal.privacy.l_diversity import LDiversity

ILL = pa.table({"ill": ["flu", "gout", "flu", "gout", "cold", "flu"]})
LABEL = np.array([0, 0, 1, 1, 1, 1], np.int32)
"""Two groups, one with two illnesses and one with three."""


@pytest.mark.parametrize("values", [(3, 2), (2, 3)])
def test_of_a_model_asked_for_twice_no_failure_is_overlooked(values):
    coding = make_coding(learn_batch(ILL, ["ill"]), (), ["ill"])
    attribute = replace(coding.attributes["ill"], codes=coding.books["ill"].look_up("ill", ILL.column("ill")))
    judged = judge_column([LDiversity(one) for one in values], coding, attribute, LABEL, 2)
    assert dict(judged.failing) == {"LDiversity": 1}
