"""The parameters of a release in one table: what each does in few words, where it is stored, and which engine honours it.

Signatures, recipes, the command line and the page of engines in the documentation are compared with this table by tests, and the sweep
over engines asks for each row. A parameter that is not in it, or an engine without an answer, fails these tests.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal, cast

from shoal import extensions

EngineName = Literal["memory", "stream", "spark"]
ENGINES: Final = cast("tuple[EngineName, ...]", tuple(extensions.ENGINES.own))
"""Shoal's own engines; those of other packages say themselves what they refuse."""
REQUIRED: Final = "required"
"""Marks a parameter without a default."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of ``anonymize``."""

    name: str
    default: object
    words: str
    """What it does, as a noun phrase or an imperative."""
    in_recipe: bool = True
    """Whether a recipe file holds it."""
    in_comparison: bool = True
    """Whether all releases of a comparison share it."""
    on_command_line: bool = True
    refused: Mapping[EngineName, str] = field(default_factory=dict)
    """What an engine refuses before any work, in words that follow "refused:"; it honours all else."""
    alone: Mapping[EngineName, str] = field(default_factory=dict)
    """Where an engine honours it in one task or one process, whatever the size of the table."""


_ONE_TASK = "one task, up to 2 million records"
_WHOLE = "all codes in memory, rows on disk"
_TOGETHER: Final[Mapping[EngineName, str]] = MappingProxyType({"stream": _WHOLE, "spark": _ONE_TASK})
_LEARNED = "for a column whose hierarchy must be learned from all records"
_OF_PLACE: Final[Mapping[EngineName, str]] = MappingProxyType(
    {
        "memory": "if the rows are given as a table",
        "spark": "if a DataFrame is given (the command line reads a table of the catalog)",
    }
)

PARAMETERS: Final[tuple[Parameter, ...]] = (
    Parameter("k", REQUIRED, "Smallest group.", in_comparison=False),
    Parameter("quasi_identifiers", REQUIRED, "Columns an outsider may know. They are recoded."),
    Parameter("sensitive", (), "Columns that are kept and protected by models."),
    Parameter("identifiers", (), "Columns that are removed."),
    Parameter("keep", (), "Columns passed through unchanged."),
    Parameter(
        "person",
        None,
        "Column that identifies the person a record belongs to.",
        alone={"stream": _WHOLE, "spark": f"with models {_ONE_TASK}"},
    ),
    Parameter("household", None, "Column that identifies the household a record belongs to.", alone=_TOGETHER),
    Parameter("together", False, "Keep all records of a person with the same other people.", alone=_TOGETHER),
    Parameter("survey_weight", None, "Column with the number of people that a record represents.", alone=_TOGETHER),
    Parameter("kinds", None, "How columns are read if their type is not enough."),
    Parameter(
        "hierarchies",
        None,
        "How categories are made coarser.",
        refused={"stream": f'"auto" {_LEARNED}', "spark": f'"auto" {_LEARNED}, if the table is cut'},
    ),
    Parameter("decimal", None, "Decimal mark of numbers in text."),
    Parameter("thousands", None, "Mark between thousands."),
    Parameter("date_format", None, "How dates are written."),
    Parameter("missing", None, "Texts that mean a missing value."),
    Parameter("weights", None, "How much the loss in a column, or in a node of its hierarchy, counts."),
    Parameter(
        "models",
        (),
        "Privacy models that must hold beyond k.",
        refused={"stream": "models that look at more than the table, such as those on a population"},
        alone={"stream": f"δ-disclosure: {_WHOLE}", "spark": f"δ-disclosure and models on a population: {_ONE_TASK}"},
    ),
    Parameter(
        "method",
        "optimize",
        "Method that finds the groups.",
        in_comparison=False,
        alone={
            "stream": f"Mondrian, global recodings, microaggregation: {_WHOLE}",
            "spark": f"microaggregation: {_ONE_TASK}",
        },
    ),
    Parameter("effort", "balanced", "Work spent to lose less.", in_comparison=False),
    Parameter("max_suppression", 0.0, "Largest share of records that may be withheld."),
    Parameter(
        "release",
        None,
        "Ranges, or one typical value for each group.",
        refused={"stream": "representatives"},
        alone={"spark": f"representatives: {_ONE_TASK}"},
    ),
    Parameter("widen", 0.0, "Share of cells released wider than needed.", alone=_TOGETHER),
    Parameter("ends", "round", "Where released ranges end."),
    Parameter(
        "cells",
        None,
        "Columns whose released cells never overlap, except *.",
        refused={"stream": "always", "spark": "always"},
    ),
    Parameter(
        "counts",
        None,
        "Counts of exact values released next to the cells.",
        in_comparison=False,
        refused={"stream": "always", "spark": "always"},
    ),
    Parameter(
        "treat",
        None,
        "Treatments of kept or sensitive columns.",
        refused={"stream": "a sensitive column that is dropped"},
        alone={"stream": "one treated column in memory at a time", "spark": _ONE_TASK},
    ),
    Parameter("pseudonymize", (), "Columns released as tokens."),
    Parameter("key", None, "File with the key of the tokens.", in_recipe=False),
    Parameter("derived", "refuse", "What to do about released columns that follow from the quasi-identifiers."),
    Parameter("others", "drop", "Columns without a role: drop them, keep them, or stop and ask."),
    Parameter("seed", 0, "Seed of the random numbers."),
    Parameter("engine", "auto", "Who does the work.", in_comparison=False),
    Parameter(
        "memory",
        None,
        "Memory that a streamed release should stay within.",
        in_comparison=False,
        refused={"memory": "always", "spark": "always"},
    ),
    Parameter(
        "progress",
        None,
        "Function called with the share done and a short text.",
        in_recipe=False,
        in_comparison=False,
        on_command_line=False,
    ),
    Parameter(
        "on_interrupt",
        "raise",
        "What Ctrl-C does in a method that improves a solution.",
        in_recipe=False,
        in_comparison=False,
        on_command_line=False,
        refused={"stream": '"best"', "spark": '"best"'},
    ),
    Parameter(
        "cancel",
        None,
        "Event that another thread may set to end the work.",
        in_recipe=False,
        in_comparison=False,
        on_command_line=False,
    ),
    Parameter(
        "table",
        None,
        "Table of a database, or sheet of a workbook.",
        in_recipe=False,
        in_comparison=False,
        refused=_OF_PLACE,
    ),
    Parameter(
        "query", None, "Rows of a database, as a query.", in_recipe=False, in_comparison=False, refused=_OF_PLACE
    ),
)


def parameter(name: str) -> Parameter:
    """Return the row of a parameter."""
    return next(one for one in PARAMETERS if one.name == name)
