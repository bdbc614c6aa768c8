"""The tables in ``data/``, read when they are first asked for."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files


@cache
def rows(name: str) -> tuple[dict[str, str], ...]:
    """Return the rows of a table with a header."""
    text = (files("shoal.knowledge") / "data" / name).read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))


@cache
def lines(name: str) -> tuple[str, ...]:
    """Return the lines of a list, without those that say where it comes from."""
    text = (files("shoal.knowledge") / "data" / name).read_text(encoding="utf-8")
    return tuple(line for line in text.splitlines() if line and not line.startswith("#"))


@cache
def titled(name: str) -> dict[str, str]:
    """Return a list of codes and titles as a mapping."""
    return dict(line.split(" ", 1) for line in lines(name))
