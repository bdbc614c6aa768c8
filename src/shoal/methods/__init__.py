"""The methods, by name. A method's module is imported when it is first asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from shoal.errors import ParameterError
from shoal.validation import check_choice

if TYPE_CHECKING:
    from shoal.methods.base import Method, MethodInfo

REGISTRY: dict[str, tuple[str, str]] = {
    "bug": ("shoal.methods.generalization", "BottomUpGeneralization"),
    "datafly": ("shoal.methods.full_domain", "Datafly"),
    "bottom-up": ("shoal.methods.local_recoding", "BottomUp"),
    "forest": ("shoal.methods.microaggregation", "Forest"),
    "incognito": ("shoal.methods.full_domain", "Incognito"),
    "k-member": ("shoal.methods.k_member", "KMember"),
    "mdav": ("shoal.methods.microaggregation", "MDAV"),
    "mondrian": ("shoal.methods.mondrian", "Mondrian"),
    "merge-split": ("shoal.methods.merge_split", "MergeSplit"),
    "optimise": ("shoal.methods.optimise", "Optimise"),
    "sbca": ("shoal.methods.similarity", "SBCA"),
    "top-down": ("shoal.methods.local_recoding", "TopDown"),
    "univariate": ("shoal.methods.microaggregation", "Univariate"),
    "v-mdav": ("shoal.methods.microaggregation", "VMDAV"),
}
"""Name → module and class."""

DEFAULT_METHOD = "optimise"


def method_class(name: str) -> type[Method]:
    """Return the class of the method called ``name``."""
    check_choice("Anonymizer", "method", name, tuple(REGISTRY))
    module, attribute = REGISTRY[name]
    found: type[Method] = getattr(import_module(module), attribute)
    return found


def make_method(choice: str | Method, **options: Any) -> Method:
    """Return a method object for a name (with its options) or the object itself."""
    if not isinstance(choice, str):
        if options:
            raise ParameterError("Options belong to a method's name, not to a method object. Give them to the object.")
        return choice
    kind = method_class(choice)
    try:
        return kind(**options)
    except TypeError:
        raise ParameterError(
            f"The method {choice!r} does not take all of the options {sorted(options)}.",
            hint="see 'shoal methods', or the reference of methods.",
        ) from None


def method_infos() -> list[MethodInfo]:
    """Return how each method describes itself."""
    return [method_class(name).info for name in REGISTRY]
