"""Wrong calls of the library: nonsense in every parameter there is, and values of the right type that are wrong."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

import shoal
from shoal import attacks

SECRET = "Zyxquv"  # noqa: S105
"""Begins every name and diagnosis of the table; no message may hold it."""
RECORDS = 24
HUGE, NAN, INF = 10**400, float("nan"), float("inf")


def people() -> pa.Table:
    """Return a small table about people."""
    return pa.table(
        {
            "name": [f"{SECRET} {n}" for n in range(RECORDS)],
            "age": [20 + n % 7 for n in range(RECORDS)],
            "sex": ["fm"[n % 2] for n in range(RECORDS)],
            "town": [f"{SECRET}town{n % 3}" for n in range(RECORDS)],
            "illness": [f"{SECRET}itis{n % 4}" for n in range(RECORDS)],
        }
    )


ROLES: dict[str, Any] = {
    "k": 4,
    "quasi_identifiers": ["age", "sex", "town"],
    "sensitive": ["illness"],
    "identifiers": ["name"],
    "method": "mondrian",
}


class Strange:
    """An object no parameter is made for."""


def nonsense() -> dict[str, Any]:
    """Return values that hardly any parameter takes, by the words of a test's name."""
    circle: dict[str, Any] = {}
    circle["age"] = circle
    values = [
        None, True, -1, 0, 5, 1.5, 0.1, -0.1, HUGE, -HUGE, NAN, INF, Decimal(5), 3 + 4j, np.float64("nan"), "", "nope", "5", "0.1", "flat", "mondrian",
        "\ud800", "a\0b", b"bytes", [], {}, set(), [None], [5], [0.1], ["nope"], ["flat"], [""], ["\ud800"], [[]], [["age"]], ["age"], ["age", "age"],
        ["town", "town"], ["illness"], ["name"], {"age": None}, {"age": "nope"}, {"age": ""}, {"age": b"age"}, {"age": True}, {"age": 5}, {"age": -1}, {"age": NAN},
        {"age": INF}, {"age": HUGE}, {"age": 1j}, {"age": [1]}, {"age": []}, {"age": {"low": 1}}, {"nope": 1}, {"nope": "flat"}, {"name": "nominal"}, {1: 2}, {None: None},
        len, int, slice(1), NotImplemented, ..., range(3),
    ]  # fmt: skip
    named = {repr(value): value for value in values}
    return named | {
        "a dict in a circle": circle,
        "a text of a million letters": "x" * 1_000_000,
        "a list of such a text": ["x" * 1_000_000],
        "an object": object(),
        "a strange object": Strange(),
        "its class": Strange,
        "a method's class": shoal.Mondrian,
        "a model": shoal.LDiversity(2),
        "a list of classes": [shoal.LDiversity],
        "an array": np.array([1, 2]),
        "an Arrow array": pa.array([1]),
        "a table": people(),
        "a table in a dict": {"age": people()},
        "a pandas table in a dict": {"town": people().to_pandas()},
        "a generator": (n for n in "ab"),
    }


