"""Make a table about people safe to publish.

Every name is imported when it is first used, so that ``import shoal`` costs next to nothing.
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
    from shoal.compare import Comparison, compare
    from shoal.errors import ShoalError, ShoalWarning
    from shoal.generalization import Generalization
    from shoal.hierarchy import Hierarchy
    from shoal.io.reading import read_table
    from shoal.methods import method_infos as methods
    from shoal.methods.global_recoding.bug import BottomUpGeneralization
    from shoal.methods.global_recoding.full_domain import Datafly, Incognito
    from shoal.methods.k_member import KMember
    from shoal.methods.local_recoding import BottomUp, TopDown
    from shoal.methods.merge_split import MergeSplit
    from shoal.methods.microaggregation.forest import Forest
    from shoal.methods.microaggregation.heuristics import MDAV, VMDAV, Univariate
    from shoal.methods.mondrian import Mondrian
    from shoal.methods.optimise import Optimise
    from shoal.methods.sbca import SBCA
    from shoal.privacy.k_anonymity import KAnonymity
    from shoal.privacy.l_diversity import LDiversity
    from shoal.privacy.likeness import AlphaK, BetaLikeness, DeltaDisclosure
    from shoal.privacy.population import DeltaPresence, KMap
    from shoal.privacy.t_closeness import TCloseness
    from shoal.result import Result
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
    from shoal.verifying import Verification, verify

_HOME = {
    "AlphaK": "shoal.privacy.likeness",
    "Anonymizer": "shoal.api",
    "Audit": "shoal.audit",
    "BetaLikeness": "shoal.privacy.likeness",
    "BottomCode": "shoal.treatments",
    "BottomUp": "shoal.methods.local_recoding",
    "BottomUpGeneralization": "shoal.methods.global_recoding.bug",
    "Comparison": "shoal.compare",
    "Datafly": "shoal.methods.global_recoding.full_domain",
    "DeltaDisclosure": "shoal.privacy.likeness",
    "DeltaPresence": "shoal.privacy.population",
    "Drop": "shoal.treatments",
    "Forest": "shoal.methods.microaggregation.forest",
    "Generalization": "shoal.generalization",
    "Hierarchy": "shoal.hierarchy",
    "Incognito": "shoal.methods.global_recoding.full_domain",
    "KAnonymity": "shoal.privacy.k_anonymity",
    "KMap": "shoal.privacy.population",
    "KMember": "shoal.methods.k_member",
    "LDiversity": "shoal.privacy.l_diversity",
    "MDAV": "shoal.methods.microaggregation.heuristics",
    "MergeSplit": "shoal.methods.merge_split",
    "Microaggregate": "shoal.treatments",
    "Mondrian": "shoal.methods.mondrian",
    "Noise": "shoal.treatments",
    "Optimise": "shoal.methods.optimise",
    "Pram": "shoal.treatments",
    "RankSwap": "shoal.treatments",
    "Result": "shoal.result",
    "Round": "shoal.treatments",
    "SBCA": "shoal.methods.sbca",
    "ShiftDates": "shoal.treatments",
    "ShoalError": "shoal.errors",
    "ShoalWarning": "shoal.errors",
    "TCloseness": "shoal.privacy.t_closeness",
    "TopCode": "shoal.treatments",
    "TopDown": "shoal.methods.local_recoding",
    "Univariate": "shoal.methods.microaggregation.heuristics",
    "VMDAV": "shoal.methods.microaggregation.heuristics",
    "Verification": "shoal.verifying",
    "anonymize": "shoal.api",
    "audit": "shoal.audit",
    "compare": "shoal.compare",
    "methods": "shoal.methods:method_infos",
    "read_table": "shoal.io.reading",
    "verify": "shoal.verifying",
}
_MODULES = ("attacks", "datasets", "errors", "metrics", "spark", "testing")

__all__ = [
    "MDAV",
    "SBCA",
    "VMDAV",
    "AlphaK",
    "Anonymizer",
    "Audit",
    "BetaLikeness",
    "BottomCode",
    "BottomUp",
    "BottomUpGeneralization",
    "Comparison",
    "Datafly",
    "DeltaDisclosure",
    "DeltaPresence",
    "Drop",
    "Forest",
    "Generalization",
    "Hierarchy",
    "Incognito",
    "KAnonymity",
    "KMap",
    "KMember",
    "LDiversity",
    "MergeSplit",
    "Microaggregate",
    "Mondrian",
    "Noise",
    "Optimise",
    "Pram",
    "RankSwap",
    "Result",
    "Round",
    "ShiftDates",
    "ShoalError",
    "ShoalWarning",
    "TCloseness",
    "TopCode",
    "TopDown",
    "Univariate",
    "Verification",
    "__version__",
    "anonymize",
    "attacks",
    "audit",
    "compare",
    "datasets",
    "errors",
    "methods",
    "metrics",
    "read_table",
    "spark",
    "testing",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"shoal.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'shoal' has no attribute {name!r}")
    module, _, attribute = _HOME[name].partition(":")
    return getattr(import_module(module), attribute or name)


def __dir__() -> list[str]:
    return sorted(__all__)


class _Package(ModuleType):
    """The package, on which a module never hides the function of the same name (``shoal.audit``)."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
