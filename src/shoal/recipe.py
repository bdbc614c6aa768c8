"""The recipe: every parameter of a release, and no row of the table, as a TOML file."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from shoal.arrays import Effort, Release
from shoal.cells.counted import CountsChoice
from shoal.encoding import Unit
from shoal.errors import FileError, ParameterError
from shoal.extensions import ENGINES
from shoal.hierarchy import WORDS, Hierarchy
from shoal.io.transaction import Transaction
from shoal.methods import DEFAULT_METHOD, canonical_name, make_method
from shoal.methods.base import Method
from shoal.notation import Notation, make_notation
from shoal.privacy import REGISTRY, make_model, model_name
from shoal.privacy.base import PrivacyModel
from shoal.validation import nearest_hint, refuse_pipe, wrong

SCHEMA_VERSION = 1
OBJECT = "(object)"
"""Written in a recipe instead of a hierarchy or a table that is an object of the user's own."""
FUNCTION = "(function)"
"""Written in a recipe instead of a parameter that is a function of the user's own."""


HOLDER_LINE = "# For the holder of the original table, not for publication."
"""The first line of a recipe file."""


class Recipe(BaseModel):
    """What a recipe file may say; anything else is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    version: Literal[1] = Field(default=1, description="Version of this format.")
    k: int = Field(ge=2, description="Every combination of released values occurs at least this often.")
    quasi_identifiers: list[str] = Field(min_length=1, description="Columns an outsider may know; they are recoded.")
    sensitive: list[str] = Field(default=[], description="Columns kept as they are and protected by models.")
    identifiers: list[str] = Field(default=[], description="Columns that are removed.")
    keep: list[str] = Field(default=[], description="Columns passed through unchanged.")
    person: str | None = Field(
        default=None,
        description="Column that identifies the person a record belongs to. People are then counted instead of records.",
    )
    household: str | None = Field(
        default=None,
        description="Column that identifies the household a record belongs to. Households are counted too.",
    )
    together: bool = Field(
        default=False, description="Whether all records of a person keep the same companions in the release."
    )
    survey_weight: str | None = Field(
        default=None,
        description="Column with the number of people of the population that a record represents; not a weight of the loss.",
    )
    kinds: dict[str, str | list[str]] = Field(
        default={}, description="'numeric', 'date', 'nominal', or the values of an ordered category from low to high."
    )
    hierarchies: dict[str, str] = Field(
        default={},
        description="'flat', 'set', 'suggest' (by its values), 'auto' (what fits the column, learned if it holds categories), or the path of a hierarchy file, relative to this file.",
    )
    decimal: str | None = Field(default=None, description="Decimal mark of numbers in text; detected if not given.")
    thousands: str | None = Field(default=None, description="Mark between thousands; detected if not given.")
    date_format: str | list[str] | None = Field(
        default=None, description="How dates are written, such as '%d.%m.%Y'; detected if not given."
    )
    missing: list[str] | None = Field(
        default=None, description="Texts that stand for a missing value; detected among numbers if not given."
    )
    weights: dict[str, float | dict[str, float]] = Field(
        default={},
        description="How much a column's loss counts, 1 if not given; or how much nodes of its hierarchy count, by their label.",
    )
    models: list[dict[str, Any]] = Field(default=[], description="Privacy models beyond k, each with its parameters.")
    method: Annotated[str, AfterValidator(canonical_name)] = Field(
        default=DEFAULT_METHOD, description="Name of the method; see 'shoal methods'."
    )
    method_options: dict[str, Any] = Field(default={}, description="Parameters of the method.")
    effort: Effort = Field(default="balanced", description="'fast', 'balanced', 'best', or seconds.")
    max_suppression: float = Field(default=0.0, ge=0, le=1, description="Largest share of records withheld.")
    release: Release | None = Field(
        default=None, description="'ranges' or 'representatives'; default: the method's own."
    )
    widen: float = Field(
        default=0.0, ge=0, le=1, description="How many cells are released wider than needed, for each that is not."
    )
    ends: Literal["round", "exact"] | dict[str, float | str] = Field(
        default="round",
        description="Where released ranges end: at round values, at values of the table, or for single columns at multiples of a step.",
    )
    cells: dict[str, Literal["disjoint"] | dict[Literal["most"], int]] = Field(
        default={},
        description="'disjoint' for columns whose released cells never overlap (except *), or { most = 8 } for at most 8 different cells.",
    )
    counts: CountsChoice | None = Field(
        default=None,
        description="Counts of exact values released next to the cells: of each quasi-identifier ('columns') or of each group ('groups').",
    )
    treat: dict[str, dict[str, Any]] = Field(
        default={}, description="Treatments of kept or sensitive columns, each with its name and parameters."
    )
    pseudonymize: list[str] = Field(
        default=[], description="Columns released as tokens; the file of their key is named when a release is made."
    )
    derived: Literal["refuse", "warn"] = Field(
        default="refuse",
        description="What happens if a released column follows from the quasi-identifiers and leaves groups below k: 'refuse' or 'warn'.",
    )
    others: Literal["drop", "keep", "ask"] = Field(
        default="drop", description="What becomes of columns without a role: 'drop', 'keep' or 'ask'."
    )
    seed: int = Field(default=0, ge=0, description="Seed of the random numbers.")
    engine: str = Field(
        default="auto",
        description="Who does the work; the groups do not depend on it.",
        examples=["auto", *ENGINES.own],
    )
    memory: int | str | None = Field(
        default=None, description="What a streamed release should stay within, such as '4GB'."
    )


def declared_hierarchies(recipe: Recipe) -> dict[str, str]:
    """Return the hierarchies that come from a file, by column; any other one was computed from the table, or cannot be told from one that was."""
    return {name: choice for name, choice in recipe.hierarchies.items() if choice not in {*WORDS, OBJECT}}


def averaged_weight(recipe: Recipe) -> str | None:
    """Return the column of survey weights if it is released as the mean of each group, not kept or removed."""
    name = recipe.survey_weight
    return None if name in {*recipe.keep, *recipe.identifiers} else name


def together_units(recipe: Recipe) -> tuple[Unit, ...]:
    """Return the columns whose units keep the same companions: households always, persons if asked for."""
    units: list[Unit] = ["household"] if recipe.household is not None else []
    return (*units, "person") if recipe.together else tuple(units)


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a recipe file."""
    schema = Recipe.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "shoal recipe"
    return schema


