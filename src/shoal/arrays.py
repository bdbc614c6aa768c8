"""Names of the array types that several modules share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

IntArray: TypeAlias = npt.NDArray[np.int32]
LongArray: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
WordArray: TypeAlias = npt.NDArray[np.uint64]
AnyArray: TypeAlias = npt.NDArray[Any]

Progress: TypeAlias = Callable[[float, str], None]
"""Called with the share done (0..1) and a short text."""

Clock: TypeAlias = Callable[[], float]
"""Returns seconds since some moment; never falls."""


class CancelToken(Protocol):
    """What another thread or process may set to end the work: ``threading.Event`` and ``multiprocessing.Event`` are such tokens."""

    def is_set(self) -> bool:
        """Return whether the work must end."""


Effort: TypeAlias = Literal["fast", "balanced", "best"] | float
Release: TypeAlias = Literal["ranges", "representatives"]
