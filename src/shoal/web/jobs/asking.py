"""The task that compares what analyses find before and after a release."""

from __future__ import annotations

from typing import Any

from shoal.evaluation import analyses
from shoal.evaluation.picture import draw
from shoal.web.jobs.releasing import load_result
from shoal.web.jobs.worker import Tell
from shoal.web.stored import StoredTable

MOST_FIGURES = 40
"""Figures that are drawn and listed of each analysis: a cross table can have thousands."""


def ask_questions(tell: Tell, *, table: StoredTable, folder: str, questions: list[str]) -> dict[str, Any]:
    """Return the figures of each analysis, the original one and those that recipients find, and a picture of them."""
    tell("progress", (0.1, "reading the release as recipients do, and completing it", None))
    found = analyses(load_result(table, folder), questions)
    tell("progress", (0.95, "drawing", None))
    names: dict[str, list[str]] = {}
    for one in found.estimates:
        known = names.setdefault(one.analysis, [])
        if one.name not in known:
            known.append(one.name)
    shown = [one for one in found.estimates if names[one.analysis].index(one.name) < MOST_FIGURES]
    told = type(found)(tuple(shown)).as_dict()
    return {
        "questions": questions,
        "note": told["note"],
        "picture": draw(shown),
        "overview": found.overview(),
        "figures": {text: len(all_names) for text, all_names in names.items()},
        "estimates": told["estimates"],
    }
