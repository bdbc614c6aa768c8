"""l-diversity (Machanavajjhala, Kifer, Gehrke & Venkitasubramaniam 2007)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from shoal.errors import ParameterError
from shoal.privacy.base import PrivacyModel, Requirement
from shoal.privacy.histograms import HistogramRequirement, together
from shoal.privacy.rows import chosen_attributes, plain_row
from shoal.validation import check_choice, check_float, check_int

if TYPE_CHECKING:
    from shoal.encoding import CodedTable


@dataclass(frozen=True)
class LDiversity(PrivacyModel):
    """Every group has at least ``l`` well-represented sensitive values.

    Parameters
    ----------
    l
        How many values. For ``"entropy"`` it need not be whole.
    kind
        What well represented means. ``"distinct"``: it occurs. ``"entropy"``: the group is as uncertain as one
        with ``l`` equally frequent values. ``"recursive"``: the most frequent value occurs less than ``c`` times as
        often as the ``l``-th most frequent and all rarer ones together.
    c
        For ``"recursive"``.
    column
        One sensitive column; by default all of them, each by itself.

    Examples
    --------
    >>> import shoal
    >>> people = {"age": [20, 21, 22, 23, 40, 41, 42, 43], "ill": ["flu", "flu", "flu", "gout", "gout", "gout", "flu", "gout"]}
    >>> result = shoal.anonymize(people, k=2, quasi_identifiers=["age"], sensitive=["ill"], models=[shoal.LDiversity(2)])
    >>> result.audit.l
    2
    """

    looks_at = "group"
    by_fragment = True

    l: float  # noqa: E741  (the name everybody uses)
    kind: Literal["distinct", "entropy", "recursive"] = "distinct"
    c: float | None = None
    column: str | None = None

    def __post_init__(self) -> None:
        check_choice("LDiversity", "kind", self.kind, ("distinct", "entropy", "recursive"))
        if self.kind == "entropy":
            check_float("LDiversity", "l", self.l, least=1.0, above=True)
        else:
            check_int("LDiversity", "l", self.l, least=2, hint="every group has one value anyway.")
        if self.kind == "recursive":
            check_float(
                "LDiversity", "c", self.c, least=0.0, above=True, hint="for example LDiversity(3, 'recursive', c=2)."
            )
        elif self.c is not None:
            raise ParameterError(
                f"The 'c' parameter of LDiversity belongs to kind 'recursive'. Got kind {self.kind!r}."
            )

    def bind(self, table: CodedTable) -> Requirement:
        """Return the model as a requirement on the groups of ``table``."""
        bound = float(self.l) if self.c is None else float(self.c)
        return together(
            [
                HistogramRequirement(self.kind, plain_row(one), bound, int(self.l))
                for one in chosen_attributes("LDiversity", table, self.column)
            ]
        )

    def describe(self) -> str:
        """Return what the model promises."""
        if self.kind == "distinct":
            return f"Every group shows at least {self.l} different sensitive values."
        if self.kind == "entropy":
            return f"Every group is as uncertain about the sensitive value as {self.l:g} equally frequent values are."
        return (
            f"In every group the most frequent sensitive value occurs less than {self.c:g} times as often as the "
            f"values from the {self.l}th most frequent on together."
        )
