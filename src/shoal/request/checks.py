"""Checks of single parameters of ``Anonymizer``; ``Request`` checks combinations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from shoal.arrays import CancelToken, Progress, Release
from shoal.cells.counted import COUNTS, CountsChoice
from shoal.cells.disjoint import check_cells
from shoal.encoding import check_kinds
from shoal.ends import check_ends
from shoal.errors import ParameterError
from shoal.extensions import ENGINES
from shoal.methods import make_method
from shoal.methods.base import Method, say_nothing
from shoal.privacy.base import PrivacyModel
from shoal.request.bars import Bar
from shoal.request.others import OTHERS
from shoal.treatments import check_treatments
from shoal.validation import (
    check_callable,
    check_choice,
    check_effort,
    check_float,
    check_int,
    check_keys,
    check_mapping,
    check_names,
    check_options,
    shown,
    wrong,
)

if TYPE_CHECKING:
    from shoal.request.request import Request

EngineChoice = Literal["auto", "memory", "stream", "spark"]
_OWNER = "Anonymizer"
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_MOST_MEMORY = 1 << 60


def check_quasi_identifiers(names: Any) -> tuple[str, ...]:
    """Return the names of at least one column."""
    checked = check_names(_OWNER, "quasi_identifiers", names)
    if not checked:
        raise ParameterError(
            "The 'quasi_identifiers' parameter of Anonymizer must name at least one column. Got none.",
            hint="name the columns an outsider may know, such as age, sex and zip.",
        )
    return checked


def check_models(models: Sequence[PrivacyModel]) -> tuple[PrivacyModel, ...]:
    """Return the models, or say that they must be objects in a list."""
    expected = "a list of privacy models"
    hint = "for example models=[shoal.LDiversity(3)]."
    if isinstance(models, (str, PrivacyModel, type)) or not isinstance(models, Iterable):
        raise wrong(_OWNER, "models", expected, models, hint)
    checked = tuple(models)
    for model in checked:
        if not isinstance(model, PrivacyModel):
            raise wrong(_OWNER, "models", expected, model, hint)
        check_options(type(model).__name__, model)
    return checked


def check_release(release: Release | None, method: Method, models: Sequence[PrivacyModel]) -> Release:
    """Return what is released for a group: what was asked for, or what the method is made for."""
    if release is None:
        release = method.info.default_release
    check_choice(_OWNER, "release", release, ("ranges", "representatives"))
    counting = [type(model).__name__ for model in models if model.fits_cells]
    if counting and release == "representatives":
        raise ParameterError(
            f"{counting[0]} counts the people who fit the released cells, and cannot be used with a release of representatives.",
            hint='take release="ranges".',
        )
    return release


def check_without_ranges(request: Request) -> None:
    """Refuse settings of ranges if there are none."""
    ends = not isinstance(request.ends, str)
    for parameter, given in (("widen", request.widen), ("ends", ends), ("cells", request.cells)):
        if given and request.release == "representatives":
            raise ParameterError(
                f"The {parameter!r} parameter of Anonymizer is for releases with ranges. Got a release with representatives.",
                hint='leave it out, or take release="ranges".',
            )


def check_counts(request: Request) -> None:
    """Refuse counts of values beside cells that promise something about values."""
    if request.counts is None:
        return
    if request.release == "representatives":
        raise ParameterError(
            f"Counts belong to ranges, labels and sets. Got counts={request.counts!r} with a release of representatives.",
            hint='leave it out, or take release="ranges".',
        )
    fitting = [type(model).__name__ for model in request.models if model.fits_cells]
    if fitting:
        raise ParameterError(
            f"{fitting[0]} counts the people who fit the released cells, and fewer fit the counts next to them. Got counts={request.counts!r}.",
            hint="leave one of the two out.",
        )


def check_disjoint(request: Request) -> None:
    """Refuse disjoint cells if there are none, or if all cells are disjoint anyway."""
    check_keys("cells", request.cells, request.quasi_identifiers)
    if request.cells and request.widen:
        raise ParameterError("Disjoint cells cannot be widened. Got 'cells' and 'widen'.", hint="leave one out.")
    info = request.method.info
    if request.cells and info.family == "global":
        raise ParameterError(
            f"The method {info.name!r} recodes a value alike everywhere, so that all its cells are disjoint. Got 'cells'.",
            hint="leave it out.",
        )


def check_engine(engine: Any) -> EngineChoice:
    """Return who is to release a table: one of shoal's own engines, one of another package, or what fits."""
    if not (isinstance(engine, str) and engine in ("auto", *ENGINES.own)):
        check_choice(_OWNER, "engine", engine, ("auto", *ENGINES.places()))
    return cast("EngineChoice", engine)


