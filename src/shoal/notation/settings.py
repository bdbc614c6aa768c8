"""What the user says about how values are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shoal.errors import ParameterError
from shoal.notation.dates import check_format

_DECIMAL_MARKS = (".", ",")
_THOUSANDS_MARKS = (".", ",", " ", "'", "")


@dataclass(frozen=True)
class Notation:
    """How values are written, as far as the user says it; None means that it is detected."""

    decimal: str | None = None
    thousands: str | None = None
    """The mark between groups of three digits; empty: there is none."""
    date_formats: tuple[str, ...] = ()
    """Each column takes the first of these that fits all its values; a column that none fits is detected."""
    missing: tuple[str, ...] | None = None
    """Texts that stand for a missing value, in every column; empty: none does, and none is looked for."""
    detect: bool = True
    """False: text is text, whatever it looks like."""

    @property
    def is_default(self) -> bool:
        """Tell whether nothing is said."""
        return self == Notation()


AS_IS = Notation(missing=(), detect=False)
"""Nothing is understood: values are what their type says."""


def make_notation(
    owner: str,
    decimal: str | None = None,
    thousands: str | None = None,
    date_format: str | Sequence[str] | None = None,
    missing: str | Sequence[str] | None = None,
) -> Notation:
    """Return the notation that parameters describe, or say which of them is wrong."""
    _check_mark(owner, "decimal", decimal, _DECIMAL_MARKS)
    _check_mark(owner, "thousands", thousands, _THOUSANDS_MARKS)
    if decimal is not None and decimal == thousands:
        raise ParameterError(
            f"The 'thousands' parameter of {owner} must differ from the decimal mark. Got {thousands!r} for both."
        )
    formats = (date_format,) if isinstance(date_format, str) else tuple(date_format or ())
    for one in formats:
        check_format(owner, one)
    return Notation(decimal, thousands, formats, _marks(owner, missing))


def _check_mark(owner: str, name: str, mark: str | None, known: Sequence[str]) -> None:
    if mark is not None and mark not in known:
        listed = ", ".join(repr(one) for one in known if one)
        raise ParameterError(f"The {name!r} parameter of {owner} must be one of {listed}. Got {mark!r} instead.")


def _marks(owner: str, missing: str | Sequence[str] | None) -> tuple[str, ...] | None:
    if missing is None:
        return None
    marks = (missing,) if isinstance(missing, str) else tuple(missing)
    if not all(isinstance(mark, str) for mark in marks):
        raise ParameterError(
            f"The 'missing' parameter of {owner} must hold texts. Got another type.", hint='for example ["NA", "-99"].'
        )
    return marks
