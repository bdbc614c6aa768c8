"""t-closeness (Li, Li & Venkatasubramanian 2007)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from shoal.encoding import CodedAttribute
from shoal.errors import ParameterError
from shoal.privacy.base import PrivacyModel, Requirement
from shoal.privacy.histograms import HistogramRequirement, together
from shoal.privacy.rows import chosen_attributes, ordered_row, plain_row, tree_row
from shoal.validation import check_choice, check_float

if TYPE_CHECKING:
    from shoal.encoding import CodedTable

Distance = Literal["equal", "ordered", "hierarchical"]


@dataclass(frozen=True)
class TCloseness(PrivacyModel):
    """The sensitive values of every group are spread as in the whole table, within the earth mover's distance ``t``.

    Parameters
    ----------
    t
        The largest distance, 0 to 1. At 0 every group is a small copy of the table.
    distance
        How far two values are apart. ``"equal"``: always 1. ``"ordered"``: by how many values lie between.
        ``"hierarchical"``: by the height of their common ancestor in the column's hierarchy. By default
        hierarchical if the column has a hierarchy, ordered for numbers, dates and columns to which ``kinds``
        gives an order, else equal; ``kinds`` may also say that numbers are ``"nominal"``.
    order
        For ``"ordered"`` on a text column: its values from low to high.
    column
        One sensitive column; by default all of them, each by itself.

    Notes
    -----
    The spread of the whole table is that of all its records, the withheld ones included.

    Examples
    --------
    >>> import shoal
    >>> people = {"age": [20, 21, 22, 23, 40, 41, 42, 43], "ill": ["flu", "flu", "flu", "gout", "gout", "gout", "flu", "gout"]}
    >>> result = shoal.anonymize(people, k=2, quasi_identifiers=["age"], sensitive=["ill"], models=[shoal.TCloseness(0.3)])
    >>> result.audit.t <= 0.3
    True
    """

    looks_at = "table"
    by_fragment = True

    t: float
    distance: Distance | None = None
    order: tuple[str, ...] | None = None
    column: str | None = None

    def __post_init__(self) -> None:
        check_float("TCloseness", "t", self.t, least=0.0, most=1.0)
        if self.distance is not None:
            check_choice("TCloseness", "distance", self.distance, ("equal", "ordered", "hierarchical"))
        if self.order is not None:
            if self.distance != "ordered":
                raise ParameterError("The 'order' parameter of TCloseness belongs to distance='ordered'.")
            object.__setattr__(self, "order", tuple(self.order))

    def bind(self, table: CodedTable) -> Requirement:
        """Return the model as a requirement on the groups of ``table``."""
        attributes = chosen_attributes("TCloseness", table, self.column)
        return together([closeness("TCloseness", one, float(self.t), self.distance, self.order) for one in attributes])

    def describe(self) -> str:
        """Return what the model promises."""
        return (
            "Knowing someone's group reveals little about their sensitive value: its spread differs from that of the "
            f"whole table by at most {self.t:g} (0: not at all, 1: entirely)."
        )


def closeness(
    owner: str,
    attribute: CodedAttribute,
    t: float,
    distance: Distance | None = None,
    order: Sequence[str] | None = None,
) -> HistogramRequirement:
    """Return the requirement that a column be within distance ``t``."""
    chosen = distance or natural_distance(attribute)
    if chosen == "hierarchical":
        return HistogramRequirement("hierarchical", tree_row(owner, attribute), t)
    if chosen == "ordered":
        return HistogramRequirement("ordered", ordered_row(owner, attribute, order), t)
    return HistogramRequirement("equal", plain_row(attribute), t)


def natural_distance(attribute: CodedAttribute) -> Distance:
    """Return the distance that fits a column: by hierarchy, by order, or equal."""
    if attribute.hierarchy is not None:
        return "hierarchical"
    return "ordered" if attribute.ordered else "equal"
