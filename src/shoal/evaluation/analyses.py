"""Questions to a table before and after its release, for the holder."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import DataError, MissingExtraError
from shoal.evaluation.estimates import estimator
from shoal.evaluation.questions import Question, read_question
from shoal.evaluation.tables import (
    aligned,
    completed_releases,
    exact_release,
    middle_release,
    orders_of,
    original_frame,
    released_table,
)
from shoal.io.transaction import Transaction
from shoal.validation import check_int, check_path

if TYPE_CHECKING:
    import pandas as pd

    from shoal.results.result import Result

HOLDER = "This compares with the original table. It is for its holder, not for publication."
_REACH = 1.96
MOST_MISSING = 0.2
"""Estimates from completions with more missing information than this are marked: the reader withholds them."""
WAYS = ("midpoints", "expected", "completed")


@dataclass(frozen=True)
class Estimate:
    """One figure of the original table, and what a recipient finds."""

    analysis: str
    name: str
    original: float
    low: float
    """The 95 % interval of the original figure."""
    high: float
    way: str
    """``midpoints``, ``expected`` (averaged over the cells) or ``completed``."""
    found: float
    found_low: float
    found_high: float
    overlap: float
    """What the two intervals share, of each of them on average; 1 if they are the same."""
    withheld: bool
    """Whether the reader withholds the estimate, because too much information is missing."""

    @property
    def verdict(self) -> str:
        """What became of the figure, in a word or two."""
        if self.withheld:
            return "withheld"
        if not np.isfinite(self.found):
            return "not there"
        before, after = _sign(self.low, self.high), _sign(self.found_low, self.found_high)
        if before * after < 0:
            return "other sign"
        if before != after:
            return "no longer significant" if before else "significant only here"
        return "kept" if self.overlap >= 0.5 else "moved"


@dataclass(frozen=True)
class Analyses:
    """What ``shoal.analyses`` found. It is for the holder of the original table.

    Examples
    --------
    >>> import shoal
    >>> shoal.Analyses(()).as_dict()["audience"]
    'holder'
    """

    estimates: tuple[Estimate, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        rows = [asdict(one) | {"verdict": one.verdict} for one in self.estimates]
        plain = [{key: _plain(value) for key, value in row.items()} for row in rows]
        return {"audience": "holder", "note": HOLDER, "estimates": plain}

    def overview(self) -> list[dict[str, Any]]:
        """Return one row for each analysis and way: the mean overlap, and how many figures were kept."""
        groups: dict[tuple[str, str], list[Estimate]] = {}
        for one in self.estimates:
            groups.setdefault((one.analysis, one.way), []).append(one)
        return [
            {
                "analysis": analysis,
                "way": way,
                "overlap": float(np.mean([one.overlap for one in found])),
                "kept": sum(one.verdict == "kept" for one in found),
                "figures": len(found),
                "withheld": sum(one.withheld for one in found),
                "other sign": sum(one.verdict == "other sign" for one in found),
            }
            for (analysis, way), found in groups.items()
        ]

    def markdown(self) -> str:
        """Return the overview and all estimates as Markdown."""
        lines = [
            f"# Analyses before and after\n\n{HOLDER}\n",
            "| analysis | way | overlap | kept | withheld |",
            "|---|---|---|---|---|",
        ]
        lines += [
            f"| `{row['analysis']}` | {row['way']} | {row['overlap']:.2f} | {row['kept']} of {row['figures']} | {row['withheld']} |"
            for row in self.overview()
        ]
        lines += [
            "",
            "| analysis | figure | way | original | release | overlap | verdict |",
            "|---|---|---|---|---|---|---|",
        ]
        lines += [
            f"| `{one.analysis}` | {one.name} | {one.way} | {_interval(one.original, one.low, one.high)} "
            f"| {_interval(one.found, one.found_low, one.found_high)} | {one.overlap:.2f} | {one.verdict} |"
            for one in self.estimates
        ]
        return "\n".join(lines) + "\n"

    def svg(self) -> str:
        """Return a picture: for each figure the original interval and those that recipients find."""
        from shoal.evaluation.picture import draw  # noqa: PLC0415  (only for those who look)

        return draw(self.estimates)

    def section(self) -> str:
        """Return the overview and the picture as part of a page."""
        from shoal.evaluation.picture import section  # noqa: PLC0415

        return section(self.estimates, self.overview(), HOLDER)

    def text(self, path: Path) -> str:
        """Return what a file of this name holds: JSON, Markdown, SVG or a page."""
        if path.suffix == ".json":
            return json.dumps(self.as_dict(), indent=2) + "\n"
        if path.suffix == ".md":
            return self.markdown()
        if path.suffix == ".svg":
            return self.svg()
        if path.suffix == ".html":
            from shoal.evaluation.picture import page  # noqa: PLC0415

            return page(self.estimates, self.overview(), HOLDER)
        raise DataError(f"Analyses are saved as .html, .md, .json or .svg. Got {path.suffix!r}.")

    def save(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the analyses as ``.html``, ``.md``, ``.json`` or ``.svg``, readable by you alone."""
        target = check_path("Analyses.save", "path", path)
        text = self.text(target)
        files = Transaction(force=force)
        files.add(target, last=True, private=True)
        with files:
            files.temporary(target).write_text(text, encoding="utf-8")
        return target


