"""All that a summary is made from, and what its cells stand for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.arrays import IntArray
from shoal.audit import Audit
from shoal.encoding import CodedColumn, CodedTable, encode
from shoal.ends import ColumnEnds, ReleasedBoxes
from shoal.errors import DataError
from shoal.frames import Frame
from shoal.kernels.space.space import Cover, Space
from shoal.methods.base import MethodInfo
from shoal.privacy.base import PrivacyModel
from shoal.recipe import Recipe, averaged_weight
from shoal.summary.cells import Cells, group_cells, representative_codes, value_cells
from shoal.treatments import Treated


@dataclass(frozen=True)
class Release:
    """A release and all that can be told about it; a summary is made from it."""

    released: pa.Table
    """The released rows in input order, without identifiers and withheld records."""
    groups: IntArray
    """The group of each input row, -1 for a withheld one."""
    metrics: Mapping[str, Any]
    """What was lost, by every registered metric."""
    audit: Audit
    """What protection the released rows have, counted again."""
    recipe: Recipe
    """All parameters, to repeat it."""
    coded: CodedTable
    """The quasi-identifiers as integers, for measures that need the original."""
    cover: Cover
    """The box of the table's values that each group's cells stand for."""
    source: Frame
    """The original table."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """What the method tells beyond its groups."""
    method: MethodInfo | None = None
    """How the method describes itself."""
    models: tuple[PrivacyModel, ...] = ()
    """The privacy models that hold in every group, as they were given: also those that only the user knows."""
    treated: Mapping[str, Treated] = field(default_factory=dict)
    """What treatments did to kept and sensitive columns, by column; ``source`` holds them treated."""
    ends: Mapping[int, ColumnEnds] = field(default_factory=dict)
    """How the ends of ranges were moved to round values, by the row of the column; others end at values of the table."""
    boxes: ReleasedBoxes | None = None
    """What the cells show, over the released ends; None where they end at values of the table."""

    @property
    def representatives(self) -> bool:
        """Each group is released as one typical value."""
        return self.recipe.release == "representatives"

    @property
    def cost_boxes(self) -> tuple[Space, Cover]:
        """The boxes that cells show, and the space that says what they cost."""
        return (self.coded.space, self.cover) if self.boxes is None else (self.boxes.space, self.boxes.cover)

    @property
    def changed(self) -> list[str]:
        """The released columns that are not the user's own: recoded, treated or pseudonyms."""
        other = {*self.recipe.quasi_identifiers, *self.treated, *self.recipe.pseudonymize, averaged_weight(self.recipe)}
        return [name for name in self.released.column_names if name in other]

    @cached_property
    def kept(self) -> IntArray:
        """The records that are released."""
        return np.flatnonzero(self.groups >= 0).astype(np.int32)

    @cached_property
    def passed(self) -> dict[str, tuple[CodedColumn, IntArray]]:
        """Sensitive and kept columns, coded like quasi-identifiers; those that cannot be are left out."""
        found = {}
        for name in (*self.recipe.sensitive, *self.recipe.keep):
            if name in self.treated:  # the original is gone, so there is nothing to compare with
                continue
            try:
                kinds = {name: self.recipe.kinds[name]} if name in self.recipe.kinds else {}
                coded = encode(self.source, [name], kinds=kinds)
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
