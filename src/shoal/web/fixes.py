"""What calls for a second look while somebody chooses, with the ways out of each and what they cost.

Remarks that are alike are one. A way out is a draft: one click takes it, and undo takes it back. What it costs is measured by a
quick release of that draft compared with one of the present choices, on the same rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from shoal.report.words import listed
from shoal.web.draft import Draft
from shoal.web.treating import DATES, NUMBERS

_NEIGHBOURS = 5


@dataclass(frozen=True)
class Way:
    """A way out: what it is called, and the draft it leads to."""

    words: str
    draft: Draft

    @property
    def name(self) -> str:
        """What requests call it."""
        return hashlib.sha256(self.words.encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Remark:
    """Something to look at, and what can be done about it."""

    words: str
    ways: tuple[Way, ...] = field(default=())


def remarks(draft: Draft, columns: Sequence[Mapping[str, Any]], found: Iterable[Mapping[str, Any]]) -> list[Remark]:
    """Return what calls for a second look: ``found`` in a quick release, and by the values of ``columns``."""
    names = [one["name"] for one in columns]
    by_kind: dict[str, list[Mapping[str, Any]]] = {}
    for one in found:
        by_kind.setdefault(one["kind"], []).append(one)
    told = []
    given_away = [one["column"] for one in by_kind.get("derived", [])]
    if given_away:
        words = "; ".join(one["words"] for one in by_kind["derived"])
        told.append(
            Remark(
                f"{words}. Anyone who knows the quasi-identifiers can compute it.",
                (_known(draft, given_away, names), _left_out(draft, given_away, names)),
            )
        )
    told += _values_alone(draft, [one for one in columns if one["name"] not in given_away], names)
    alike = [one["column"] for one in by_kind.get("alike", [])]
    if alike:
        words = f"In at least one group everybody has the same {listed(alike)}, so the group gives it away."
        ways = [Way(f"ask for {number} different values in every group", _diverse(draft, number)) for number in (2, 3)]
        told.append(Remark(words, (*ways, Way(f"raise k to {2 * draft.get('k')}", draft.change(k=2 * draft.get("k"))))))
    if "apart" in by_kind:
        words = "Rows of one person may be in groups of different people: an intruder who recognizes them finds fewer than k."
        told.append(Remark(words, (Way("keep the rows of a person together", draft.change(together=True)),)))
    return told


def _values_alone(draft: Draft, columns: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[Remark]:
    """Return in one sentence which columns are released with values that occur once."""
    shown = [
        one
        for one in columns
        if draft.role(one["name"]) in ("kept", "sensitive") and one["unique"] and one["name"] not in draft.get("treat")
    ]
    if not shown:
        return []
    chosen = [one["name"] for one in shown]
    numbers = [one["name"] for one in shown if one["type"] in NUMBERS]
    dates = [one["name"] for one in shown if one["type"] in DATES]
    ways = [_known(draft, chosen, names), _left_out(draft, chosen, names)]
    if numbers or dates:
        blunt = draft
        for name in numbers:
            blunt = blunt.with_choice("treat", name, {"treatment": "microaggregate", "k": _NEIGHBOURS})
        for name in dates:
            blunt = blunt.with_choice("treat", name, {"treatment": "round", "to": "month"})
        means = [f"means of {_NEIGHBOURS} neighbours for {listed(numbers)}"] if numbers else []
        months = [f"only the month of {listed(dates)}"] if dates else []
        ways.insert(0, Way(f"release {' and '.join([*means, *months])}", blunt))
    values = sum(one["unique"] for one in shown)
    words = f"{listed(chosen)} {'is' if len(chosen) == 1 else 'are'} released with {values:,} values that occur only once. Who knows one finds the person."
    return [Remark(words, tuple(ways))]


def _known(draft: Draft, chosen: Sequence[str], names: Sequence[str]) -> Way:
    one = len(chosen) == 1
    words = f"make {listed(chosen)} {'a quasi-identifier' if one else 'quasi-identifiers'}"
    return Way(words, draft.with_roles(chosen, "quasi-identifier", names))


def _left_out(draft: Draft, chosen: Sequence[str], names: Sequence[str]) -> Way:
    return Way(f"leave {listed(chosen)} out", draft.with_roles(chosen, "left out", names))


def _diverse(draft: Draft, number: int) -> Draft:
    others = [one for one in draft.get("models") if one["model"] != "l-diversity"]
    return draft.change(models=[*others, {"model": "l-diversity", "l": number}])
