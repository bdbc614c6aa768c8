"""Make a table about people safe to publish.

Every name is imported when it is first used, so that ``import shoal`` is fast.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from shoal._version import __version__

if TYPE_CHECKING:
    from shoal import attacks, datasets, errors, metrics, spark, testing
    from shoal.api import Anonymizer, anonymize
    from shoal.audit import Audit, audit
    from shoal.cells.disjoint import Disjoint
    from shoal.compare import Comparison, compare
    from shoal.errors import ShoalError, ShoalWarning
    from shoal.evaluation import Analyses, analyses
    from shoal.hierarchy import Hierarchy
    from shoal.io.read_table import read_table
    from shoal.learning.public import learn_hierarchies
    from shoal.methods import method_infos as methods
    from shoal.methods.global_recoding.bug import BottomUpGeneralization
    from shoal.methods.global_recoding.full_domain import Datafly, Incognito
    from shoal.methods.k_member import KMember
    from shoal.methods.local_recoding import BottomUp, TopDown
    from shoal.methods.merge_split import MergeSplit
    from shoal.methods.microaggregation.forest import Forest
    from shoal.methods.microaggregation.heuristics import MDAV, VMDAV, Univariate
    from shoal.methods.mondrian import Mondrian
    from shoal.methods.optimize import Optimize
    from shoal.methods.optimize import Optimize as Optimise
    from shoal.methods.sbca import SBCA
    from shoal.privacy.k_anonymity import KAnonymity
    from shoal.privacy.l_diversity import LDiversity
    from shoal.privacy.likeness import AlphaK, BetaLikeness, DeltaDisclosure
    from shoal.privacy.population import DeltaPresence, KMap
    from shoal.privacy.t_closeness import TCloseness
    from shoal.results.generalization import Generalization
    from shoal.results.result import Result
    from shoal.results.verify import Verification, verify
    from shoal.treatments import (
        BottomCode,
        Drop,
        Microaggregate,
        Noise,
        Pram,
        RankSwap,
        Round,
        ShiftDates,
        TopCode,
    )
    from shoal_reader import read as read_release

_NAMES = {
    "shoal.api": "Anonymizer anonymize",
    "shoal.audit": "Audit audit",
    "shoal.cells.disjoint": "Disjoint",
    "shoal.compare": "Comparison compare",
    "shoal.errors": "ShoalError ShoalWarning",
    "shoal.evaluation": "Analyses analyses",
    "shoal.hierarchy": "Hierarchy",
    "shoal.io.read_table": "read_table",
    "shoal.learning.public": "learn_hierarchies",
    "shoal.methods": "methods=method_infos",
    "shoal.methods.global_recoding.bug": "BottomUpGeneralization",
    "shoal.methods.global_recoding.full_domain": "Datafly Incognito",
    "shoal.methods.k_member": "KMember",
    "shoal.methods.local_recoding": "BottomUp TopDown",
    "shoal.methods.merge_split": "MergeSplit",
    "shoal.methods.microaggregation.forest": "Forest",
    "shoal.methods.microaggregation.heuristics": "MDAV Univariate VMDAV",
    "shoal.methods.mondrian": "Mondrian",
    "shoal.methods.optimize": "Optimise=Optimize Optimize",
    "shoal.methods.sbca": "SBCA",
    "shoal.privacy.k_anonymity": "KAnonymity",
    "shoal.privacy.l_diversity": "LDiversity",
    "shoal.privacy.likeness": "AlphaK BetaLikeness DeltaDisclosure",
    "shoal.privacy.population": "DeltaPresence KMap",
    "shoal.privacy.t_closeness": "TCloseness",
    "shoal.results.generalization": "Generalization",
    "shoal.results.result": "Result",
    "shoal.results.verify": "Verification verify",
    "shoal.treatments": "BottomCode Drop Microaggregate Noise Pram RankSwap Round ShiftDates TopCode",
    "shoal_reader": "read_release=read",
}
_HOME = {
    name: (module, attribute or name)
    for module, names in _NAMES.items()
    for name, _, attribute in (one.partition("=") for one in names.split())
}
"""Where each name is, and what it is called there if that differs."""
_MODULES = ("attacks", "datasets", "errors", "metrics", "spark", "testing")

__all__ = [
    "MDAV", "SBCA", "VMDAV", "AlphaK", "Analyses", "Anonymizer", "Audit", "BetaLikeness", "BottomCode", "BottomUp", "BottomUpGeneralization",
    "Comparison", "Datafly", "DeltaDisclosure", "DeltaPresence", "Disjoint", "Drop", "Forest", "Generalization", "Hierarchy", "Incognito", "KAnonymity", "KMap",
    "KMember", "LDiversity", "MergeSplit", "Microaggregate", "Mondrian", "Noise", "Optimise", "Optimize", "Pram", "RankSwap", "Result", "Round",
    "ShiftDates", "ShoalError", "ShoalWarning", "TCloseness", "TopCode", "TopDown", "Univariate", "Verification", "__version__", "analyses",
    "anonymize", "attacks", "audit", "compare", "datasets", "errors", "learn_hierarchies", "methods", "metrics", "read_release", "read_table",
    "spark", "testing", "verify",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"shoal.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'shoal' has no attribute {name!r}")
    module, attribute = _HOME[name]
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    return sorted(__all__)


class _Package(ModuleType):
    """The package, on which a module never hides the function of the same name (``shoal.audit``)."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