_ONE_COLUMN = ("a table", "a dict in a circle", "{'age': [1]}", "{'age': []}", "{'age': {'low': 1}}")
"""Tables with a column that the roles name."""
TAKEN: dict[str, tuple[str, ...]] = {
    "k": ("5",),
    "quasi_identifiers": ("['age']",),
    "sensitive": ("[]", "set()", "['illness']"),
    "identifiers": ("[]", "set()", "['name']"),
    "keep": ("[]", "set()"),
    "pseudonymize": ("[]", "set()"),
    "together": (),
    "kinds": ("None", "{}"),
    "hierarchies": ("None", "{}"),
    "treat": ("None", "{}"),
    "ends": ("{}", "{'age': 5}"),
    "weights": ("None", "{}", "{'age': 5}"),
    "cells": ("None", "{}"),
    "models": ("[]", "{}", "set()"),
    "thousands": ("None", "''"),
    "date_format": ("None", "[]", "set()"),
    "method": ("'mondrian'",),
    "effort": ("5", "1.5", "0.1"),
    "max_suppression": ("0", "0.1"),
    "widen": ("0", "0.1"),
    "derived": (),
    "others": (),
    "seed": ("0", "5"),
    "engine": (),
    "memory": ("None", "5", "'5'"),
    "progress": ("None", "True"),
    "on_interrupt": (),
    "missing": (
        "None", "''", "'nope'", "'5'", "'0.1'", "'flat'", "'mondrian'", "'a\\x00b'", "[]", "set()", "['nope']", "['flat']", "['']", "['age']", "['age', 'age']",
        "['town', 'town']", "['illness']", "['name']", "a text of a million letters", "a list of such a text", "a generator",
    ),
    "audit quasi_identifiers": ("['age']", "['illness']", "['name']"),
    "audit sensitive": ("[]", "set()", "['age']", "['illness']", "['name']"),
    "audit hierarchies": ("None", "{}"),
    "audit sampling_fraction": ("None", "0.1"),
    "audit population": ("None", "a table"),
    "audit unique_columns": ("0", "5"),
    "compare methods": ("None", "'mondrian'"),
    "compare k": ("5", "[5]"),
    "compare efforts": ("5", "1.5", "0.1", "b'bytes'", "[5]", "[0.1]", "{1: 2}", "an array"),
    "compare sample": ("None", "5"),
    "compare whole": ("True",),
    "compare workers": ("None", "5"),
    "compare state": ("None", "'nope'", "'5'", "'0.1'", "'flat'", "'mondrian'"),
    "run_attacks original": ("a table",),
    "run_attacks release": ("a table",),
    "run_attacks on": ("['age']", "['illness']", "['name']"),
    "run_attacks sensitive": ("[]", "set()", "['age']", "['age', 'age']", "['town', 'town']", "['illness']", "['name']"),
    "run_attacks known": ("None", *_ONE_COLUMN),
    "run_attacks previous": ("None", *_ONE_COLUMN),
    "run_attacks hierarchies": ("None", "{}"),
}  # fmt: skip
"""The nonsense that is none: what a parameter takes. A parameter that is not here takes None alone."""
FAILS_ITSELF = {"progress", "on_point"}
"""Parameters that are a function of the user's own, which may fail as it likes."""


def _anonymize(data: Any = None, **changes: Any) -> Any:
    return shoal.anonymize(people() if data is None else data, **{**ROLES, **changes})


def _audit(data: Any = None, **changes: Any) -> Any:
    return shoal.audit(people() if data is None else data, **{"quasi_identifiers": ["age", "sex"], **changes})


def _compare(data: Any = None, **changes: Any) -> Any:
    given = {name: value for name, value in ROLES.items() if name not in {"k", "method"}}
    given |= {"methods": ["mondrian"], "k": [4], "workers": 1}
    return shoal.compare(people() if data is None else data, **{**given, **changes})


def _attack(**changes: Any) -> Any:
    return attacks.run_attacks(**{"original": people(), "release": people(), "on": ("age", "sex"), **changes})


CALLS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "anonymize": (shoal.anonymize, _anonymize),
    "audit": (shoal.audit, _audit),
    "compare": (shoal.compare, _compare),
    "run_attacks": (attacks.run_attacks, _attack),
}
PARAMETERS = [
    (owner, name) for owner, (call, _) in CALLS.items() for name in inspect.signature(call).parameters if name != "data"
]
"""Every parameter there is, also those that are added later."""


def taken(owner: str, parameter: str) -> tuple[str, ...]:
    """Return the nonsense that a parameter takes."""
    return TAKEN.get(f"{owner} {parameter}", TAKEN.get(parameter, ("None",)))


def release() -> Any:
    """Return one release of the table, made when it is first asked for."""
    if not _RELEASES:
        _RELEASES.append(_anonymize())
    return _RELEASES[0]