def check_memory(memory: Any) -> int | str | None:
    """Return the memory that may be taken, as it was given."""
    if memory is not None:
        parse_memory(_OWNER, memory)
    return memory  # type: ignore[no-any-return]


def parse_memory(owner: str, text: Any) -> int:
    """Return bytes, given as a number or as text such as ``4GB`` or ``500 MiB``."""
    if isinstance(text, int) and not isinstance(text, bool) and 0 < text <= _MOST_MEMORY:
        return text
    found = (
        re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?\s*", text, re.IGNORECASE) if isinstance(text, str) else None
    )
    size = float(found[1]) * _UNITS[found[2].upper()] if found else 0
    if not 1 <= size <= _MOST_MEMORY:
        raise ParameterError(
            f"The 'memory' parameter of {owner} must be a size such as '4GB'. Got {shown(text)} instead."
        )
    return int(size)


def check_progress(progress: Progress | bool | None) -> Progress:
    """Return what is called with how far the work is."""
    if progress is True:
        return Bar()
    if progress is False:
        return say_nothing
    return cast("Progress", check_callable(_OWNER, "progress", progress) or say_nothing)


def check_cancel(cancel: CancelToken | None) -> CancelToken | None:
    """Return what another thread may set, or None."""
    if cancel is not None and not callable(getattr(cancel, "is_set", None)):
        raise ParameterError(
            f"The 'cancel' parameter of Anonymizer must be an event. Got {type(cancel).__name__}.",
            hint="a threading.Event() will do: event.set() ends the work.",
        )
    return cancel


def _check_counts_choice(counts: Any) -> CountsChoice | None:
    """Return which counts are released, None for none."""
    if counts is not None:
        check_choice(_OWNER, "counts", counts, COUNTS)
    return cast("CountsChoice | None", counts)


_SMALL = "k = 1 protects nobody; 5 to 20 are common choices."
CHECKS: Final = MappingProxyType[str, Callable[[Any], Any]](
    {
        "k": partial(check_int, _OWNER, "k", least=2, hint=_SMALL),
        "quasi_identifiers": check_quasi_identifiers,
        "sensitive": partial(check_names, _OWNER, "sensitive"),
        "identifiers": partial(check_names, _OWNER, "identifiers"),
        "keep": partial(check_names, _OWNER, "keep"),
        "kinds": partial(check_kinds, _OWNER),
        "weights": partial(check_mapping, _OWNER, "weights"),
        "models": check_models,
        "method": make_method,
        "effort": partial(check_effort, _OWNER, "effort"),
        "max_suppression": partial(check_float, _OWNER, "max_suppression", least=0.0, most=1.0),
        "widen": partial(check_float, _OWNER, "widen", least=0.0, most=1.0),
        "ends": partial(check_ends, _OWNER),
        "cells": partial(check_cells, _OWNER),
        "counts": _check_counts_choice,
        "treat": partial(check_treatments, _OWNER),
        "pseudonymize": partial(check_names, _OWNER, "pseudonymize"),
        "derived": partial(check_choice, _OWNER, "derived", choices=("refuse", "warn")),
        "others": partial(check_choice, _OWNER, "others", choices=OTHERS),
        "seed": partial(check_int, _OWNER, "seed", least=0),
        "engine": check_engine,
        "memory": check_memory,
        "progress": check_progress,
        "on_interrupt": partial(check_choice, _OWNER, "on_interrupt", choices=("raise", "best")),
        "cancel": check_cancel,
    }
)
"""What turns a parameter into what a request holds, or says what is wrong with it; those that are not here are checked with others."""
