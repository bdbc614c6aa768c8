"""``shoal curve``: what each size of k costs a classifier and a query, from the steps of one release."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import rich_click as click

from shoal.cli.compare import ks_callback
from shoal.cli.console import make_table, note_written, out, print_json, progress_bar
from shoal.cli.options import INPUT, Reading, file_argument, input_options, json_option, path_option
from shoal.errors import ParameterError

NAMED = ("tree", "boosting")


@click.command("curve")
@file_argument
@path_option("--recipe", text="Roles, hierarchies and all other choices; k and the method are replaced.", panel=INPUT)
@click.option(
    "--target", metavar="COLUMN", required=True, help="Column with the class to predict. It must be sensitive or kept."
)
@click.option(
    "-k",
    "ks",
    metavar="NUMBERS",
    callback=ks_callback,
    default="10,20,50,100,200",
    help="Sizes of the smallest group, such as [bold]10,50,200[/bold]. Default: 10,20,50,100,200.",
)
@click.option(
    "--learner",
    metavar="NAME",
    default="tree",
    help="[bold]tree[/bold], [bold]boosting[/bold], or a classifier of your own as module:Class. Default: tree.",
)
@click.option(
    "--folds", type=click.IntRange(min=2), default=5, help="Number of parts of the cross-validation. Default: 5."
)
@click.option(
    "--queries", type=click.IntRange(min=1), default=1000, help="Number of random counting queries. Default: 1000."
)
@click.option(
    "--at",
    type=click.IntRange(min=2),
    metavar="NUMBER",
    help="The k of the release to write to --output.",
)
@path_option("-o", "--output", text="Write the release of --at to this file. An existing file is never replaced.")
@input_options
@json_option
def command(
    *,
    file: Path,
    recipe: Path | None,
    target: str,
    ks: tuple[int, ...],
    learner: str,
    folds: int,
    queries: int,
    at: int | None,
    output: Path | None,
    reading: Reading,
    as_json: bool,
) -> None:
    """Show what each size of k costs a classifier and a query.

    FILE is generalized step by step (bug) up to the largest k. Each earlier step that holds a smaller k is a release of its own; each is
    counted again, predicted from held-out folds and asked random queries. Nothing is written unless --at names the one you take.

    [dim]shoal curve patients.csv --recipe trees.toml --target diagnosis -k 10,50,200[/dim]
    """
    from shoal.api import Anonymizer
    from shoal.methods.global_recoding.bug import BottomUpGeneralization
    from shoal.metrics import classification_curve, query_error

    if recipe is None:
        raise ParameterError("A curve needs a recipe, which names the columns.", hint="add --recipe recipe.toml.")
    if not ks:
        raise ParameterError("A curve needs at least one size of k. Got none.", hint="add, for example, -k 10,50,200.")
    if (at is None) != (output is None):
        used, other = ("--at", "--output") if at else ("--output", "--at")
        raise ParameterError(f"The option {used} needs {other}. Got none.", hint=f"leave {used} out.")
    ks = (*ks, at) if at else ks
    frame = reading.load_beside(file)
    with progress_bar("generalizing") as progress:
        method = BottomUpGeneralization(target=target)
        chosen = Anonymizer.load(recipe, k=max(ks), method=method, engine="memory", progress=progress)
        result = chosen.fit(frame).result_
    curve = classification_curve(result, target, k=ks, learner=make_learner(learner), folds=folds)
    rows = []
    for k, found in curve:
        release = result if k == result.recipe.k else result.at(k=k)
        rows.append(
            {
                "k": k,
                "loss": release.metrics["ncp"],
                "error": found.error,
                "baseline": found.baseline,
                "worst": found.worst,
                "query_error": query_error(frame, release, queries, seed=1).mean,
            }
        )
    if at and output:
        (result if at == result.recipe.k else result.at(k=at)).save(output)
        note_written(output.name)
    if as_json:
        print_json({"target": target, "learner": learner, "folds": folds, "points": rows})
        return
    _show(rows)


def make_learner(name: str) -> Any:
    """Return a known learner's name, or an object of a class given as module:Class."""
    module, _, attribute = name.partition(":")
    if name in NAMED:
        return name
    try:
        return getattr(import_module(module), attribute)()
    except (ImportError, AttributeError, TypeError, ValueError):
        raise ParameterError(
            f"The learner {name!r} cannot be made: it must be 'tree', 'boosting', or module:Class that needs no parameters.",
            hint="for example: --learner sklearn.naive_bayes:GaussianNB",
        ) from None


def _show(rows: list[dict[str, Any]]) -> None:
    headings = ("k", "loss", "E: released", "B: original", "W: all to the root", "E - B", "query error")
    table = make_table(*headings, numbers=headings)
    for row in rows:
        shares = [
            row["loss"],
            row["error"],
            row["baseline"],
            row["worst"],
            row["error"] - row["baseline"],
            row["query_error"],
        ]
        table.add_row(f"{row['k']:,}", *(f"{100 * value:.1f} %" for value in shares))
    out().print(table)
