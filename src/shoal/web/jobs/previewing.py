"""The task that shows what the choices give while somebody makes them: a quick release, in figures and a few rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

import shoal
from shoal.api import compiles_first, recipe_parameters
from shoal.arrays import BoolArray, LongArray
from shoal.derived import find_derived
from shoal.errors import CancelledError, PrivacyError, ShoalError
from shoal.frames import Frame, encode_dictionary
from shoal.recipe import Recipe, check_recipe
from shoal.results.result import Result
from shoal.web.jobs.loading import load
from shoal.web.jobs.reading import cell_texts
from shoal.web.jobs.worker import Tell, stoppable
from shoal.web.stored import StoredTable

FIRST_LOOK = 2_000
MOST_RECORDS = 12_000
"""A larger table is looked at by a sample of about so many records, after a first look at a smaller one."""
_SLOW = "n²"
"""In the complexity of a method: it is shown by the first look alone."""
ROWS = 3


def preview(
    tell: Tell, *, table: StoredTable, recipe: dict[str, Any], first: int, key: str | None = None
) -> dict[str, Any] | None:
    """Return what the choices give: k, what each column keeps and a few rows before and after; None if it was given up.

    Of a table that takes longer, what a smaller sample gives is handed over before.
    """
    whole = load(table)
    checked = check_recipe(recipe, "The recipe")
    parameters = recipe_parameters(checked) | {"effort": "fast"}
    words = "compiling, once: up to a minute" if compiles_first() else ""
    rows = preferred_rows(whole, checked.person)
    sizes = [
        min(size, whole.records) for size in ((FIRST_LOOK,) if _is_slow(checked.method) else (FIRST_LOOK, MOST_RECORDS))
    ]
    found = None
    with stoppable() as stop:
        for size in dict.fromkeys(sizes):
            if found is not None:
                tell("part", found | {"rough": True})
            sample = Sample.of(whole, rows, size)
            try:
                anonymizer = shoal.Anonymizer(
                    **parameters,
                    key=key,
                    cancel=stop,
                    progress=lambda share, text: tell("progress", (share, words or text)),
                )
                result = anonymizer.result_of(sample.frame)
            except CancelledError:
                return None
            except PrivacyError as fault:
                given = _given_away(sample.frame, checked)
                if not given:
                    raise
                return {"fault": (fault.message, None), "rough": False, "remarks": given}
            found = describe_preview(result, sample, whole.records, first)
    return found


def prices(
    tell: Tell, *, table: StoredTable, recipes: dict[str, dict[str, Any]], key: str | None = None
) -> dict[str, dict[str, Any]]:
    """Return what each recipe gives on the same rows: k and the detail kept, or nothing if it gives no release."""
    whole = load(table)
    found: dict[str, dict[str, Any]] = {}
    with stoppable() as stop:
        for name, recipe in recipes.items():
            checked = check_recipe(recipe, "The recipe")
            rows = preferred_rows(whole, checked.person)
            sample = Sample.of(whole, rows, min(FIRST_LOOK, whole.records))
            parameters = recipe_parameters(checked) | {"effort": "fast", "derived": "warn"}
            try:
                result = shoal.Anonymizer(**parameters, key=key, cancel=stop).result_of(sample.frame)
            except CancelledError:
                return found
            except ShoalError:
                found[name] = {}
            else:
                found[name] = {"k": result.audit.k, "kept": 1.0 - float(result.metrics["ncp"])}
            tell("part", dict(found))
    return found


def _given_away(frame: Frame, recipe: Recipe) -> list[dict[str, Any]]:
    """Return the released columns that follow from the quasi-identifiers."""
    known = find_derived(frame, recipe.quasi_identifiers, [*recipe.sensitive, *recipe.keep], person=recipe.person)
    return [{"kind": "derived", "column": one.column, "words": one.words} for one in known if one.certain]


def _remarks(result: Result) -> list[dict[str, Any]]:
    """Return what calls for a second look in the rows of a quick release."""
    recipe, sensitive = result.recipe, result.audit.sensitive
    found: list[dict[str, Any]] = [
        {"kind": "derived", "column": one.column, "words": one.words} for one in result.derived if one.certain
    ]
    found += [{"kind": "alike", "column": name} for name in recipe.sensitive if sensitive.get(name, {}).get("l") == 1]
    if recipe.person is not None and not recipe.together:
        found.append({"kind": "apart"})
    return found


def _is_slow(method: str) -> bool:
    return any(_SLOW in one.complexity for one in shoal.methods() if one.name == method and not one.uses_effort)


@dataclass(frozen=True)
class Preferred:
    """The rows of a table in the order in which samples take them, the same each time; rows of one person come together."""

    rows: LongArray
    first: BoolArray
    """Whether a row is the first of its person."""


def preferred_rows(frame: Frame, person: str | None) -> Preferred:
    """Return the rows of a table in the order in which samples take them."""
    draw = np.random.default_rng(0)
    if person is None:
        return Preferred(draw.permutation(frame.records), np.ones(frame.records, np.bool_))
    whose = encode_dictionary(frame.table.column(person))
    codes = whose.indices.fill_null(len(whose.dictionary)).to_numpy(zero_copy_only=False)
    place = draw.permutation(len(whose.dictionary) + 1)
    rows = np.argsort(place[codes], kind="stable")
    whose_next = codes[rows]
    return Preferred(rows, np.concatenate([[True], whose_next[1:] != whose_next[:-1]]))


@dataclass(frozen=True)
class Sample:
    """Some rows of a table, in their order."""

    frame: Frame
    shown: LongArray
    """A row of each person in the sample, those first that every larger one has too."""

    @classmethod
    def of(cls, frame: Frame, preferred: Preferred, size: int) -> Sample:
        """Return the first ``size`` rows."""
        rows = preferred.rows[:size]
        chosen = np.sort(rows)
        part = frame if size == frame.records else replace(frame, table=frame.table.take(pa.array(chosen)), native=None)
        return cls(part, np.searchsorted(chosen, rows[preferred.first[:size]]))


def describe_preview(result: Result, sample: Sample, records: int, first: int) -> dict[str, Any]:
    """Return what is shown of a quick release."""
    released = result.released
    losses = result.metrics["ncp_by_column"]
    known = {column.name: (column, after) for column, _, after in result.cells()}
    return {
        "records": sample.frame.records,
        "whole": sample.frame.records == records,
        "rough": False,
        "remarks": _remarks(result),
        "k": result.audit.k,
        "households": result.recipe.household is not None,
        "withheld": int(result.metrics["suppressed"]),
        "kept": 1.0 - float(result.metrics["ncp"]),
        "columns": [
            {"name": name, "kept": 1.0 - float(losses[name]), "typical": _typical(result, *known[name])}
            for name in result.recipe.quasi_identifiers
        ],
        "released": list(released.column_names),
        **_rows(result, sample, first),
    }


def _typical(result: Result, column: Any, cells: Any) -> str:
    """Return a released cell of the column that is as wide as half of them at most are."""
    ordered = np.argsort(cells.width[cells.group], kind="stable")
    if not len(ordered):
        return ""
    return cell_texts(Frame(result.released), column.name, [int(ordered[len(ordered) // 2])])[0]


def _rows(result: Result, sample: Sample, first: int) -> dict[str, Any]:
    """Return a few rows before and after, the same in each sample; ``first`` says how many rows were shown before."""
    place = np.cumsum(result.groups >= 0) - 1  # of each row among those that are not withheld
    kept = sample.shown[result.groups[sample.shown] >= 0]
    chosen = np.roll(kept, -ROWS * first)[:ROWS]
    names = list(result.released.column_names)
    released = Frame(result.released)
    before = {name: cell_texts(sample.frame, name, chosen.tolist()) for name in names}
    after = {name: cell_texts(released, name, place[chosen].tolist()) for name in names}
    quasi = set(result.recipe.quasi_identifiers)
    order = sorted(names, key=lambda name: name not in quasi)
    return {
        "names": order,
        "rows": [[(before[name][row], after[name][row]) for name in order] for row in range(len(chosen))],
    }
