"""All that a summary is made from, and what its cells stand for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.audit import Audit
from shoal.encoding import CodedColumn, CodedTable, encode
from shoal.errors import DataError
from shoal.frames import Frame
from shoal.kernels.space import Cover
from shoal.recipe import Recipe
from shoal.summary.cells import Cells, group_cells, representative_codes, value_cells
from shoal.typing import IntArray


@dataclass(frozen=True)
class Release:
    """All that a summary is made from."""

    source: Frame
    coded: CodedTable
    groups: IntArray
    cover: Cover
    released: pa.Table
    metrics: Mapping[str, Any]
    audit: Audit
    recipe: Recipe
    details: Mapping[str, Any] = field(default_factory=dict)
    input_sha256: str | None = None

    @property
    def representatives(self) -> bool:
        """Each group is released as one typical value."""
        return self.recipe.release == "representatives"

    @cached_property
    def kept(self) -> IntArray:
        """The records that are released."""
        return np.flatnonzero(self.groups >= 0).astype(np.int32)

    @cached_property
    def passed(self) -> dict[str, tuple[CodedColumn, IntArray]]:
        """Sensitive and kept columns, coded like quasi-identifiers; those that cannot be are left out."""
        found = {}
        for name in (*self.recipe.sensitive, *self.recipe.keep):
            try:
                coded = encode(self.source, [name])
            except DataError:  # too many values, or infinite ones
                continue
            found[name] = (coded.columns[0], coded.codes[0])
        return found

    def cells(self) -> Iterator[tuple[CodedColumn, Cells, Cells]]:
        """Return each column that is released, with its cells before and after."""
        for row, column in enumerate(self.coded.columns):
            before = value_cells(self.coded.codes[row], column)
            if self.representatives:
                codes = representative_codes(column, self.released.column(column.name))
                yield column, before, value_cells(codes, column)
            else:
                yield column, before, group_cells(self.coded, self.groups, self.cover, row)
        for column, codes in self.passed.values():
            yield column, value_cells(codes, column), value_cells(codes[self.kept], column)
