"""The methods, by name: each finds groups, or a cut for each column. A method's module is imported when it is first asked for.

``base`` is what a method is given and returns, ``stopping`` says when a search ends; a small method is one file, a large one a package. Called
by the plan, the engines and ``compare``. A method knows codes, and neither tables nor how cells are written.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

from shoal.errors import ParameterError
from shoal.extensions import Registry
from shoal.validation import check_options, wrong

if TYPE_CHECKING:
    from shoal.methods.base import Method, MethodInfo

_OWN = {
    "bug": ("shoal.methods.global_recoding.bug", "BottomUpGeneralization"),
    "datafly": ("shoal.methods.global_recoding.full_domain", "Datafly"),
    "bottom-up": ("shoal.methods.local_recoding", "BottomUp"),
    "forest": ("shoal.methods.microaggregation.forest", "Forest"),
    "incognito": ("shoal.methods.global_recoding.full_domain", "Incognito"),
    "k-member": ("shoal.methods.k_member", "KMember"),
    "mdav": ("shoal.methods.microaggregation.heuristics", "MDAV"),
    "mondrian": ("shoal.methods.mondrian", "Mondrian"),
    "merge-split": ("shoal.methods.merge_split", "MergeSplit"),
    "optimize": ("shoal.methods.optimize", "Optimize"),
    "sbca": ("shoal.methods.sbca", "SBCA"),
    "top-down": ("shoal.methods.local_recoding", "TopDown"),
    "univariate": ("shoal.methods.microaggregation.heuristics", "Univariate"),
    "v-mdav": ("shoal.methods.microaggregation.heuristics", "VMDAV"),
}
REGISTRY = Registry("shoal.methods", _OWN)

DEFAULT_METHOD = "optimize"

_ALIASES = {"optimise": "optimize"}
"""Former names of methods, which recipes and commands may still use."""


def canonical_name(name: str) -> str:
    """Return the present name of a method; any other name comes back unchanged."""
    return _ALIASES.get(name, name)


def method_class(name: str) -> type[Method]:
    """Return the class of the method called ``name``."""
    known = canonical_name(name) if isinstance(name, str) else name
    found: type[Method] = REGISTRY.load("Anonymizer", "method", known)
    return found


def make_method(choice: str | Method, **options: Any) -> Method:
    """Return a method object for a name (with its options) or the object itself."""
    from shoal.methods.base import Method  # noqa: PLC0415  (loads arrays; a list of names needs none)

    if not isinstance(choice, str):
        if options:
            raise ParameterError("Options belong to a method's name, not to a method object. Give them to the object.")
        if not isinstance(choice, Method):
            hint = "call the class: method=shoal.Mondrian()." if isinstance(choice, type) else "see shoal.methods()."
            raise wrong("Anonymizer", "method", "the name of a method or a method object", choice, hint)
        check_options(type(choice).__name__, choice)
        return choice
    kind = method_class(choice)
    try:
        made = kind(**options)
    except TypeError:
        raise ParameterError(
            f"The method {choice!r} does not take all of the options {sorted(options)}.",
            hint="see 'shoal methods', or the reference of methods.",
        ) from None
    check_options(kind.__name__, made)
    return made


def method_options(name: str) -> dict[str, tuple[Any, tuple[Any, ...]]]:
    """Return the options of a method: each with its default and, if it is a choice of a few, what there is to choose from."""
    kind = method_class(name)
    types = get_type_hints(kind)
    return {field.name: (field.default, _choices(types[field.name])) for field in fields(kind)}


def _choices(annotation: Any) -> tuple[Any, ...]:
    if annotation is bool:
        return (True, False)
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    return tuple(choice for part in get_args(annotation) if get_origin(part) is Literal for choice in get_args(part))


def method_infos() -> list[MethodInfo]:
    """Return how each method describes itself.

    Examples
    --------
    >>> import shoal
    >>> [one.name for one in shoal.methods() if one.paper and "Xu" in one.paper]
    ['bottom-up', 'mondrian', 'top-down']
    """
    return [kind.info for kind in REGISTRY.loaded().values()]
