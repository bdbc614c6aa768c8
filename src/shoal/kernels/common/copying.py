"""Copies between arrays of equal length.

numba compiles ``target[:] = source`` together with the sentence it would raise if lengths differ, strings and all, which
adds two seconds to a first run.
"""

from __future__ import annotations

from typing import Any

from shoal.compiling.decorator import kernel


@kernel(allocates=False)
def copy_values(source: Any, target: Any) -> None:
    """Write each value of one array into the other."""
    for place in range(target.shape[0]):
        target[place] = source[place]
