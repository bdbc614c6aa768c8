"""How models are judged by the count of a release that was not made in memory: streamed, or on Spark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from shoal.arrays import IntArray
from shoal.audit import measure_attribute
from shoal.encoding import CodedAttribute
from shoal.plan.coding import Coding
from shoal.privacy.base import PrivacyModel, Requirement, bind_models


class Judged(NamedTuple):
    """What counted groups show of one sensitive column."""

    failing: Counter[str]
    """Groups in which a model does not hold, by its name."""
    measures: dict[str, float]
    """Those of the worst group."""


def judge_column(
    models: Sequence[PrivacyModel], coding: Coding, attribute: CodedAttribute, label: IntArray, groups: int
) -> Judged:
    """Ask whether the models hold in counted groups, against the totals of the whole table; ``attribute`` has the codes of the counted rows."""
    bound = bind_column(models, coding, attribute)
    failing = Counter[str]()  # adds up: a model may be asked for twice, with different settings
    for model, requirement in bound:
        failing[type(model).__name__] += int(requirement.failing(label, groups).sum())
    return Judged(failing, measure_attribute(attribute, label, groups, [requirement for _, requirement in bound]))


def bind_column(
    models: Sequence[PrivacyModel], coding: Coding, attribute: CodedAttribute
) -> list[tuple[PrivacyModel, Requirement]]:
    """Return the models that look at a sensitive column, bound to all its values."""
    name = attribute.name
    chosen = [model for model in models if getattr(model, "column", None) in {None, name}]
    table = replace(coding.empty, attributes={name: attribute})
    return list(zip(chosen, bind_models(chosen, table, [name]), strict=True))
