from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("numba", "pyarrow", "pandas", "polars", "rich_click")


def heavy_modules_after(statement):
    program = f"import sys\n{statement}\nprint(*(name for name in {HEAVY!r} if name in sys.modules))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return run.stdout.split()


def test_importing_shoal_loads_no_heavy_library():
    assert heavy_modules_after("import shoal") == []


@pytest.mark.parametrize("module", ["errors", "validation"])
def test_the_lowest_layer_loads_no_heavy_library(module):
    assert heavy_modules_after(f"import shoal.{module}") == []


def test_a_heavy_library_would_be_noticed():
    assert heavy_modules_after("import shoal, shoal.kernels.space.space") == ["numba"]
