"""Privacy models: what must hold of every group.

``base`` is what a model is and how it is bound to a table, ``measures`` the one table of measures, ``compiled_models`` the form kernels read. Called
by enforcement, the audit, the plan and the release. A model knows counts of values and people, and neither methods nor cells.
"""

from __future__ import annotations

from typing import Any

from shoal.errors import ParameterError
from shoal.extensions import Registry
from shoal.privacy.base import PrivacyModel, Requirement
from shoal.validation import check_options

_OWN = {
    "k-anonymity": ("shoal.privacy.k_anonymity", "KAnonymity"),
    "l-diversity": ("shoal.privacy.l_diversity", "LDiversity"),
    "t-closeness": ("shoal.privacy.t_closeness", "TCloseness"),
    "alpha-k": ("shoal.privacy.likeness", "AlphaK"),
    "beta-likeness": ("shoal.privacy.likeness", "BetaLikeness"),
    "delta-disclosure": ("shoal.privacy.likeness", "DeltaDisclosure"),
    "k-map": ("shoal.privacy.population", "KMap"),
    "delta-presence": ("shoal.privacy.population", "DeltaPresence"),
}
REGISTRY = Registry("shoal.models", _OWN)

__all__ = ["REGISTRY", "PrivacyModel", "Requirement", "make_model", "model_name"]


def make_model(name: str, **parameters: Any) -> PrivacyModel:
    """Return the model called ``name`` with its parameters."""
    kind = REGISTRY.load("a recipe", "model", name)
    try:
        made: PrivacyModel = kind(**parameters)
        check_options(kind.__name__, made)
    except TypeError:
        raise ParameterError(
            f"The privacy model {name!r} does not take just the parameters {sorted(parameters)}.",
            hint="see the reference of privacy models.",
        ) from None
    return made


def model_name(model: PrivacyModel) -> str:
    """Return the name a model is registered under, or that of its class."""
    return REGISTRY.name_of(type(model)) or type(model).__name__
