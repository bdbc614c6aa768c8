"""Options of ``shoal anonymize`` that are parameters of a release, and how their texts are read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from shoal.cli.options import bundle, column_option, names_option, pairs_callback, path_option, plain_value, split_call
from shoal.errors import ParameterError

if TYPE_CHECKING:
    from shoal.api import Anonymizer
    from shoal.recipe import Recipe
    from shoal.treatments import Treatment

COLUMNS = "How columns are read and released"
SEARCH = "How groups are found"
PROMISE = "What is promised"
EFFORTS = ("fast", "balanced", "best")


def effort_callback(ctx: click.Context, param: click.Parameter, value: str | None) -> str | float | None:
    """Read a word or a number of seconds."""
    if value is None or value in EFFORTS:
        return value
    try:
        return float(value)
    except ValueError:
        raise click.BadParameter(f"Give {', '.join(EFFORTS)} or a number of seconds.", ctx, param) from None


def ends_callback(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> Any:
    """Read a word for all columns, or a word or a step for each of some."""
    words = [one for one in value if "=" not in one]
    if words and len(value) > 1:
        raise click.BadParameter("Give one word for all columns, or COLUMN=STEP for each of some.", ctx, param)
    if words:
        return words[0]
    return {column: plain_value(text) for column, text in pairs_callback(ctx, param, value).items()}


def hierarchies_callback(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> dict[str, str] | str:
    """Read ``column=choice``, given several times, or ``auto`` for all columns."""
    return "auto" if value == ("auto",) else pairs_callback(ctx, param, value)


def disjoint_callback(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> dict[str, Any]:
    """Read a column, or COLUMN=MOST."""
    found: dict[str, Any] = {}
    for one in value:
        column, mark, most = one.rpartition("=")
        if mark and not most.isdecimal():
            raise click.BadParameter("Give COLUMN, or COLUMN=MOST with a number of cells.", ctx, param)
        found[column if mark else one] = {"most": int(most)} if mark else "disjoint"
    return found


_CHOICE_OPTIONS = (
    click.option(
        "-k",
        type=click.IntRange(min=2),
        metavar="K",
        help="Smallest group: each released combination of values occurs at least K times.",
        panel=PROMISE,
    ),
    click.option(
        "--model",
        "models",
        multiple=True,
        metavar="MODEL",
        help="A privacy model that must hold beyond k, such as [bold]l-diversity:l=3[/bold] or [bold]t-closeness:t=0.2,column=diagnosis[/bold]. An unknown name prints the list. May be repeated.",
        panel=PROMISE,
    ),
    click.option(
        "--max-suppression",
        type=click.FloatRange(0, 1),
        metavar="SHARE",
        help="Largest share of records that may be withheld, such as 0.01. Default: none.",
        panel=PROMISE,
    ),
    names_option(
        "--qi", "quasi_identifiers", text="Quasi-identifiers: columns an outsider may know. They are made coarser."
    ),
    names_option(
        "--sensitive", text="Columns with values that must not be tied to a person. They are kept as they are."
    ),
    names_option("--identifier", "identifiers", text="Columns that name a person by themselves. They are removed."),
    names_option("--keep", text="Columns passed through unchanged. Only what no outsider can know."),
    names_option(
        "--pseudonymize", text="Columns released as tokens made with the key of --key: pseudonymous, not anonymous."
    ),
    path_option(
        "--key",
        text="Key file of the tokens, which only you may read. [bold]shoal key make[/bold] makes one.",
        panel=COLUMNS,
    ),
    click.option(
        "--treat",
        multiple=True,
        metavar="COLUMN=TREATMENT",
        callback=pairs_callback,
        help="Change a kept or sensitive column that could give people away: [bold]cost=round:100[/bold], [bold]income=top-code:share=0.99[/bold], [bold]visit=shift-dates:30,person=id[/bold], [bold]note=drop[/bold]. May be repeated.",
        panel=COLUMNS,
    ),
    column_option(
        "--person",
        text="Column that identifies the person a record belongs to, for tables with several records for each person. People are then counted instead of records. The column is removed.",
        panel=PROMISE,
    ),
    column_option(
        "--household",
        text="Column that identifies the household a record belongs to. Households are counted too, and kept together. The column is removed.",
        panel=PROMISE,
    ),
    click.option(
        "--together",
        is_flag=True,
        help="Put all records of a person into groups with the same other people, against intruders who know several of the records.",
        panel=PROMISE,
    ),
    column_option(
        "--survey-weight",
        text="Column with the number of people of the population that a record represents. Released as the mean of each group unless --keep names it too. (The option [bold]--weight[/bold] is something else: how much the loss in a column counts.)",
        panel=PROMISE,
    ),
    click.option(
        "--hierarchy",
        "hierarchies",
        multiple=True,
        metavar="COLUMN=CHOICE",
        callback=hierarchies_callback,
        help="How a category is made coarser: a hierarchy file, [bold]flat[/bold] (the value or *), [bold]set[/bold] (one of several values; the default for text), [bold]suggest[/bold] (suggested by its values) or [bold]auto[/bold] (ranges for numbers, a tree learned from the data for categories). [bold]--hierarchy auto[/bold] does it for every column.",
        panel=COLUMNS,
    ),
    click.option(
        "--kind",
        "kinds",
        multiple=True,
        metavar="COLUMN=KIND",
        callback=pairs_callback,
        help="Read a column as [bold]numeric[/bold], [bold]date[/bold] or [bold]nominal[/bold], or as ordered values from low to high: [bold]school=primary,secondary,tertiary[/bold].",
        panel=COLUMNS,
    ),
    click.option(
        "--weight",
        "weights",
        multiple=True,
        metavar="COLUMN=NUMBER",
        callback=pairs_callback,
        help="How much the loss in a column counts. Default: 1. [bold]COLUMN:NODE=NUMBER[/bold] gives a weight to a node of its hierarchy.",
        panel=COLUMNS,
    ),
    click.option(
        "--others",
        type=click.Choice(["drop", "keep", "ask"]),
        help="Columns without a role: [bold]drop[/bold] leaves them out, [bold]keep[/bold] passes them through unchanged, [bold]ask[/bold] stops and names the options that decide. Default of [bold]shoal anonymize[/bold]: as in the recipe, otherwise ask.",
        panel=COLUMNS,
    ),
    click.option(
        "--derived",
        type=click.Choice(["refuse", "warn"]),
        help="What to do if a released column follows from the quasi-identifiers and leaves groups below K: [bold]refuse[/bold] (default) or [bold]warn[/bold].",
        panel=PROMISE,
    ),
    click.option(
        "--release",
        type=click.Choice(["ranges", "representatives"]),
        help="Release ranges of values, or one typical value for each group. Default: depends on the method.",
        panel=COLUMNS,
    ),
    click.option(
        "--widen",
        type=click.FloatRange(0, 1),
        metavar="SHARE",
        help="Release cells wider than their group needs, so that a narrow cell reveals less. Ranges grow at each end by up to this share of their width (such as 0.25). For every cell that needs a node or a set, this share of further cells gets it too. Default: none.",
        panel=PROMISE,
    ),
    click.option(
        "--ends",
        multiple=True,
        metavar="CHOICE",
        callback=ends_callback,
        help="Ends of ranges: [bold]round[/bold] (the default: outwards to round values, at most 5 % more loss in a column), [bold]exact[/bold] (at values of the table), or a step for a column: [bold]age=5[/bold], [bold]born=month[/bold]. May be repeated.",
        panel=COLUMNS,
    ),
    click.option(
        "--disjoint",
        "cells",
        multiple=True,
        metavar="COLUMN[=MOST]",
        callback=disjoint_callback,
        help="Column whose released cells never overlap (except *), so that it can be a factor of a model; [bold]age=8[/bold] allows at most 8 cells. May be repeated.",
        panel=COLUMNS,
    ),
    click.option(
        "--counts",
        type=click.Choice(["columns", "groups"]),
        help="Also release counts of exact values, by which recipients calibrate estimates: of each quasi-identifier, in multiples of K ([bold]columns[/bold]), or of each group ([bold]groups[/bold]). They tell more about blurred values and presence. Default: none.",
        panel=PROMISE,
    ),
    click.option(
        "--method",
        metavar="NAME",
        help="Method that finds the groups. [bold]shoal methods[/bold] lists them. Options follow a colon: [bold]mondrian:strict=false[/bold].",
        panel=SEARCH,
    ),
    click.option(
        "--effort",
        metavar="EFFORT",
        callback=effort_callback,
        help="[bold]fast[/bold], [bold]balanced[/bold], [bold]best[/bold] or seconds, for methods that can spend time to lose less.",
        panel=SEARCH,
    ),
    click.option(
        "--seed",
        type=click.IntRange(min=0),
        metavar="NUMBER",
        help="Seed of the random numbers. The same table, call and seed give the same groups. Default: 0.",
        panel=SEARCH,
    ),
)
"""Each gives the parameter of ``Anonymizer`` of the same name."""


def _is_given(value: Any) -> bool:
    return value is not False and value not in (None, (), {})


choice_options = bundle(
    "choices", _CHOICE_OPTIONS, lambda given: {name: value for name, value in given.items() if _is_given(value)}
)
"""Adds every option that is a parameter of a release; the command gets those that were given as one ``choices``."""


def make_anonymizer(recipe: Path | None, choices: dict[str, Any], progress: Any, *, asks: bool = False) -> Anonymizer:
    """Return the anonymizer that the recipe and the options on top of it describe; ``asks``: columns without a role stop it."""
    from shoal.api import Anonymizer, recipe_parameters
    from shoal.recipe import read_recipe

    base = read_recipe(recipe) if recipe else None
    given = _given(choices, base)
    parameters = (recipe_parameters(base) if base else {}) | given
    if "k" not in parameters:
        raise ParameterError("The size of the smallest group is not given.", hint="add -k 10, or --recipe FILE.")
    parameters.setdefault("quasi_identifiers", ())
    if asks and "others" not in given and not (base and "others" in base.model_fields_set):
        parameters["others"] = "ask"
    return Anonymizer(**parameters, progress=progress)


def _given(choices: dict[str, Any], base: Recipe | None) -> dict[str, Any]:
    """Return the options that were given, as parameters.

    An option replaces the value of its own key in the recipe and nothing else: one that names a column replaces what the recipe says of
    this column, one that names a node the weight of this node. A list is one value.
    """
    from shoal.methods import make_method
    from shoal.privacy import make_model

    given = dict(choices)
    readers: dict[str, Callable[[str], Any]] = {"hierarchies": str, "kinds": _kind, "treat": _treatment}
    for name, read in readers.items():
        if isinstance(given.get(name), dict):
            given[name] = _over(base, name) | {column: read(text) for column, text in given[name].items()}
    if "weights" in given:
        given["weights"] = _merged_weights(_over(base, "weights"), _weights(given["weights"]))
    if base and isinstance(given.get("ends"), dict):
        before = dict.fromkeys(base.quasi_identifiers, base.ends) if isinstance(base.ends, str) else base.ends
        given["ends"] = {**({} if base.ends == "round" else before), **given["ends"]}
    if isinstance(given.get("cells"), dict):
        given["cells"] = _over(base, "cells") | given["cells"]
    if "method" in given:
        name, options = split_call(given["method"])
        given["method"] = make_method(name, **options)
    if "models" in given:
        given["models"] = [make_model(name, **options) for name, options in map(split_call, given["models"])]
    return given


def _over(base: Recipe | None, name: str) -> dict[str, Any]:
    """Return what a recipe says of columns in one of its keys."""
    return dict(getattr(base, name)) if base else {}


def _merged_weights(
    before: dict[str, float | dict[str, float]], given: dict[str, float | dict[str, float]]
) -> dict[str, float | dict[str, float]]:
    """Return the weights of a recipe, replaced by other weights; node by node if both give weights of nodes."""
    merged = before | given
    for column, own in given.items():
        earlier = before.get(column)
        if isinstance(own, dict) and isinstance(earlier, dict):
            merged[column] = earlier | own
    return merged


def _treatment(text: str) -> Treatment:
    """Return the treatment in ``round:100`` or ``shift-dates:30,person=id``: the first parameter needs no name."""
    from dataclasses import fields

    from shoal.treatments import TREATMENTS, make_treatment

    name, colon, rest = text.partition(":")
    first = rest.partition(",")[0]
    known = [one.name for one in fields(TREATMENTS[name.strip()])] if name.strip() in TREATMENTS else []
    if colon and "=" not in first and known:
        text = f"{name}:{known[0]}={rest}"
    name, options = split_call(text)
    return make_treatment(name, **options)


def _kind(text: str) -> str | list[str]:
    return [value.strip() for value in text.split(",")] if "," in text else text


def _weights(texts: dict[str, str]) -> dict[str, float | dict[str, float]]:
    """Return weights of columns, and of nodes of their hierarchies for keys such as ``job:Nurse``."""
    nodes: dict[str, dict[str, float]] = {}
    for key, text in texts.items():
        column, colon, node = key.partition(":")
        if colon:
            nodes.setdefault(column, {})[node] = _weight(text)
    columns = {key: _weight(text) for key, text in texts.items() if ":" not in key}
    both = sorted(set(columns) & set(nodes))
    if both:
        raise ParameterError(
            f"The column {both[0]!r} is given a weight of its own and weights of nodes.", hint="give one or the other."
        )
    return columns | nodes


def _weight(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ParameterError(
            f"A weight must be a number. Got {text!r} instead.", hint="for example --weight age=8."
        ) from None
