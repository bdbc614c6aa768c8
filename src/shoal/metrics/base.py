"""The interface of metrics, and their input."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from shoal.arrays import FloatArray, IntArray
from shoal.kernels.space.space import cost_table

if TYPE_CHECKING:
    from shoal.encoding import CodedTable
    from shoal.kernels.space.space import Cover, Space


@dataclass(frozen=True)
class Outcome:
    """A grouped table with the box each group is released as: all that a metric may look at."""

    table: CodedTable
    labels: IntArray
    cover: Cover
    """The values of the table that each cell stands for."""
    k: int
    boxes: tuple[Space, Cover] | None = None
    """What the cells show if they do not end at values of the table: boxes, and the space that says what they cost."""

    @cached_property
    def size(self) -> FloatArray:
        """Records in each group."""
        return self.cover.size.astype(np.float64)

    @property
    def groups(self) -> int:
        """The number of groups."""
        return int(self.cover.size.shape[0])

    @cached_property
    def suppressed(self) -> int:
        """The number of records withheld."""
        return int((self.labels < 0).sum())

    @cached_property
    def cost(self) -> FloatArray:
        """Unweighted penalty of each column in each group, (m, g)."""
        return cost_table(*(self.boxes or (self.table.space, self.cover)))


@dataclass(frozen=True)
class Metric:
    """A measure of what a release lost, with its direction and range."""

    name: str
    title: str
    better: Literal["lower", "higher"]
    best: float
    worst: float | None
    """The value of the most damaged release; None if it depends on the table."""
    meaning: str
