"""Columns without a role: left out with a warning, kept, or asked about."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from shoal.errors import ColumnError
from shoal.frames import Frame
from shoal.inspection import guess_role, type_word

if TYPE_CHECKING:
    from shoal.request.request import Request

Others = Literal["drop", "keep", "ask"]
OTHERS: tuple[Others, ...] = ("drop", "keep", "ask")
_SHOWN = 12
_OPTIONS = {"quasi-identifier": "--qi", "sensitive": "--sensitive", "identifier": "--identifier", "other": "--keep"}


def with_others_decided(request: Request, frame: Frame) -> Request:
    """Return a request in which columns without a role are kept, if it says so; raise if it asks and there are some."""
    named = {name for names in request.named.values() for name in names}
    undecided = [name for name in frame.names if name not in named]
    if not undecided or request.others == "drop":
        return request
    if request.others == "keep":
        return replace(request, keep=(*request.keep, *undecided), others="drop")
    listed = ", ".join(undecided[:_SHOWN]) + (f" and {len(undecided) - _SHOWN} more" if len(undecided) > _SHOWN else "")
    have = "columns has" if len(undecided) == 1 else "columns have"
    raise ColumnError(
        f"{len(undecided)} of {len(frame.names)} {have} no role: {listed}. Nothing is left out or released undecided.",
        hint=f"decide for all of them with --others drop or --others keep (others='drop', 'keep'), or for each: {_deciding(undecided, frame)}",
    )


def _deciding(undecided: list[str], frame: Frame) -> str:
    """Return options that would give every undecided column the role its name suggests."""
    by_option: dict[str, list[str]] = {}
    for name in undecided:
        kind = type_word(frame.typed(name).type)
        distinct = len(frame.table.column(name).unique()) if frame.records else 0
        role, _ = guess_role(name, kind, distinct, frame.records)
        by_option.setdefault(_OPTIONS[role], []).append(f'"{name}"' if "," in name else name)
    return " ".join(
        shlex.join([option, ",".join(by_option[option])]) for option in _OPTIONS.values() if option in by_option
    )
