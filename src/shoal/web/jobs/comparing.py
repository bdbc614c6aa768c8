"""The task that compares methods and sizes of k, point by point."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean
from typing import TYPE_CHECKING, Any

import shoal
from shoal.api import compiles_first, recipe_parameters
from shoal.recipe import check_recipe
from shoal.web.jobs.loading import load
from shoal.web.jobs.worker import Tell
from shoal.web.stored import StoredTable

if TYPE_CHECKING:
    from shoal.compare import Point  # heavy: loaded when the first comparison is asked for


def seconds_left(made: Sequence[Point], methods: Sequence[str], sizes: int) -> float | None:
    """Guess how long the points that are missing take: as long as those of their method did; None while one has none.

    A share of the points says little: one of ``optimize`` takes as long as fifty of ``mondrian``.
    """
    spent: dict[str, list[float]] = {name: [] for name in methods}
    for point in made:
        spent.setdefault(point.method, []).append(point.seconds or 0.0)
    if not all(spent[name] for name in methods):
        return None
    return sum((sizes - len(spent[name])) * mean(spent[name]) for name in methods)


def compare_points(
    tell: Tell,
    *,
    table: StoredTable,
    recipe: dict[str, Any],
    methods: list[str],
    ks: list[int],
    state: str,
    key_file: str | None = None,
) -> None:
    """Make every point and hand it over when it is finished; those in the state file come at once."""
    from shoal.compare import SHARED  # noqa: PLC0415  (heavy: loaded when the first comparison is asked for)

    chosen = recipe_parameters(check_recipe(recipe, "The recipe"))
    parameters = {name: value for name, value in chosen.items() if name in SHARED and name != "release"}
    tell("progress", (0.0, "compiling, once: up to a minute" if compiles_first() else "making releases"))
    made: list[Point] = []

    def report(point: Point) -> None:
        made.append(point)
        whole = [one for one in made if not one.sampled]
        total = len(methods) * len(ks)
        left = seconds_left(whole, methods, len(ks))
        tell("progress", (len(whole) / total, f"{len(whole)} of {total} releases", left))
        tell("part", vars(point))

    shoal.compare(
        load(table), methods=methods, k=ks, efforts=chosen["effort"], workers=1, state=state, on_point=report,
        key=key_file, **parameters,
    )  # fmt: skip
