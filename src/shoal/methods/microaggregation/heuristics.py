"""Microaggregation (Domingo-Ferrer 2006): groups of at least k with small within-group sums of squares.

All methods of the family measure distances on scaled columns (``methods.microaggregation.scaling``) and, with ``within``, keep
records with different values of a column apart.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from shoal.arrays import FloatArray, IntArray, LongArray
from shoal.errors import ColumnError
from shoal.kernels.common.sums import row_sums_of_products
from shoal.kernels.microaggregation import mdav, mdav_generic, v_mdav
from shoal.kernels.microaggregation.univariate import split_path
from shoal.methods.base import MethodInfo, Task
from shoal.methods.microaggregation.blocking import Microaggregation, column_codes
from shoal.methods.microaggregation.scaling import Points, as_points
from shoal.methods.microaggregation.sse import minimize_sse
from shoal.validation import check_choice, check_float, nearest_hint

if TYPE_CHECKING:
    from shoal.encoding import CodedTable

_AXIS_DIGITS = 9
"""Digits that are kept of a principal axis."""
_LEAF = 16
_ROUNDS = 2_000
"""Groups made between two progress reports."""
_PAIRS = 50_000_000
"""Distances computed between two progress reports if every pair counts."""


@dataclass(frozen=True)
class MDAV(Microaggregation):
    """Group the record farthest from the mean with its k - 1 nearest, then the one opposite, and so on.

    Parameters
    ----------
    scale
        ``"z"``: columns count by their standard deviation. ``"range"``: by their range. ``"none"``: as they are.
    within
        A column whose values are not mixed in a group.
    round_integers
        Whether the mean of a group's integers is released rounded to an integer.
    nominal
        The category released for a group: ``"mode"`` its most frequent, ``"centroid"`` the one whose costs of the
        closest common ancestors with all of the group's, in the column's hierarchy, are least together.
    refine
        True: for large tables. MDAV runs in blocks of near records, then records move to and swap with the groups
        of their neighbours while the loss falls: less is lost than with plain MDAV, in time that grows in
        proportion to the records.

    Notes
    -----
    With categories among the columns this is MDAV-generic: the average record has their most frequent values.
    The papers say nothing about ties; here they go to the record that comes first; with this choice the figures
    published for the reference sets come out to the last digit.

    Examples
    --------
    >>> import shoal
    >>> bodies = {"height": [160, 161, 162, 180, 181, 182], "weight": [55, 57, 56, 80, 82, 81]}
    >>> result = shoal.anonymize(bodies, k=3, quasi_identifiers=["height", "weight"], method=shoal.MDAV(refine=True))
    >>> result.data["height"]
    [161, 161, 161, 181, 181, 181]
    """

    refine: bool = False

    info: ClassVar[MethodInfo] = MethodInfo(
        name="mdav",
        title="MDAV",
        family="microaggregation",
        paper="Domingo-Ferrer and Torra 2005 (surveyed by Domingo-Ferrer 2006)",
        complexity="O(n²/k) at worst; about O(n^1.5) with up to 5 columns of numbers",
        default_release="representatives",
    )

    def _place(self, table: CodedTable) -> Points:
        return super()._place(table) if self.refine else as_points(table, self.scale)

    def _group(self, points: Points, task: Task) -> IntArray:
        if self.refine:
            return minimize_sse(points.numbers, replace(task, effort="fast", on_interrupt="raise"))
        if points.codes.shape[0]:
            return _group_mixed(points, task)

        state = mdav.start_mdav(points.numbers, _LEAF)
        # ends: each round groups at least k of the records left
        while not mdav.run_mdav(state, task.k, _ROUNDS):
            _report(task, state.counter[mdav.LEFT], points)
        return state.labels


def _group_mixed(points: Points, task: Task) -> IntArray:

    most = int(points.codes.max()) + 1
    state = mdav_generic.start_mixed(points.space, points.numbers, points.codes, points.source, points.factor, most)
    rounds = max(_PAIRS // len(points.numbers), 1)
    # ends: each round groups at least k of the records left
    while not mdav_generic.run_mixed(state, task.k, rounds):
        _report(task, state.counter[0], points)
    return state.labels


def _report(task: Task, left: int, points: Points) -> None:
    task.progress(1.0 - left / len(points.numbers), "grouping")


@dataclass(frozen=True)
class VMDAV(Microaggregation):
    """MDAV with groups that grow from k up to 2k - 1 if a record is close to the group and far from others.

    Parameters
    ----------
    gamma
        How readily a group grows: a record is added if it is closer to the group than ``gamma`` times its distance
        to the nearest record left. 0 never; 0.2 suits scattered records, about 1 clustered ones.
    rest
        Where the last records, fewer than k, go: each to the ``"nearest"`` group as in the paper, or all to the
        ``"last"`` one, which reproduces the figures published for ``gamma`` 0.2 on census and tarragona.
    scale, within, round_integers, nominal
        As in ``MDAV``.

    Examples
    --------
    >>> import shoal
    >>> bodies = {"height": [160, 161, 162, 180, 181, 182], "weight": [55, 57, 56, 80, 82, 81]}
    >>> result = shoal.anonymize(bodies, k=3, quasi_identifiers=["height", "weight"], method=shoal.VMDAV())
    >>> result.data["height"]
    [161, 161, 161, 181, 181, 181]
    """

    gamma: float = 0.2
    rest: Literal["nearest", "last"] = "nearest"

    info: ClassVar[MethodInfo] = MethodInfo(
        name="v-mdav",
        title="V-MDAV",
        family="microaggregation",
        paper="Solanas and Martínez-Ballesté 2006",
        complexity="O(n²/k) at worst",
        default_release="representatives",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_float("VMDAV", "gamma", self.gamma, least=0.0)
        check_choice("VMDAV", "rest", self.rest, ("nearest", "last"))

    def _group(self, points: Points, task: Task) -> IntArray:

        state = mdav.start_mdav(points.numbers, _LEAF)
        # ends: each round groups at least k of the records left
        while not v_mdav.run_vmdav(state, task.k, self.gamma, _ROUNDS):
            _report(task, state.counter[mdav.LEFT], points)
        return v_mdav.join_rest(state, self.rest == "last")


@dataclass(frozen=True)
class Univariate(Microaggregation):
    """Put the records in one order and cut it into groups with the least loss.

    Parameters
    ----------
    projection
        What orders the records: ``"principal"`` the first principal component, ``"sum"`` the sum of the scaled
        columns, or the name of a column of numbers. With a single column the result is the optimum.
    scale, within, round_integers, nominal
        As in ``MDAV``.

    Notes
    -----
    The cut minimizes the loss in all columns along the order, while the literature often looks at the
    projected values alone; for one column the two agree.

    Examples
    --------
    >>> import shoal
    >>> wages = {"wage": [10, 11, 12, 50, 51, 52, 53]}
    >>> shoal.anonymize(wages, k=3, quasi_identifiers=["wage"], method=shoal.Univariate()).data
    {'wage': [11, 11, 11, 52, 52, 52, 52]}
    """

    projection: str = "principal"

    info: ClassVar[MethodInfo] = MethodInfo(
        name="univariate",
        title="Optimal univariate microaggregation",
        family="microaggregation",
        paper="Hansen and Mukherjee 2003",
        complexity="O(n log n + n k m)",
        default_release="representatives",
    )

    def _place(self, table: CodedTable) -> Points:
        """Return the coordinates, and in ``codes`` the place of each record in the order."""
        points = super()._place(table)
        place = np.empty((1, table.records), np.int32)
        place[0, _rising(self._project(table, points.numbers))] = np.arange(table.records)
        return replace(points, codes=place)

    def _group(self, points: Points, task: Task) -> IntArray:

        return split_path(points.numbers, _rising(points.codes[0]), task.k)

    def _project(self, table: CodedTable, numbers: FloatArray) -> FloatArray | IntArray:
        alone = len(table.columns) == 1 and table.columns[0].kind.ordered and numbers.shape[1] == 1
        if alone and self.projection in {"principal", "sum"}:
            return column_codes(table, table.names[0])  # in the order of its values, and whole numbers sort faster
        if self.projection == "principal":
            return principal_component(numbers)
        if self.projection == "sum":
            return np.asarray(numbers.sum(axis=1), np.float64)
        ordered = [column.name for column in table.columns if column.kind.ordered]
        if self.projection in ordered:
            return column_codes(table, self.projection)
        raise ColumnError(
            f"The 'projection' parameter of Univariate must be 'principal', 'sum' or a quasi-identifier with an order. "
            f"Got {self.projection!r} instead.",
            hint=nearest_hint(self.projection, ["principal", "sum", *ordered]),
        )


def _rising(keys: FloatArray | IntArray) -> LongArray:
    """Return the places of keys, the smallest first, equal ones in their order."""
    if keys.dtype != np.int32:
        return np.argsort(keys, kind="stable")
    if keys.size and keys.max() == keys.size - 1:  # perhaps each number once, as for a column of distinct values
        order = np.full(keys.size, -1, np.int64)
        order[keys] = np.arange(keys.size)
        if order.min() >= 0:
            return order
    packed: LongArray = np.sort(keys.astype(np.int64) * keys.size + np.arange(keys.size))
    return packed % keys.size


def principal_component(numbers: FloatArray) -> FloatArray:
    """Return the coordinate of each record on the axis of largest variance; its largest loading is positive.

    The axis is rounded, because its last digits depend on the processor, and by them the order of records that are equally far.
    """
    centred = numbers - numbers.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    axis = np.round(axes[:, -1], _AXIS_DIGITS)
    return row_sums_of_products(centred, axis * np.sign(axis[np.argmax(np.abs(axis))]))
