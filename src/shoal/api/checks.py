"""What parameters of ``Anonymizer`` must be, where one check of ``shoal.validation`` does not say it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from shoal.api.bars import Bar
from shoal.arrays import CancelToken, Progress, Release
from shoal.encoding import KindChoice
from shoal.ends import EndsChoice, check_ends
from shoal.errors import ParameterError
from shoal.methods.base import Method, say_nothing
from shoal.privacy.base import PrivacyModel
from shoal.privacy.population import DeltaPresence
from shoal.validation import check_callable, check_choice, check_float, check_mapping, check_names, check_options, wrong


def check_quasi_identifiers(names: Any) -> tuple[str, ...]:
    """Return the names of at least one column."""
    checked = check_names("Anonymizer", "quasi_identifiers", names)
    if not checked:
        raise ParameterError(
            "The 'quasi_identifiers' parameter of Anonymizer must name at least one column. Got none.",
            hint="name the columns an outsider may know, such as age, sex and zip.",
        )
    return checked


def check_kinds(kinds: Any) -> dict[str, KindChoice]:
    """Return how columns are read: a word, or values in order."""
    given = check_mapping("Anonymizer", "kinds", kinds)
    for name, kind in given.items():
        words = isinstance(kind, Iterable) and not isinstance(kind, (bytes, Mapping)) and not hasattr(kind, "columns")
        if not words or any(isinstance(one, Iterable) and not isinstance(one, str) for one in kind):
            raise wrong("Anonymizer", f"kinds[{name!r}]", "a word or a list of values in order", kind)
    return given


def check_models(models: Sequence[PrivacyModel]) -> tuple[PrivacyModel, ...]:
    """Return the models, or say that they must be objects in a list."""
    expected = "a list of privacy models"
    hint = "for example models=[shoal.LDiversity(3)]."
    if isinstance(models, (str, PrivacyModel, type)) or not isinstance(models, Iterable):
        raise wrong("Anonymizer", "models", expected, models, hint)
    checked = tuple(models)
    for model in checked:
        if not isinstance(model, PrivacyModel):
            raise wrong("Anonymizer", "models", expected, model, hint)
        check_options(type(model).__name__, model)
    return checked


def choose_release(release: Release | None, method: Method) -> Release:
    """Return what is released for a group: what was asked for, or what the method is made for."""
    if release is None:
        return method.info.default_release
    check_choice("Anonymizer", "release", release, ("ranges", "representatives"))
    return release


def check_widen(widen: float, release: Release, models: Sequence[PrivacyModel]) -> float:
    """Return the share of cells to widen; refuse it where wider cells would break another promise."""
    share = check_float("Anonymizer", "widen", widen, least=0.0, most=1.0)
    if share:
        _refuse_wider_cells("widen", release, models)
    return share


def check_range_ends(ends: Any, release: Release, models: Sequence[PrivacyModel]) -> EndsChoice:
    """Return where ranges end; refuse steps of the user's own where there are no ranges or wider cells break a promise."""
    checked = check_ends("Anonymizer", ends)
    if not isinstance(checked, str):
        _refuse_wider_cells("ends", release, models)
    return checked


def _refuse_wider_cells(parameter: str, release: Release, models: Sequence[PrivacyModel]) -> None:
    """Refuse what makes cells wider where there are none, or beside a model that bounds from below who fits them."""
    if release == "representatives":
        raise ParameterError(
            f"The {parameter!r} parameter of Anonymizer is for releases with ranges. Got a release with representatives.",
            hint='leave it out, or take release="ranges".',
        )
    if any(isinstance(model, DeltaPresence) and model.low for model in models):
        raise ParameterError(
            f"The {parameter!r} parameter of Anonymizer cannot be used with a lower bound of DeltaPresence: "
            "wider cells fit more people, of whom a smaller share is in the table.",
            hint=f"leave {parameter!r} out, or take low=0.",
        )


def check_progress(progress: Progress | bool | None) -> Progress:
    """Return what is called with how far the work is."""
    if progress is True:
        return Bar()
    if progress is False:
        return say_nothing
    return cast("Progress", check_callable("Anonymizer", "progress", progress) or say_nothing)


def check_cancel(cancel: CancelToken | None) -> CancelToken | None:
    """Return what another thread may set, or None."""
    if cancel is not None and not callable(getattr(cancel, "is_set", None)):
        raise ParameterError(
            f"The 'cancel' parameter of Anonymizer must be an event. Got {type(cancel).__name__}.",
            hint="a threading.Event() will do: event.set() ends the work.",
        )
    return cancel
