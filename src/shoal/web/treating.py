"""How a column that is no quasi-identifier is released: the treatments the page offers for kept and sensitive columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shoal.errors import ParameterError
from shoal.treatments import make_treatment

NUMBERS = ("whole number", "number")
DATES = ("date", "time")
PERIODS = ("day", "week", "month", "quarter", "year")


@dataclass(frozen=True)
class TreatmentChoice:
    """A treatment as the page offers it."""

    name: str
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


TREATMENTS = (
    TreatmentChoice("round", "to", 10, "rounded", "to multiples of", NUMBERS),
    TreatmentChoice("round", "to", "month", "only the period", "beginning of the", DATES, periods=True),
    TreatmentChoice("top-code", "share", 0.99, "largest cut off", "share left as it is", NUMBERS),
    TreatmentChoice("bottom-code", "share", 0.01, "smallest cut off", "share that is cut off", NUMBERS),
    TreatmentChoice("microaggregate", "k", 5, "means of a few", "of so many neighbours", NUMBERS),
    TreatmentChoice("rank-swap", "share", 0.05, "swapped with neighbours", "within this share of the ranks", (*NUMBERS, *DATES)),
    TreatmentChoice("noise", "share", 0.1, "with noise", "share of the spread", NUMBERS),
    TreatmentChoice("shift-dates", "days", 30, "shifted", "by at most so many days", DATES),
    TreatmentChoice("pram", "keep", 0.8, "swapped at random", "chance that a value stays"),
)  # fmt: skip


def treatments_for(kind: str) -> list[TreatmentChoice]:
    """Return the treatments that fit a column of a type."""
    return [one for one in TREATMENTS if not one.types or kind in one.types]


def treatment_settings(name: str, value: str, kind: str, person: str | None) -> dict[str, Any] | None:
    """Return a treatment as a recipe has it, checked in its own words; None for none."""
    if not name:
        return None
    choice = next((one for one in treatments_for(kind) if one.name == name), None)
    if choice is None:
        raise ParameterError(f"There is no treatment {name!r} for such a column.")
    settings: dict[str, Any] = {choice.parameter: _value(choice, value)}
    if choice.name == "shift-dates" and person is not None:
        settings["person"] = person
    make_treatment(name, **settings)
    return {"treatment": name, **settings}


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


def shown_treatment(settings: Mapping[str, Any] | None, kind: str) -> dict[str, Any] | None:
    """Return what the page shows of a treatment that was chosen."""
    if settings is None:
        return None
    choice = next((one for one in treatments_for(kind) if one.name == settings["treatment"]), None)
    if choice is None:
        return {"name": settings["treatment"], "value": "", "asks": "", "periods": False, "parameter": ""}
    value = settings.get(choice.parameter, choice.default)
    return {"name": choice.name, "value": value, "asks": choice.asks, "periods": choice.periods}
