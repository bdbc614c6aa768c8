"""What an audit is asked for, checked once for tables of every kind: in memory, in a database, on Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shoal.encoding import HierarchyChoice, KindChoice, check_hierarchies, check_kinds
from shoal.errors import ColumnError, ParameterError
from shoal.validation import check_columns, check_float, check_int, check_keys, check_names


@dataclass(frozen=True)
class Asked:
    """The parameters of an audit, the table not yet seen."""

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    owners: dict[str, str]
    """The columns of persons and households, by these words."""
    survey_weight: str | None
    hierarchies: Mapping[str, HierarchyChoice]
    kinds: Mapping[str, KindChoice]

    def check_columns(self, columns: Sequence[str]) -> None:
        """Refuse names that a table does not have, and a column with two roles."""
        check_columns("a quasi-identifier", self.quasi_identifiers, columns)
        check_columns("sensitive", self.sensitive, columns)
        if self.survey_weight is not None:
            check_columns("the survey weight", [self.survey_weight], columns)
        for unit, name in self.owners.items():
            check_columns(f"the {unit} column", [name], columns)
            if name in self.quasi_identifiers:
                raise ColumnError(f"The column {name!r} is both the {unit} and a quasi-identifier. Give it one role.")


def check_asked(
    *,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    person: str | None,
    household: str | None,
    survey_weight: str | None,
    hierarchies: Mapping[str, HierarchyChoice] | None,
    kinds: Mapping[str, KindChoice] | None,
    sampling_fraction: float | None,
    population: Any,
    unique_columns: int,
) -> Asked:
    """Return the parameters of an audit in one form, or say which is wrong."""
    names = check_names("audit", "quasi_identifiers", quasi_identifiers)
    if not names:
        raise ParameterError("An audit needs at least one quasi-identifier. Got none.")
    check_int("audit", "unique_columns", unique_columns, least=0)
    if sampling_fraction is not None:
        check_float("audit", "sampling_fraction", sampling_fraction, least=0.0, above=True, most=1.0)
    if survey_weight is not None:
        _check_alone("survey_weight", sampling_fraction=sampling_fraction, population=population)
    owners = {unit: name for unit, name in (("person", person), ("household", household)) if name is not None}
    measured = check_names("audit", "sensitive", sensitive)
    trees, forms = check_hierarchies("audit", hierarchies), check_kinds("audit", kinds)
    check_keys("hierarchies", trees, measured, "sensitive column")
    check_keys("kinds", forms, measured, "sensitive column")
    return Asked(names, measured, owners, survey_weight, trees, forms)


def _check_alone(parameter: str, **others: Any) -> None:
    """Refuse two ways to know the population."""
    for name, value in others.items():
        if value is not None:
            raise ParameterError(
                f"The {parameter!r} parameter of audit describes the population, and so does {name!r}. Give one of them."
            )
