"""The same table, recipe and seed give the same groups and losses on every processor."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from shoal.kernels.common.sums import row_sums_of_products, sum_of_products

SOURCE = Path(__file__).parent.parent.parent / "src" / "shoal"
PRODUCTS = {
    "attacks/matching.py": "whole numbers",
    "derived/lines.py": "formulas fit by a wide margin, or not at all",
    "derived/numeric.py": "formulas fit by a wide margin, or not at all",
    "evaluation/estimates.py": "estimates that are shown",
    "metrics/felt.py": "a mean that is shown",
    "publication/measures.py": "a measure with three digits",
    "recount/fit.py": "whole numbers",
    "methods/microaggregation/heuristics.py": "an axis, rounded afterwards",
    "summary/association.py": "an association that is shown",
    "summary/found_people.py": "whole numbers",
}
"""Where matrices are multiplied, and why that may depend on the processor."""
DIGESTS = """
import zlib
import numpy as np, pyarrow as pa
import shoal
from shoal.encoding import encode
from shoal.frames import Frame
from shoal.kernels.space.space import cover_groups, group_costs
from shoal.methods import make_method
from shoal.methods.base import Task

random = np.random.default_rng(3)
table = pa.table({f"x{column}": random.integers(0, 6, 600) / 10 for column in range(7)})
weights = {name: 0.1 + place / 7 for place, name in enumerate(table.column_names)}
coded = encode(Frame(table), table.column_names, weights=weights)
labels = random.integers(0, 90, 600).astype(np.int32)
digests = [group_costs(coded.space, cover_groups(coded.space, coded.codes, labels, 90))]
digests += [make_method(name).run(coded, Task(k=5)).labels for name in ("univariate", "mondrian", "optimize")]
result = shoal.anonymize(table, k=5, quasi_identifiers=table.column_names, weights=weights, method="mondrian")
print(*(zlib.crc32(digest.tobytes()) for digest in digests), repr(result.metrics["ncp"]))
"""


def multiplies(path):
    """Return whether a module leaves a product to BLAS."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.MatMult):
            return True
        if isinstance(node, ast.Attribute) and node.attr in {"dot", "einsum", "matmul", "vdot", "tensordot"}:
            return True
    return False


def test_no_product_of_matrices_decides_groups():
    found = {path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py") if multiplies(path)}
    assert found == set(PRODUCTS)


@pytest.mark.compiled
def test_groups_and_losses_do_not_depend_on_how_a_processor_adds():
    """OpenBLAS takes this processor for itself and for an old one; where numpy stands on another library, both runs are alike."""
    told = set()
    for pretended in ({}, {"OPENBLAS_CORETYPE": "Prescott"}):
        ended = subprocess.run(
            [sys.executable, "-c", DIGESTS],
            env=os.environ | pretended,
            capture_output=True,
            text=True,
            check=True,
        )
        told.add(ended.stdout)
    assert len(told) == 1, told


def test_sums_of_products_are_those_of_plain_python():
    values, factors = np.array([[0.5, 0.25, 4.0], [1.0, 0.0, -2.0]]), np.array([2, 4, 1])
    assert row_sums_of_products(values, factors).tolist() == [6.0, 0.0]
    assert row_sums_of_products(values > 0, factors).tolist() == [7.0, 2.0]
    assert sum_of_products(factors, factors) == 21.0
