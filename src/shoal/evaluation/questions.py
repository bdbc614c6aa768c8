"""What may be asked of a table, read from one line each."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from shoal.errors import ParameterError

_CROSS = re.compile(r"crosstab\(\s*(?P<row>[^,()]+?)\s*,\s*(?P<column>[^,()]+?)\s*\)")
_SURVIVAL = re.compile(r"km\(\s*(?P<time>[^,()]+?)\s*,\s*(?P<event>[^,()]+?)\s*(,\s*by\s*=\s*(?P<by>[^,()]+?)\s*)?\)")
_MODEL = re.compile(r"(?P<formula>[^~]+~[^~]+?)(\s*:\s*(?P<kind>linear|logistic)\s*)?")


class Question(NamedTuple):
    """One analysis."""

    text: str
    kind: Literal["linear", "logistic", "crosstab", "km"]
    formula: str = ""
    names: tuple[str, ...] = ()
    """Row and column of a cross table; time, event and perhaps group of a survival curve."""


def read_question(text: str) -> Question:
    """Read ``hours ~ age + sex``, ``rich ~ age : logistic``, ``crosstab(job, sex)`` or ``km(time, event, by=arm)``."""
    plain = text.strip()
    if cross := _CROSS.fullmatch(plain):
        return Question(plain, "crosstab", names=(_name(cross["row"]), _name(cross["column"])))
    if survival := _SURVIVAL.fullmatch(plain):
        by = () if survival["by"] is None else (_name(survival["by"]),)
        return Question(plain, "km", names=(_name(survival["time"]), _name(survival["event"]), *by))
    if model := _MODEL.fullmatch(plain):
        return Question(
            plain, "logistic" if model["kind"] == "logistic" else "linear", formula=model["formula"].strip()
        )
    raise ParameterError(
        f"The analysis {text!r} cannot be read.",
        hint="write 'hours ~ age + sex', 'rich ~ age : logistic', 'crosstab(job, sex)' or 'km(time, event, by=arm)'.",
    )


def _name(text: str) -> str:
    return text.strip("`").strip()
