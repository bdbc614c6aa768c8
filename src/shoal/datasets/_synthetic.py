"""Plain integer tables for benchmarks."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from shoal.arrays import LongArray
from shoal.datasets._draw import Draws, check_size
from shoal.validation import check_float, check_int

if TYPE_CHECKING:
    import pyarrow as pa

_WIDEST = 1_000_000  # most values of a domain, because the weight of each is stored in a table
_RESOLUTION = 10**9


def uniform(n: int = 10_000, columns: int = 4, *, low: int = 1, high: int = 16, seed: int = 0) -> pa.Table:
    """Make a table of integers from ``low`` to ``high``, all equally likely.

    The defaults are those of the synthetic data of Xu et al., *Utility-Based Anonymization Using Local Recoding*
    (KDD 2006), section 5.3. The columns are called A1, A2, …

    Examples
    --------
    >>> import shoal
    >>> shoal.datasets.uniform(1_000, 2, low=1, high=4).column_names
    ['A1', 'A2']
    """
    draws, n, low, high = _checked("uniform", n, low, high, seed)
    return _table(columns, "uniform", lambda name: draws.integers(name, n, low, high))


def gaussian(
    n: int = 10_000, columns: int = 4, *, sigma: float = 1.0, low: int = 1, high: int = 16, seed: int = 0
) -> pa.Table:
    """Make a table of integers from ``low`` to ``high``, normally distributed about the middle.

    Each value is a normal draw of standard deviation ``sigma`` rounded to an integer; draws outside the domain are
    drawn again. The defaults are those of Xu et al. (KDD 2006), section 5.3; the paper does not say where its mean
    is, here it is ``(low + high) / 2``. The columns are called A1, A2, …

    Examples
    --------
    >>> import shoal
    >>> shoal.datasets.gaussian(1_000, 2, sigma=0.5).num_rows
    1000
    """
    draws, n, low, high = _checked("gaussian", n, low, high, seed)
    sigma = check_float("gaussian", "sigma", sigma, least=0.0, above=True, most=1e9)
    weights = _rounded_normal(low, high, sigma)
    return _table(columns, "gaussian", lambda name: low + draws.choose(name, n, weights))


def _checked(owner: str, n: Any, low: Any, high: Any, seed: Any) -> tuple[Draws, int, int, int]:
    n, seed = check_size(owner, n, seed)
    low = check_int(owner, "low", low, least=-(2**31))
    return Draws(seed), n, low, check_int(owner, "high", high, least=low, most=low + _WIDEST - 1)


def _table(columns: Any, owner: str, draw: Callable[[str], LongArray]) -> Any:
    import pyarrow as pa

    names = [f"A{place}" for place in range(1, check_int(owner, "columns", columns, least=1) + 1)]
    return pa.table({name: pa.array(draw(name)) for name in names})


def _rounded_normal(low: int, high: int, sigma: float) -> list[int]:
    """Return the weight of every integer of the domain."""
    normal = NormalDist((low + high) / 2, sigma)
    edges = [normal.cdf(value - 0.5) for value in range(low, high + 2)]
    inside = edges[-1] - edges[0]
    return [round((after - before) / inside * _RESOLUTION) for before, after in pairwise(edges)]