def recipe_inputs(recipe: Recipe) -> list[Path]:
    """Return the files a recipe reads: hierarchies and populations."""
    trees = [Path(choice) for choice in recipe.hierarchies.values() if choice not in {*WORDS, OBJECT}]
    return [*trees, *(Path(one["population"]) for one in recipe.models if one.get("population", OBJECT) != OBJECT)]


def read_recipe(path: Path) -> Recipe:
    """Read a recipe file; paths of hierarchies and populations are taken relative to its folder."""
    refuse_pipe(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FileError(f"The recipe {path.name!r} does not exist.", hint="check the path.") from None
    except tomllib.TOMLDecodeError as fault:
        raise ParameterError(f"The recipe {path.name!r} is not valid TOML: {fault}.") from None
    except (ValueError, RecursionError):  # no UTF-8, a number of thousands of digits, brackets without end
        raise ParameterError(f"The recipe {path.name!r} cannot be read as TOML.") from None
    except OSError as fault:
        raise FileError(f"The recipe {path.name!r} cannot be read: {fault.strerror}.") from None
    recipe = check_recipe(content, f"The recipe {path.name!r}")
    resolved = {
        name: choice if choice in WORDS else str(path.parent / choice) for name, choice in recipe.hierarchies.items()
    }
    models = [
        one | {"population": str(path.parent / _population_file(one, path))} if "population" in one else one
        for one in recipe.models
    ]
    return recipe.model_copy(update={"hierarchies": resolved, "models": models})


def _population_file(model: dict[str, Any], path: Path) -> str:
    place = model["population"]
    if not isinstance(place, str) or not place or "\0" in place:
        raise wrong(f"The recipe {path.name!r}", "population", "the path of a file", place)
    return place


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def check_recipe(content: dict[str, Any], owner: str) -> Recipe:
    """Return a valid recipe, or say in one sentence what is wrong with it."""
    nameless = [
        one for one in _listed(content.get("models")) if isinstance(one, dict) and not isinstance(one.get("model"), str)
    ]
    if nameless:
        raise ParameterError(
            f"{owner} has a model without a name.", hint='write model = "l-diversity", or another name of a model.'
        )
    try:
        return Recipe.model_validate(content)
    except ValidationError as fault:
        first = fault.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            raise ParameterError(
                f"{owner} has the unknown key {place!r}.", hint=nearest_hint(place, Recipe.model_fields)
            ) from None
        raise ParameterError(f"{owner} is wrong at {place!r}: {first['msg']}.") from None


def recipe_notation(recipe: Recipe) -> Notation:
    """Return how a recipe says that values are written."""
    return make_notation("Anonymizer", recipe.decimal, recipe.thousands, recipe.date_format, recipe.missing)


def release_notation(recipe: Recipe) -> Notation:
    """Return how the text files of a release are written: plainly, with the marks for missing values that the recipe names."""
    return make_notation("Anonymizer", missing=recipe.missing)


def method_settings(method: str | Method) -> tuple[str, dict[str, Any]]:
    """Return the name and the changed parameters of a method."""
    if isinstance(method, str):
        return method, {}
    default = type(method)() if _has_defaults(method) else None
    options = {
        name: FUNCTION if callable(value) else value
        for name, value in asdict(method).items()
        if value is not None and (default is None or value != getattr(default, name))
    }
    return method.info.name, options


def _has_defaults(method: Method) -> bool:
    try:
        type(method)()
    except TypeError:
        return False
    return True


def restore_method(recipe: Recipe) -> str | Method:
    """Return the method a recipe names: its object if it has options, else its name."""
    if not recipe.method_options:
        return recipe.method
    return make_method(recipe.method, **recipe.method_options)


def model_settings(models: tuple[PrivacyModel, ...]) -> list[dict[str, Any]]:
    """Return models as plain values."""
    return [{"model": model_name(model), **model.settings()} for model in models]


def known_models() -> dict[str, type[PrivacyModel]]:
    """Return every privacy model that a recipe can name, those of other packages too."""
    return REGISTRY.loaded()


def restore_models(settings: list[dict[str, Any]]) -> list[PrivacyModel]:
    """Return the models that plain values describe."""
    models = []
    for one in settings:
        values = dict(one)
        models.append(make_model(str(values.pop("model", "")), **values))
    return models


def write_recipe(files: Transaction, recipe: Recipe, hierarchies: dict[str, Hierarchy], path: Path) -> None:
    """Write a recipe file, added before, and hierarchies that have no file of their own into a folder next to it.

    What cannot be read again with the same meaning is refused.
    """
    functions = [name for name, value in recipe.method_options.items() if value == FUNCTION]
    if functions:
        raise ParameterError(
            f"The option {functions[0]!r} of the method {recipe.method!r} is a function, which a recipe file cannot hold.",
            hint="name one of the built-in choices, or save without it and give the method again when the recipe is loaded.",
        )
    _refuse_objects(recipe.models)
    weights = _weights_with_nodes(recipe.weights, hierarchies)
    references = {name: _reference(choice, path.parent) for name, choice in recipe.hierarchies.items()}
    folder = path.parent / f"{path.stem}-hierarchies"
    for name, file_name in zip(hierarchies, _file_names(hierarchies), strict=True):
        target = folder / file_name
        files.add(target, make_folder=True, private=True)
        hierarchies[name].to_csv(files.temporary(target))
        references[name] = f"{folder.name}/{target.name}"
    models = [
        one | {"population": _reference(one["population"], path.parent)}
        if isinstance(one.get("population"), str)
        else one
        for one in recipe.models
    ]
    references_only = {"hierarchies": references, "models": models, "weights": weights}
    text = recipe_text(recipe.model_copy(update=references_only))
    files.temporary(path).write_text(f"{HOLDER_LINE}\n{text}", encoding="utf-8")


def _refuse_objects(models: list[dict[str, Any]]) -> None:
    """Refuse models with a parameter that no file can hold, such as a table of the population."""
    for one in models:
        for name, value in one.items():
            if value == OBJECT or not isinstance(value, (str, int, float, list, dict)):
                raise ParameterError(
                    f"The parameter {name!r} of the model {one['model']!r} is an object, which a recipe file cannot hold.",
                    hint="give the path of a file, or save without the model and give it again when the recipe is loaded.",
                )


def _weights_with_nodes(
    weights: dict[str, float | dict[str, float]], hierarchies: dict[str, Hierarchy]
) -> dict[str, float | dict[str, float]]:
    """Return the weights of columns with those that hierarchy objects have on their nodes: the file of a hierarchy holds none."""
    merged = dict(weights)
    for name, tree in hierarchies.items():
        nodes = _node_weights(tree)
        if nodes and merged.get(name, 1.0) == 1.0:
            merged[name] = nodes
        elif nodes and not isinstance(merged[name], dict):  # weights of nodes in 'weights' replace those of the object
            raise ParameterError(
                f"The column {name!r} has a weight, and its hierarchy has weights of nodes. A recipe file holds one of the two.",
                hint="leave one of them out.",
            )
    return merged


def _node_weights(tree: Hierarchy) -> dict[str, float]:
    """Return the weights of nodes that are not the usual ones, 1 for a leaf and 0 for all others, by label."""
    given = [] if tree.node_weights is None else tree.node_weights.tolist()
    return {
        label: one
        for node, (label, one) in enumerate(zip(tree.labels, given, strict=False))
        if one != (node < tree.n_leaves)
    }


def _reference(choice: str, folder: Path) -> str:
    """Return a file as a recipe in ``folder`` names it: relative to that folder; the words of hierarchies stay."""
    if choice in WORDS:
        return choice
    try:
        return Path(os.path.relpath(choice, folder)).as_posix()
    except ValueError:  # on another drive
        return Path(choice).resolve().as_posix()


def without_folders(recipe: Recipe) -> Recipe:
    """Return a recipe that names the files of hierarchies and populations without their folders."""
    trees = {name: one if one in WORDS else Path(one).name for name, one in recipe.hierarchies.items()}
    models = [
        one | {"population": Path(one["population"]).name} if isinstance(one.get("population"), str) else one
        for one in recipe.models
    ]
    return recipe.model_copy(update={"hierarchies": trees, "models": models})


def recipe_text(recipe: Recipe) -> str:
    """Return a recipe as TOML; what is empty is left out."""
    import tomli_w  # noqa: PLC0415

    content = recipe.model_dump(exclude_none=True)
    return tomli_w.dumps({key: value for key, value in content.items() if value not in ([], {}) or key == "missing"})


def _file_names(columns: Iterable[str]) -> list[str]:
    """Return a file name for each column; those that would be one file are numbered."""
    names: list[str] = []
    for column in columns:
        plain = "".join(sign if sign.isalnum() or sign in "-_." else "_" for sign in column)[:60]
        taken = sum(name.casefold().partition("~")[0] == plain.casefold() for name in names)
        names.append(f"{plain}~{taken + 1}" if taken else plain)
    return [f"{name}.csv" for name in names]
