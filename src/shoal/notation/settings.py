"""The user's settings for how values are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shoal.errors import ParameterError
from shoal.notation.dates import check_format
from shoal.validation import check_texts, is_encodable, wrong

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
        """Return whether nothing is said."""
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
    formats = (
        () if date_format is None else check_texts(owner, "date_format", date_format, "a format, or a list of formats")
    )
    for one in formats:
        check_format(owner, one)
    return Notation(decimal, thousands, formats, _marks(owner, missing))


def _check_mark(owner: str, name: str, mark: str | None, known: Sequence[str]) -> None:
    if mark is not None and not (isinstance(mark, str) and mark in known):
        listed = ", ".join(repr(one) for one in known if one)
        raise wrong(owner, name, f"one of {listed}", mark)


def _marks(owner: str, missing: str | Sequence[str] | None) -> tuple[str, ...] | None:
    if missing is None:
        return None
    marks = check_texts(owner, "missing", missing, 'texts such as ["NA", "-99"]')
    for mark in marks:
        if not is_encodable(mark):
            raise wrong(owner, "missing", "text that is valid Unicode", mark)
    return marks