_RELEASES: list[Any] = []
MAKERS: dict[str, Callable[[Any], Any]] = {
    "LDiversity": shoal.LDiversity,
    "TCloseness": shoal.TCloseness,
    "AlphaK": shoal.AlphaK,
    "BetaLikeness": shoal.BetaLikeness,
    "KAnonymity": shoal.KAnonymity,
    "TopDown": lambda value: shoal.TopDown(rounds=value),
    "VMDAV": lambda value: shoal.VMDAV(gamma=value),
    "MDAV": lambda value: shoal.MDAV(scale=value),
    "Hierarchy.from_csv": shoal.Hierarchy.from_csv,
    "Hierarchy.from_dict": shoal.Hierarchy.from_dict,
    "Hierarchy.from_parents": shoal.Hierarchy.from_parents,
    "Hierarchy.flat": shoal.Hierarchy.flat,
    "Hierarchy.suggest": shoal.Hierarchy.suggest,
    "Hierarchy.from_intervals": lambda value: shoal.Hierarchy.from_intervals(value, [5, 10]),
    "Hierarchy.from_intervals of a width": lambda value: shoal.Hierarchy.from_intervals([1, 2], value),
    "Hierarchy.from_prefixes": lambda value: shoal.Hierarchy.from_prefixes(value, [2, 0]),
    "Hierarchy.from_dates": shoal.Hierarchy.from_dates,
    "Round": shoal.Round,
    "TopCode": lambda value: shoal.TopCode(share=value),
    "Noise": shoal.Noise,
    "ShiftDates": lambda value: shoal.ShiftDates(days=value),
    "Pram": shoal.Pram,
    "Result.save": lambda value: release().save(value, force=True),
    "Report.save": lambda value: release().report().save(value),
    "Anonymizer.save": lambda value: shoal.Anonymizer(**ROLES).save(value, force=True),
    "Anonymizer.load": shoal.Anonymizer.load,
    "the table of anonymize": lambda value: shoal.anonymize(value, **ROLES),
}
"""What takes one value that may be anything: taken or refused in a sentence."""
TAKES_NO = {"None", "5", "1.5", "b'bytes'", "an object"}
"""Nonsense that neither a table, a hierarchy nor a path can be."""


def _nested(kind: pa.DataType, value: Any) -> pa.Table:
    return people().append_column("odd", pa.array([value] * RECORDS, kind))


def _column(values: Any) -> pa.Table:
    return people().append_column("odd", values)


_NO_CELLS, _NO_DATES, _NO_WIDTH = "not single readable values", "outside the years 1 to 9999", "holds infinite values"
ODD_COLUMNS: dict[str, tuple[Callable[[], pa.Table], str]] = {
    "lists": (lambda: _nested(pa.list_(pa.int64()), [1, 2]), _NO_CELLS),
    "large lists": (lambda: _nested(pa.large_list(pa.string()), ["a"]), _NO_CELLS),
    "lists of fixed size": (lambda: _nested(pa.list_(pa.int64(), 2), [1, 2]), _NO_CELLS),
    "structs": (lambda: _nested(pa.struct({"a": pa.int64()}), {"a": 1}), _NO_CELLS),
    "maps": (lambda: _nested(pa.map_(pa.string(), pa.int64()), [("a", 1)]), _NO_CELLS),
    "binary": (lambda: _nested(pa.binary(), b"\xff\x00"), _NO_CELLS),
    "large binary": (lambda: _nested(pa.large_binary(), b"\xff"), _NO_CELLS),
    "binary of fixed size": (lambda: _nested(pa.binary(2), b"\xff\x00"), _NO_CELLS),
    "instants no calendar has": (lambda: _column(pa.array([2**62, -(2**62)] * 12, pa.timestamp("ms"))), _NO_DATES),
    "instants in the year 10000": (lambda: _column(pa.array([253_402_300_800, 0] * 12, pa.timestamp("s"))), _NO_DATES),
    "instants before the year 1": (
        lambda: _column(pa.array([-62_135_596_801_000, 0] * 12, pa.timestamp("ms", "UTC"))),
        _NO_DATES,
    ),
    "dates in the year 10000": (
        lambda: _column(pa.array([2_932_897, 0] * 12, pa.int32()).cast(pa.date32())),
        _NO_DATES,
    ),
    "infinite values": (lambda: _column(pa.array([1.0, INF] * 12)), _NO_WIDTH),
    "negative infinity": (lambda: _column(pa.array([1.0, -INF] * 12)), _NO_WIDTH),
    "infinite float32": (lambda: _column(pa.array([1.0, INF] * 12, pa.float32())), _NO_WIDTH),
}
"""Tables with a column that no release can be made of, and what is said of it."""
