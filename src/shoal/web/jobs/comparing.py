"""The task that compares methods and sizes of k, point by point."""

from __future__ import annotations

from typing import Any

import shoal
from shoal.api import compiles_first, recipe_parameters
from shoal.recipe import check_recipe
from shoal.web.jobs.loading import load
from shoal.web.jobs.worker import Tell
from shoal.web.stored import StoredTable

_OWN = ("k", "method", "effort", "release", "engine", "memory")


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
    parameters = recipe_parameters(check_recipe(recipe, "The recipe"))
    effort = parameters["effort"]
    for name in _OWN:
        parameters.pop(name)
    tell("progress", (0.0, "compiling, once: up to a minute" if compiles_first() else "making releases"))
    done = 0

    def report(point: Any) -> None:
        nonlocal done
        done += 1
        tell("progress", (min(1.0, done / (len(methods) * len(ks))), f"{point.method}, k = {point.k}"))
        tell("part", vars(point))

    shoal.compare(
        load(table), methods=methods, k=ks, efforts=effort, workers=1, state=state, on_point=report,
        key=key_file, **parameters,
    )  # fmt: skip
