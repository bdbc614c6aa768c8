"""A recipe run on a table that need not fit into memory."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from shoal.api.roles import check_role_columns, warn_of_columns_left_out
from shoal.engines.plan import Job, uncuttable_models
from shoal.engines.stream.engine import stream
from shoal.engines.stream.order import Order, StreamRelease, free_memory
from shoal.errors import NotationNotice, ParameterError
from shoal.frames import Frame
from shoal.io.source import ReadOptions
from shoal.methods.base import Task
from shoal.privacy.likeness import DeltaDisclosure
from shoal.recipe import recipe_inputs
from shoal.treatments import dropped_columns, treatment_settings
from shoal.treatments.pseudonyms import read_key
from shoal.validation import check_columns, check_int, check_path

if TYPE_CHECKING:
    from shoal.api.anonymizer import Anonymizer

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_WORKER = 1 << 29
"""Memory that a worker takes, about."""
_OF_TEXT, _OF_PACKED = 8, 40
"""Bytes in memory for each byte of a text file, and of a packed one; measured with eight quasi-identifiers."""


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
    seeing = [model for model in uncuttable_models(recipe.models) if model != DeltaDisclosure.__name__]
    if seeing:
        raise _refusal(f"{seeing[0]}, which looks at more than the table", "leave it out, or take engine='memory'.")
    dropped = dropped_columns(treatment_settings(recipe.treat)).intersection(recipe.sensitive)
    if dropped:
        raise _refusal(f"the sensitive column {min(dropped)!r} dropped", "leave it out of 'sensitive'.")


def is_too_large(place: str | Path) -> bool:
    """Tell whether a file would take more memory than half of what is free, by its size; an address is never asked for its own."""
    path = Path(place)
    if "://" in str(place) or not path.exists():
        return False
    files = [one for one in path.rglob("*") if one.is_file()] if path.is_dir() else [path]
    needed = sum(
        one.stat().st_size * (_OF_TEXT if one.suffix in {".csv", ".tsv", ".txt"} else _OF_PACKED) for one in files
    )
    return needed > free_memory()


def _refusal(what: str, hint: str) -> ParameterError:
    return ParameterError(f"A table cannot be streamed with {what}.", hint=hint)


def stream_release(
    recipe: Anonymizer,
    data: str | Path,
    target: str | Path,
    *,
    memory: int | str | None = None,
    workers: int | None = None,
    scratch: str | Path | None = None,
    force: bool = False,
    options: ReadOptions | None = None,
) -> StreamRelease:
    """Release a table from file to file by a recipe; see ``Anonymizer.stream``."""
    check_streamable(recipe)
    size = free_memory() if memory is None else parse_memory("Anonymizer.stream", memory)
    number = min(os.cpu_count() or 1, max(1, size // (2 * _WORKER))) if workers is None else workers
    task = Task(k=recipe.k, max_suppression=recipe.max_suppression, effort=recipe.effort, seed=recipe.seed)
    given = options or ReadOptions()

    def check_table(names: Sequence[str]) -> None:
        frame = Frame(pa.table({name: pa.array([], pa.string()) for name in names}))
        check_role_columns(recipe.named, frame)
        warn_of_columns_left_out(recipe.named, frame)
        check_columns("a column the method looks at", recipe.attributes, frame.names)

    local = "://" not in str(data)
    order = Order(
        place=data,
        target=check_path("Anonymizer.stream", "target", target),
        recipe=recipe.recipe(),
        attributes=tuple(recipe.attributes),
        treat=recipe.treat,
        key=None if recipe.key is None else read_key(recipe.key),
        job=Job(recipe.method, task, recipe.models, recipe.sensitive),
        options=ReadOptions(given.separator, given.encoding, recipe.notation, given.table, given.query),
        kinds=recipe.kinds,
        hierarchies=recipe.hierarchies,
        weights=recipe.weights,
        memory=size,
        workers=check_int("Anonymizer.stream", "workers", number, least=1),
        scratch=None if scratch is None else check_path("Anonymizer.stream", "scratch", scratch),
        force=force,
        inputs=(*([Path(data)] if local else []), *recipe_inputs(recipe.recipe()), *recipe.key_files),
        check_columns=check_table,
        progress=recipe.progress,
        cancel=recipe.cancel,
    )
    made = stream(order)
    told = [f"{name} as {words}" for name, words in made.understood.items() if name in recipe.as_understood()]
    if told:
        warnings.warn(f"Understood {'; '.join(told)}.", NotationNotice, stacklevel=3)
    return made
