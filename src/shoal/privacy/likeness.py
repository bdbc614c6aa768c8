"""Bounds on single sensitive values: (α,k)-anonymity, β-likeness, δ-disclosure privacy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shoal.privacy.base import PrivacyModel, Requirement
from shoal.privacy.histograms import HistogramRequirement, together
from shoal.privacy.measures import Name
from shoal.privacy.rows import chosen_attributes, plain_row
from shoal.validation import check_float

if TYPE_CHECKING:
    from shoal.encoding import CodedTable


@dataclass(frozen=True)
class _OneBound(PrivacyModel):
    """A model that is one number on one measure of each sensitive column."""

    def _bind(self, table: CodedTable, measure: Name, bound: float, column: str | None) -> Requirement:
        attributes = chosen_attributes(type(self).__name__, table, column)
        return together([HistogramRequirement(measure, plain_row(one), float(bound)) for one in attributes])


@dataclass(frozen=True)
class AlphaK(_OneBound):
    """No sensitive value has more than the share ``alpha`` of any group (Wong, Li, Fu & Wang 2006).

    Parameters
    ----------
    alpha
        The largest share, above 0 and at most 1. Together with k it is (α,k)-anonymity, here for all values.
    column
        One sensitive column; by default all of them.

    Examples
    --------
    >>> import shoal
    >>> people = {"age": [20, 21, 22, 23, 40, 41, 42, 43], "ill": ["flu", "flu", "flu", "gout", "gout", "gout", "flu", "gout"]}
    >>> result = shoal.anonymize(people, k=2, quasi_identifiers=["age"], sensitive=["ill"], models=[shoal.AlphaK(0.75)])
    >>> result.audit.alpha <= 0.75
    True
    """

    looks_at = "group"
    by_fragment = True

    alpha: float
    column: str | None = None

    def __post_init__(self) -> None:
        check_float("AlphaK", "alpha", self.alpha, least=0.0, above=True, most=1.0)

    def bind(self, table: CodedTable) -> Requirement:
        """Return the model as a requirement on the groups of ``table``."""
        return self._bind(table, "alpha", self.alpha, self.column)

    def describe(self) -> str:
        """Return what the model promises."""
        return f"In every group, no sensitive value occurs in more than {100 * self.alpha:.4g} % of the records."


@dataclass(frozen=True)
class BetaLikeness(_OneBound):
    """No sensitive value's share in a group exceeds its share of the table by more than ``beta`` times (Cao & Karras 2012).

    Parameters
    ----------
    beta
        The largest relative gain, (q - p) / p.
    enhanced
        Also bound the gain by -ln p, which matters for frequent values.
    column
        One sensitive column; by default all of them.

    Examples
    --------
    >>> import shoal
    >>> people = {"age": [20, 21, 22, 23, 40, 41, 42, 43], "ill": ["flu", "flu", "flu", "gout", "gout", "gout", "flu", "gout"]}
    >>> result = shoal.anonymize(people, k=2, quasi_identifiers=["age"], sensitive=["ill"], models=[shoal.BetaLikeness(1.0)])
    >>> result.audit.beta <= 1.0
    True
    """

    looks_at = "table"
    by_fragment = True

    beta: float
    enhanced: bool = False
    column: str | None = None

    def __post_init__(self) -> None:
        check_float("BetaLikeness", "beta", self.beta, least=0.0, above=True)

    def bind(self, table: CodedTable) -> Requirement:
        """Return the model as a requirement on the groups of ``table``."""
        return self._bind(table, "enhanced" if self.enhanced else "beta", self.beta, self.column)

    def describe(self) -> str:
        """Return what the model promises."""
        return f"In no group is a sensitive value more than {1 + self.beta:g} times as frequent as in the whole table."


@dataclass(frozen=True)
class DeltaDisclosure(_OneBound):
    """A value that occurs in a group has about its share of the table, abs(ln(q / p)) < ``delta`` (Brickell & Shmatikov 2008).

    Parameters
    ----------
    delta
        The bound, above 0.
    column
        One sensitive column; by default all of them.

    Notes
    -----
    Values absent from a group are left out, as they must be unless every group is to hold every value.

    Examples
    --------
    >>> import shoal
    >>> people = {"age": [20, 21, 22, 23, 40, 41, 42, 43], "ill": ["flu", "flu", "flu", "gout", "gout", "gout", "flu", "gout"]}
    >>> result = shoal.anonymize(people, k=2, quasi_identifiers=["age"], sensitive=["ill"], models=[shoal.DeltaDisclosure(1.0)])
    >>> result.audit.delta < 1.0
    True
    """

    looks_at = "table"
    # by_fragment is not: two groups that keep it may break it together if they are released alike

    delta: float
    column: str | None = None

    def __post_init__(self) -> None:
        check_float("DeltaDisclosure", "delta", self.delta, least=0.0, above=True)

    def bind(self, table: CodedTable) -> Requirement:
        """Return the model as a requirement on the groups of ``table``."""
        return self._bind(table, "delta", self.delta, self.column)

    def describe(self) -> str:
        """Return what the model promises."""
        return (
            "A sensitive value that occurs in a group is there neither much more nor much less frequent than in the "
            f"whole table: by a factor below e^{self.delta:g}."
        )
