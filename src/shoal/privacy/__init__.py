"""Privacy models: what must hold of every group."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from shoal.errors import ParameterError
from shoal.privacy.base import PrivacyModel, Requirement
from shoal.validation import check_choice

REGISTRY: dict[str, tuple[str, str]] = {
    "k-anonymity": ("shoal.privacy.k_anonymity", "KAnonymity"),
    "l-diversity": ("shoal.privacy.l_diversity", "LDiversity"),
    "t-closeness": ("shoal.privacy.t_closeness", "TCloseness"),
    "alpha-k": ("shoal.privacy.likeness", "AlphaK"),
    "beta-likeness": ("shoal.privacy.likeness", "BetaLikeness"),
    "delta-disclosure": ("shoal.privacy.likeness", "DeltaDisclosure"),
    "k-map": ("shoal.privacy.population", "KMap"),
    "delta-presence": ("shoal.privacy.population", "DeltaPresence"),
}
"""Name → module and class."""

__all__ = ["REGISTRY", "PrivacyModel", "Requirement", "make_model", "model_name"]


def make_model(name: str, **parameters: Any) -> PrivacyModel:
    """Return the model called ``name`` with its parameters."""
    check_choice("a privacy model", "model", name, tuple(REGISTRY))
    module, attribute = REGISTRY[name]
    try:
        made: PrivacyModel = getattr(import_module(module), attribute)(**parameters)
    except TypeError:
        raise ParameterError(
            f"The privacy model {name!r} does not take just the parameters {sorted(parameters)}.",
            hint="see the reference of privacy models.",
        ) from None
    return made


def model_name(model: PrivacyModel) -> str:
    """Return the name a model is registered under."""
    for name, (_, attribute) in REGISTRY.items():
        if attribute == type(model).__name__:
            return name
    return type(model).__name__
