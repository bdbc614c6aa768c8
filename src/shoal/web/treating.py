"""How a column that is not a quasi-identifier is released: the treatments the page offers for kept and sensitive columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shoal.errors import ParameterError
from shoal.treatments import make_treatment

NUMBERS = ("whole number", "number")
DATES = ("date", "time")
PERIODS = ("day", "week", "month", "quarter", "year")
END_PERIODS = ("day", "month", "quarter", "year")
"""Those at whose beginnings ranges of dates can end."""


@dataclass(frozen=True)
class TreatmentChoice:
    """A treatment as the page offers it: with the one parameter it asks for, if any."""

    treatment: str
    parameter: str
    default: float | str
    words: str
    """What the choice is called."""
    asks: str
    """What its number is."""
    types: tuple[str, ...] = ()
    """Types of columns it is for; none: for all."""
    periods: bool = False
    """Whether it takes a period of time and not a number."""

    @property
    def name(self) -> str:
        """What the choice is called in requests: a treatment may be offered by two of its parameters."""
        return f"{self.treatment}:{self.parameter}" if self.parameter == "value" else self.treatment


CHOICES = (
    TreatmentChoice("drop", "", 0, "not at all", ""),
    TreatmentChoice("round", "to", 10, "rounded", "to multiples of", NUMBERS),
    TreatmentChoice("round", "to", "month", "only the period", "beginning of the", DATES, periods=True),
    TreatmentChoice("top-code", "share", 0.99, "largest cut off", "share left as it is", NUMBERS),
    TreatmentChoice("top-code", "value", 100, "cut off above a value", "largest that is shown", NUMBERS),
    TreatmentChoice("bottom-code", "share", 0.01, "smallest cut off", "share that is cut off", NUMBERS),
    TreatmentChoice("bottom-code", "value", 0, "cut off below a value", "smallest that is shown", NUMBERS),
    TreatmentChoice("microaggregate", "k", 5, "means of a few", "of so many neighbours", NUMBERS),
    TreatmentChoice("rank-swap", "share", 0.05, "swapped with neighbours", "within this share of the ranks", (*NUMBERS, *DATES)),
    TreatmentChoice("noise", "share", 0.1, "with noise", "share of the spread", NUMBERS),
    TreatmentChoice("shift-dates", "days", 30, "shifted", "by at most so many days", DATES),
    TreatmentChoice("pram", "keep", 0.8, "swapped at random", "chance that a value stays"),
)  # fmt: skip
_OF_THE_TABLE = {"treatment", "person"}
"""Settings that no choice asks for: the treatment itself, and the person column, which the recipe names already."""


def treatments_for(kind: str) -> list[TreatmentChoice]:
    """Return the treatments that fit a column of a type."""
    return [one for one in CHOICES if not one.types or kind in one.types]


def treatment_settings(name: str, value: str, kind: str) -> dict[str, Any] | None:
    """Return a treatment as a recipe has it, checked in its own words; None for none."""
    if not name:
        return None
    choice = next((one for one in treatments_for(kind) if one.name == name), None)
    if choice is None:
        raise ParameterError(f"There is no treatment {name!r} for such a column.")
    settings: dict[str, Any] = {choice.parameter: _value(choice, value)} if choice.parameter else {}
    make_treatment(choice.treatment, **settings)
    return {"treatment": choice.treatment, **settings}


def _value(choice: TreatmentChoice, text: str) -> float | str:
    if not text or (choice.periods and text not in PERIODS):
        return choice.default
    if choice.periods:
        return text
    try:
        number = float(text)
    except ValueError:
        return choice.default  # what another treatment asked for
    return int(number) if number == int(number) and not isinstance(choice.default, float) else number


def choice_of(settings: Mapping[str, Any], kind: str) -> TreatmentChoice | None:
    """Return the choice that shows all that a treatment of a recipe says; None if no control can."""
    said = {name for name, value in settings.items() if value is not None} - _OF_THE_TABLE
    for one in treatments_for(kind):
        asked = {one.parameter} if one.parameter else set()
        periods = isinstance(settings.get(one.parameter), str)
        if one.treatment == settings["treatment"] and said <= asked and periods == (one.periods and bool(said)):
            return one
    return None


def shown_treatment(settings: Mapping[str, Any] | None, kind: str) -> dict[str, Any] | None:
    """Return what the page shows of a treatment that was chosen."""
    if settings is None:
        return None
    choice = choice_of(settings, kind)
    if choice is None:
        words = f"{settings['treatment']}, as the recipe says"
        return {
            "name": settings["treatment"],
            "words": words,
            "asks": "",
            "value": "",
            "periods": False,
            "foreign": True,
        }
    value = settings.get(choice.parameter, choice.default)
    return {
        "name": choice.name, "words": choice.words, "asks": choice.asks, "value": value, "periods": choice.periods,
        "foreign": False,
    }  # fmt: skip


def fits(settings: Mapping[str, Any], kind: str) -> bool:
    """Return whether a treatment is for a column of a type."""
    alike = [one for one in CHOICES if one.treatment == settings["treatment"]]
    return not alike or any(not one.types or kind in one.types for one in alike)
