"""A recipe run on a table that need not fit into memory."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from shoal.api.roles import check_role_columns, warn_of_columns_left_out
from shoal.engines.plan import Job
from shoal.engines.stream.order import Order, StreamRelease, free_memory
from shoal.errors import NotationNotice, ParameterError, PublicationWarning, warn
from shoal.frames import Frame
from shoal.io.location import locate
from shoal.io.source import ReadOptions
from shoal.io.workroom import Workroom
from shoal.methods.base import Task
from shoal.recipe import recipe_inputs
from shoal.treatments import dropped_columns, treatment_settings
from shoal.treatments.pseudonyms import read_key
from shoal.validation import check_choice, check_columns, check_int, check_path

if TYPE_CHECKING:
    from shoal.api.anonymizer import Anonymizer
    from shoal.engines.stream.result import StreamResult
    from shoal.result import Result

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_WORKER = 1 << 29
"""Memory that a worker takes, about."""
_OF_TEXT, _OF_PACKED = 8, 40
"""Bytes in memory for each byte of a text file, and of a packed one; measured with eight quasi-identifiers."""


EngineChoice = Literal["auto", "memory", "stream", "spark"]


def check_engine(engine: Any) -> EngineChoice:
    """Return who is to release a table."""
    chosen: EngineChoice = check_choice("Anonymizer", "engine", engine, ("auto", "memory", "stream", "spark"))  # type: ignore[assignment]
    return chosen


def check_memory(memory: Any) -> int | str | None:
    """Return the memory that may be taken, as it was given."""
    if memory is not None:
        parse_memory("Anonymizer", memory)
    return memory  # type: ignore[no-any-return]


def release_on_spark(recipe: Anonymizer, data: Any) -> Result:
    """Release a DataFrame of Spark; the package for Spark stands above this one, and is found by its name."""
    parameters = {name: one for name, one in recipe.get_params().items() if name not in ("engine", "memory")}
    released: Result = import_module("shoal.spark").anonymize(data, **parameters)
    return released


def parse_memory(owner: str, text: Any) -> int:
    """Return bytes, given as a number or as text such as ``4GB`` or ``500 MiB``."""
    if isinstance(text, int) and not isinstance(text, bool) and text > 0:
        return text
    found = (
        re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?\s*", text, re.IGNORECASE) if isinstance(text, str) else None
    )
    size = int(float(found[1]) * _UNITS[found[2].upper()]) if found else 0
    if size < 1:
        raise ParameterError(
            f"The 'memory' parameter of {owner} must be a size such as '4GB'. Got {str(text)[:40]!r} instead."
        )
    return size


def check_streamable(recipe: Anonymizer) -> None:
    """Refuse in one sentence, before any work, what cannot be streamed."""
    if recipe.release != "ranges":
        raise _refusal("a release with representatives", "take release='ranges', or engine='memory'.")
    seeing = [type(model).__name__ for model in recipe.models if model.looks_at == "more"]
    if seeing:
        raise _refusal(f"{seeing[0]}, which looks at more than the table", "leave it out, or take engine='memory'.")
    dropped = dropped_columns(treatment_settings(recipe.treat)).intersection(recipe.sensitive)
    if dropped:
        raise _refusal(f"the sensitive column {min(dropped)!r} dropped", "leave it out of 'sensitive'.")


def is_too_large(place: str | Path, memory: int | str | None = None) -> bool:
    """Tell whether a file would take more memory than allowed, or than half of what is free, by its size; an address is never asked for its own."""
    needed = sum(
        one.stat().st_size * (_OF_TEXT if one.suffix in {".csv", ".tsv", ".txt"} else _OF_PACKED)
        for one in locate(str(place)).files()
    )
    return needed > (free_memory() if memory is None else parse_memory("Anonymizer", memory))


def _refusal(what: str, hint: str) -> ParameterError:
    return ParameterError(f"A table cannot be streamed with {what}.", hint=hint)


def choose_engine(recipe: Anonymizer, data: Any) -> str:
    """Return who releases a table: what the recipe says, or by the size of a file whether it fits into memory."""
    if recipe.engine == "stream" and not isinstance(data, (str, Path)):
        raise ParameterError(
            f"With engine='stream' a table is read from a file, a folder or a database. Got {type(data).__name__}.",
            hint="give its path, or take engine='memory'.",
        )
    if recipe.engine != "auto":
        return recipe.engine
    if not isinstance(data, (str, Path)) or not is_too_large(data, recipe.memory):
        return "memory"
    try:
        check_streamable(recipe)
    except ParameterError:
        return "memory"
    return "stream"


def stream_result(recipe: Anonymizer, data: str | Path, options: ReadOptions) -> StreamResult:
    """Release a table into a private folder, in which it stays as long as the result is used."""
    from shoal.engines.stream.result import make_stream_result  # noqa: PLC0415  (few tables are streamed)

    room = Workroom(Path(tempfile.gettempdir()))
    try:
        order = _order(recipe, data, room.path / "release", options=options, part="part-{:05}.arrow", reporting=True)
        return make_stream_result(order, _run(recipe, order), room)
    except BaseException:
        room.close()
        raise


def stream_release(
    recipe: Anonymizer,
    data: str | Path,
    target: str | Path,
    *,
    options: ReadOptions | None = None,
    **choices: Any,
) -> StreamRelease:
    """Release a table from file to file by a recipe; see ``Anonymizer.stream``."""
    return _run(recipe, _order(recipe, data, target, options=options or ReadOptions(), **choices))


def _order(
    recipe: Anonymizer,
    data: str | Path,
    target: str | Path,
    *,
    options: ReadOptions,
    memory: int | str | None = None,
    workers: int | None = None,
    scratch: str | Path | None = None,
    force: bool = False,
    sidecar: bool = False,
    report: str | Path | None = None,
    reporting: bool = False,
    part: str = Order.part,
) -> Order:
    """Return all that a streamed release needs to know."""
    check_streamable(recipe)
    asked = recipe.memory if memory is None else memory
    size = free_memory() if asked is None else parse_memory("Anonymizer.stream", asked)
    number = min(os.cpu_count() or 1, max(1, size // (2 * _WORKER))) if workers is None else workers
    task = Task(k=recipe.k, max_suppression=recipe.max_suppression, effort=recipe.effort, seed=recipe.seed)

    def check_table(names: Sequence[str]) -> None:
        frame = Frame(pa.table({name: pa.array([], pa.string()) for name in names}))
        check_role_columns(recipe.named, frame)
        warn_of_columns_left_out(recipe.named, frame)
        check_columns("a column the method looks at", recipe.attributes, frame.names)

    local = "://" not in str(data)
    return Order(
        place=data,
        target=check_path("Anonymizer.stream", "target", target),
        recipe=recipe.recipe(),
        attributes=tuple(recipe.attributes),
        treat=recipe.treat,
        key=None if recipe.key is None else read_key(recipe.key),
        job=Job(recipe.method, task, recipe.models, recipe.sensitive),
        options=ReadOptions(options.separator, options.encoding, recipe.notation, options.table, options.query),
        kinds=recipe.kinds,
        hierarchies=recipe.hierarchies,
        weights=recipe.weights,
        memory=size,
        workers=check_int("Anonymizer.stream", "workers", number, least=1),
        scratch=None if scratch is None else check_path("Anonymizer.stream", "scratch", scratch),
        force=force,
        sidecar=sidecar,
        report=None if report is None else check_path("Anonymizer.stream", "report", report),
        reporting=reporting or report is not None,
        part=part,
        inputs=(*([Path(data)] if local else []), *recipe_inputs(recipe.recipe()), *recipe.key_files),
        check_columns=check_table,
        progress=recipe.progress,
        cancel=recipe.cancel,
    )


def _run(recipe: Anonymizer, order: Order) -> StreamRelease:
    from shoal.engines.stream.engine import stream  # noqa: PLC0415  (few tables are streamed)

    made = stream(order)
    told = [f"{name} as {words}" for name, words in made.understood.items() if name in recipe.as_understood()]
    if told:
        warn(f"Understood {'; '.join(told)}.", NotationNotice)
    for sentence in made.warnings:
        warn(f"Look at this before you publish: {sentence}", PublicationWarning)
    return made
