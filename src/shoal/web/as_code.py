"""The same release without the page: as a command line and as Python, to copy."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import shoal
from shoal.hierarchy import WORDS
from shoal.recipe import restore_models
from shoal.treatments import TREATMENTS
from shoal.web.draft import NOTATION, Draft


def input_name(draft: Draft, folder: Path) -> str:
    """Return the table as a command in the folder names it."""
    source = draft.source
    if source is None or source.place == "demo":
        return "shoal-demo/patients.csv"
    named = name_inside(source.path, folder)
    return named if source.place == "database" or named != source.path else source.name


def name_inside(place: str, folder: Path) -> str:
    """Return a file of the folder by its path within; an address, or a file elsewhere, as it is."""
    path = Path(place)
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else place


def command_text(draft: Draft, names: Mapping[str, str], folder: Path) -> str:
    """Return the command that makes the same release, in ``folder``, from the recipe that was written."""
    words = ["shoal", "anonymize", input_name(draft, folder)]
    for option, value in (draft.source.options if draft.source else {}).items():
        shown = ",".join(value) if isinstance(value, list) else {"\t": "tab"}.get(value, str(value))
        words += [f"--{option.replace('_', '-')}", shown]
    words += ["--recipe", names["recipe"]]
    if draft.key_file:
        words += ["--key", name_inside(draft.key_file, folder)]
    words += ["-o", names["release"], "--report", names["report"]]
    if names.get("cells", "text") != "text":
        words += ["--cells", names["cells"]]
    if "table" in names:
        words += ["--to", name_inside(names["database"], folder), "--to-table", names["table"]]
    return _first(draft, folder) + shlex.join(words)


def _first(draft: Draft, folder: Path) -> str:
    """Return what has to be done before, as a line of its own: where the rows come from if no file of the folder holds them."""
    source = draft.source
    if source is None or source.place == "database":
        return ""
    if source.place == "demo":
        return "shoal demo\n"
    here = (folder / source.name).exists() if source.place == "dropped" else True
    return "" if here else f"# put {source.name} into this folder first: it was dropped on the page\n"


def python_text(draft: Draft, names: Mapping[str, str], folder: Path) -> str:
    """Return the Python that makes the same release, run in ``folder``."""
    return "\n".join(_python_lines(draft, names, folder))


def _python_lines(draft: Draft, names: Mapping[str, str], folder: Path) -> Iterator[str]:
    options = draft.source.options if draft.source else {}
    table = repr(input_name(draft, folder))
    yield "import shoal"
    for kind in dict.fromkeys(map(_model_class, draft.get("models"))):
        if not _is_own(kind):
            yield f"from {kind.__module__} import {kind.__name__}"
    yield ""
    if draft.source is not None and draft.source.place == "dropped" and (first := _first(draft, folder)):
        yield first.rstrip()
    if draft.source is not None and draft.source.place == "demo":
        yield "table = shoal.datasets.hospital(n=10_000, seed=0).patients"
        table = "table"
    elif set(options) - set(NOTATION):  # how the file is opened, beyond how its values are written
        yield f"table = shoal.read_table({table}{''.join(f', {key}={value!r}' for key, value in options.items())})"
        table = "table"
    yield "result = shoal.anonymize("
    yield f"    {table},"
    for key, value in _parameters(draft, names, folder):
        yield f"    {key}={value},"
    yield ")"
    shape = "" if names.get("cells", "text") == "text" else f", cells={names['cells']!r}"
    yield f"result.save({names['release']!r}{shape})"
    yield f"result.report().save({names['report']!r})"
    if "table" in names:
        yield f"result.save_to_database({name_inside(names['database'], folder)!r}, {names['table']!r})"


def _parameters(draft: Draft, names: Mapping[str, str], folder: Path) -> Iterator[tuple[str, str]]:
    recipe = draft.recipe()
    for key, value in recipe.model_dump(exclude_unset=True, exclude={"version", "method_options"}).items():
        if value in ([], {}, None):
            continue
        if key == "models":
            yield key, "[" + ", ".join(_model(one, folder) for one in value) + "]"
        elif key == "hierarchies":
            trees = {column: hierarchy_name(column, one, names["recipe"], folder) for column, one in value.items()}
            yield key, repr(trees)
        elif key == "treat":
            shown = ", ".join(f"{column!r}: {_treatment(one)}" for column, one in value.items())
            yield key, f"{{{shown}}}"
        elif key == "cells":
            shown = ", ".join(f"{column!r}: {_cells(one)}" for column, one in value.items())
            yield key, f"{{{shown}}}"
        else:
            yield key, repr(value)
    if draft.key_file:
        yield "key", repr(name_inside(draft.key_file, folder))


def _treatment(settings: Mapping[str, Any]) -> str:
    given = ", ".join(f"{key}={value!r}" for key, value in settings.items() if key != "treatment")
    return f"shoal.{TREATMENTS[settings['treatment']].__name__}({given})"


def _cells(choice: str | Mapping[str, int]) -> str:
    return repr(choice) if isinstance(choice, str) else f"shoal.Disjoint(most={choice['most']})"


def _model(settings: Mapping[str, Any], folder: Path) -> str:
    shown = dict(settings)
    if "population" in settings:
        shown["population"] = name_inside(settings["population"], folder)
    given = ", ".join(f"{key}={value!r}" for key, value in shown.items() if key != "model")
    kind = _model_class(settings)
    return f"{'shoal.' * _is_own(kind)}{kind.__name__}({given})"


def _model_class(settings: Mapping[str, Any]) -> type:
    return type(restore_models([dict(settings)])[0])


def _is_own(kind: type) -> bool:
    """Return whether a class is one that ``import shoal`` offers, and not of another package."""
    return getattr(shoal, kind.__name__, None) is kind


def hierarchy_name(column: str, choice: str, recipe: str, folder: Path) -> str:
    """Return a hierarchy as it is in the folder, or next to the recipe that is written."""
    if choice in WORDS:
        return choice
    if Path(choice).is_relative_to(folder):
        return name_inside(choice, folder)
    return f"{Path(recipe).stem}-hierarchies/{column}.csv"
