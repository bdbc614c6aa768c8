"""The inputs of a summary, and the values that released cells stand for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.arrays import IntArray
from shoal.audit import Audit, measure_attribute, recount
from shoal.cells.counted import ExactCounts
from shoal.derived import Derived, Exposure
from shoal.encoding import CodedColumn, CodedTable, encode
from shoal.ends import ColumnEnds, ReleasedBoxes
from shoal.errors import DataError
from shoal.frames import Frame
from shoal.kernels.space.space import Cover, Space
from shoal.methods.base import MethodInfo
from shoal.metrics import Outcome, measure
from shoal.metrics.felt import FeltTable, felt
from shoal.privacy.base import PrivacyModel, bind_models
from shoal.recipe import Recipe, averaged_weight
from shoal.summary.cells import Cells, group_cells, representative_codes, value_cells
from shoal.treatments import Treated


def hides_withheld(withheld: int, k: int) -> bool:
    """Return whether so few records were withheld that no report may state their number, or measure anything with and without them."""
    return 0 < withheld < k


@dataclass(frozen=True)
class Release:
    """A release and all that is known about it; a summary is made from it."""

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
    """What the method returns besides its groups."""
    method: MethodInfo | None = None
    """How the method describes itself."""
    models: tuple[PrivacyModel, ...] = ()
    """The privacy models that hold in every group, as they were given: also those that only the user knows."""
    treated: Mapping[str, Treated] = field(default_factory=dict)
    """What treatments did to kept and sensitive columns, by column; ``source`` holds them treated."""
    ends: Mapping[int, ColumnEnds] = field(default_factory=dict)
    """How the ends of ranges were moved to round values, by the row of the column; others end at values of the table."""
    boxes: ReleasedBoxes | None = None
    """What the cells show, over the released ends; None if they end at values of the table."""

    derived: tuple[Derived, ...] = ()
    """Released columns that follow from the quasi-identifiers, or are predicted by them."""
    exposed: tuple[Exposure, ...] = ()
    """Those of them by which groups fall below k; only if the recipe lets them pass."""
    counts: ExactCounts | None = None
    """Counts of exact values released next to the cells, if the recipe asks for them."""

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
    def felt(self) -> FeltTable:
        """What a reader feels of the loss: exact cells, values of a typical cell, what is left to guess."""
        return felt(Outcome(self.coded, self.groups, self.cover, self.recipe.k))

    def without_withheld(self) -> Release:
        """Return the release of a table that never had the withheld records; only the ends that losses are scaled by stay theirs."""
        coded, groups = self.coded.take(self.kept), self.groups[self.kept]
        boxes = None if self.boxes is None else (self.boxes.space, self.boxes.cover)
        metrics = measure(Outcome(coded, groups, self.cover, self.recipe.k, boxes))
        label = recount(self.released, self.recipe.quasi_identifiers)
        asked = bind_models(self.models, coded, self.recipe.sensitive)
        sensitive = {
            name: measure_attribute(coded.attributes[name], label, self.audit.groups, asked)
            for name in self.audit.sensitive
        }
        return replace(
            self,
            source=self.source.at(self.kept),
            coded=coded,
            groups=groups,
            metrics={**self.metrics, **metrics},
            audit=replace(self.audit, sensitive=sensitive),
            details={name: value for name, value in self.details.items() if name != "lower_bound"},
        )

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
            except DataError:  # there are too many values, or infinite ones
                continue
            found[name] = (coded.columns[0], coded.codes[0])
        return found

    def cells(self) -> Iterator[tuple[CodedColumn, Cells, Cells]]:
        """Return each column that is released, with its cells before and after, both of the released records.

        With withheld records among those before, the difference would reveal what these had.
        """
        for row, column in enumerate(self.coded.columns):
            before = value_cells(self.coded.codes[row][self.kept], column)
            if self.representatives:
                codes = representative_codes(column, self.released.column(column.name))
                yield column, before, value_cells(codes, column)
            else:
                yield column, before, group_cells(self.coded, self.groups, self.cover, row)
        for column, codes in self.passed.values():
            released = value_cells(codes[self.kept], column)
            yield column, released, released