def analyses(result: Result[Any], questions: Sequence[str], *, m: int = 10, seed: int = 0) -> Analyses:
    """Compare figures of the original table with those that recipients of a release find.

    Parameters
    ----------
    result
        The release, with its original table (not read from a pickle).
    questions
        One line each: ``"hours ~ age + sex"``, ``"rich ~ age : logistic"``, ``"crosstab(job, sex)"`` or
        ``"km(time, event, by=arm)"``.
    m
        How many tables are completed.
    seed
        Equal seeds give equal completions.

    Examples
    --------
    >>> import shoal
    >>> census = shoal.datasets.adult_like(600, seed=1).table.select(["age", "sex", "education-num"])
    >>> result = shoal.anonymize(census, k=5, quasi_identifiers=["age", "sex"], keep=["education-num"], method="mondrian")
    >>> found = shoal.analyses(result, ["`education-num` ~ age + sex"])
    >>> [row["way"] for row in found.overview()]
    ['midpoints', 'expected', 'completed']
    """
    read = [read_question(one) for one in ([questions] if isinstance(questions, str) else questions)]
    check_int("analyses", "m", m, least=2)
    try:
        import scipy.optimize  # noqa: F401, PLC0415  (an extra)

        import shoal_reader  # noqa: PLC0415
    except ImportError as missing:
        package = "pandas" if missing.name == "pandas" else "scipy"
        raise MissingExtraError(package, "pandas,exact", "Comparing analyses") from None
    try:
        return Analyses(tuple(one for found in _answers(result, read, m, seed) for one in found))
    except shoal_reader.ReleaseError as fault:
        raise DataError(str(fault)) from None


def _answers(result: Result[Any], questions: Sequence[Question], m: int, seed: int) -> list[list[Estimate]]:
    release = released_table(result)
    table = original_frame(result, release)
    orders = orders_of(release, table)
    release = aligned(release, orders)
    original = exact_release(table, orders)
    estimators = [estimator(question, original) for question in questions]
    before = [
        estimate(original) for estimate in estimators
    ]  # first: a misspelt column is refused before tables are completed
    completed = completed_releases(release, orders, m, seed)
    ways = {"midpoints": [middle_release(release, orders)], "expected": [release], "completed": completed}
    return [
        _compared(question, known, way, _pooled([estimate(one) for one in tables]))
        for question, estimate, known in zip(questions, estimators, before, strict=True)
        for way, tables in ways.items()
    ]


def _pooled(tables: list[pd.DataFrame]) -> pd.DataFrame:
    from shoal_reader import pool  # noqa: PLC0415  (an extra)

    if len(tables) > 1:
        with warnings.catch_warnings(action="ignore"):
            return pool(tables, most_missing=1)
    (one,) = tables
    reach = _REACH * one["error"]
    return one.assign(low=one["estimate"] - reach, high=one["estimate"] + reach, missing_information=0.0)


def _compared(question: Question, before: pd.DataFrame, way: str, found: pd.DataFrame) -> list[Estimate]:
    rows = []
    for name, estimate, error in zip(before.index, before["estimate"], before["error"], strict=True):
        low, high = estimate - _REACH * error, estimate + _REACH * error
        there = found.loc[name] if name in found.index else dict.fromkeys(found.columns, np.nan)
        found_low, found_high = float(there["low"]), float(there["high"])
        overlap = _overlap(low, high, found_low, found_high)
        withheld = bool(there["missing_information"] > MOST_MISSING)
        rows.append(
            Estimate(
                question.text, str(name), float(estimate), float(low), float(high), way,
                float(there["estimate"]), found_low, found_high, overlap, withheld,
            )
        )  # fmt: skip
    return rows


def _overlap(low: float, high: float, found_low: float, found_high: float) -> float:
    """Return the interval overlap of Karr et al. (2006)."""
    if not np.isfinite([low, high, found_low, found_high]).all():
        return 0.0
    common = max(0.0, min(high, found_high) - max(low, found_low))
    if high == low or found_high == found_low:
        return float(low == found_low and high == found_high)
    return 0.5 * (common / (high - low) + common / (found_high - found_low))


def _sign(low: float, high: float) -> int:
    """Return 1 or -1 if an interval is above or below zero, 0 if it holds zero."""
    return int(low > 0) - int(high < 0)


def _interval(estimate: float, low: float, high: float) -> str:
    return f"{estimate:.4g} [{low:.4g}, {high:.4g}]"


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not np.isfinite(value) else value
