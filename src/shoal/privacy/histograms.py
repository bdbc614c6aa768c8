"""Requirements on the sensitive values of a group: what all models but those on a population share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.arrays import BoolArray, FloatArray, IntArray, LongArray
from shoal.errors import PrivacyError
from shoal.kernels.models.rules import AT_LEAST, SIZE, Rules
from shoal.privacy.base import AllOf, Requirement
from shoal.privacy.measures import MEASURES, Histograms, Measure, Name, lacking
from shoal.privacy.rows import SensitiveRow


@dataclass(frozen=True, eq=False)
class HistogramRequirement(Requirement):
    """One bound on one measure of a group's sensitive values."""

    measure: Name
    row: SensitiveRow
    bound: float
    rank: int = 0

    @property
    def about(self) -> Measure:
        """What is known of the measure."""
        return MEASURES[self.measure]

    def measured(self, labels: IntArray, groups: int) -> FloatArray:
        """Return the measure of each group."""
        histograms = Histograms(self.row, labels, groups)
        found: FloatArray
        if self.measure == "recursive":
            found = histograms.recursive(self.rank)
        else:
            found = getattr(histograms, self.measure)()
        return found

    def lacking(self, labels: IntArray, groups: int) -> FloatArray:
        """Return how far each group is from the bound, 0 if it is met."""
        return lacking(self.measure, self.bound, self.measured(labels, groups))

    def failing(self, labels: IntArray, groups: int) -> BoolArray:
        """Return which groups miss the bound."""
        return self.lacking(labels, groups) > 0

    @property
    def least_records(self) -> int:
        """Records that a group needs at least to meet the bound, whatever its values are."""
        return self.about.least_records(self.bound, self.rank, self.row)

    def check_reachable(self, model: str, *, withholding: bool = False) -> None:
        """Raise if not even the whole table as one group meets the bound; withheld records can mend that, except a lack of values."""
        whole = np.zeros(self.row.codes.shape[0], np.int32)
        if self.failing(whole, 1)[0] and (not withholding or self.measure in {"size", "distinct"}):
            value = float(self.measured(whole, 1)[0])
            raise PrivacyError(
                f"{model} cannot hold: the column {self.row.name!r} as a whole reaches {value:.4g}, "
                f"and {self.bound:g} is asked for. Nothing was released.",
                hint=f"ask for a value that the whole column meets, which is {value:.4g} at best, or allow suppression with 'max_suppression'.",
            )


def build_rules(requirements: Sequence[HistogramRequirement], records: int, *, k: int = 0) -> Rules:
    """Lay requirements, and a least group size ``k`` if given, out as the kernels read them."""
    rows = _rows_of(requirements)
    dense = [row for row in rows if not row.sparse]
    sizes = [(SIZE, AT_LEAST, 0, float(k), 0)] if k else []
    each = sizes + [
        (one.about.number, one.about.sense, rows.index(one.row), one.bound, one.rank) for one in requirements
    ]
    kinds, senses, places, bounds, ranks = zip(*each, strict=True)
    trees = [np.zeros(0, np.int32) if row.parent is None else row.parent for row in rows]
    heights = [np.zeros(0, np.int32) if row.parent is None else row.height for row in rows]
    return Rules(
        np.array(kinds, np.int32),
        np.array(senses, np.int32),
        np.array(places, np.int32),
        np.array(bounds, np.float64),
        np.array(ranks, np.int32),
        np.ascontiguousarray(np.array([row.codes for row in rows], np.int32).reshape(len(rows), records)),
        _starts([row.cardinality for row in rows]),
        np.array([-1 if row.person is None else rows.index(row.pairs) for row in rows], np.int32),
        len(dense),
        next((rows.index(_persons_of(row, rows)) for row in dense if row.person is not None), -1),
        np.concatenate([np.zeros(0, np.int64), *(row.total for row in dense)]),
        np.concatenate([np.zeros(0), *(np.ones(row.cardinality) if row.value is None else row.value for row in dense)]),
        np.array([row.records for row in dense] + [records] * (len(rows) - len(dense)), np.int64),
        dense[0].population if dense else records,
        _starts([len(tree) for tree in trees]),
        np.concatenate([np.zeros(0, np.int32), *trees]).astype(np.int32),
        np.concatenate([np.zeros(0, np.int32), *heights]).astype(np.int32),
    )


def _rows_of(requirements: Sequence[HistogramRequirement]) -> list[SensitiveRow]:
    """Return the rows that requirements look at, then the sparse ones: persons, and the pairs of person and value."""
    named = list(dict.fromkeys(one.row for one in requirements))
    dense = [row for row in named if not row.sparse]
    sparse = [row for row in named if row.sparse]
    bearing = [row for row in dense if row.person is not None]
    if bearing and _persons_of(bearing[0], sparse) not in sparse:
        sparse.append(_persons_of(bearing[0], sparse))
    return [*dense, *sparse, *(row.pairs for row in bearing)]


def _persons_of(row: SensitiveRow, rows: Sequence[SensitiveRow]) -> SensitiveRow:
    """Return the row of the persons who have the values of ``row``, one of ``rows`` if they are among them."""
    assert row.person is not None  # noqa: S101
    known = next((one for one in rows if one.codes is row.person), None)
    return known or SensitiveRow("person", row.person, int(row.person.max(initial=-1)) + 1, sparse=True)


def _starts(lengths: Sequence[int]) -> LongArray:
    return np.concatenate(([0], np.cumsum(np.array(lengths, np.int64)))).astype(np.int64)


def together(requirements: Sequence[HistogramRequirement]) -> Requirement:
    """Return requirements as one."""
    return requirements[0] if len(requirements) == 1 else AllOf(tuple(requirements))
