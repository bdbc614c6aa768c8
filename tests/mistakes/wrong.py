"""Calls of the library of the right form that must be refused, each with a part of what is said."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import shoal
from tests.mistakes.library import CALLS, HUGE, NAN, ODD_COLUMNS, RECORDS, ROLES, people, release

NO_TABLE, NO_COLUMNS, NO_FILE, NO_PATH = "must be a pandas, polars or pyarrow table", "must have columns", "does not exist", "must be the path of a file"  # fmt: skip
WRONG: dict[str, dict[str, tuple[Any, str]]] = {
    "anonymize": {
        "k protects nobody": (1, "an int of at least 2"),
        "k above the records": (RECORDS + 1, "at most the number of records, 24"),
        "quasi_identifiers also sensitive": (["age", "illness"], "has two roles"),
        "kinds misspelt": ({"age": "numerik"}, "must be 'numeric', 'date', 'nominal'"),
        "kinds of no role": ({"name": "nominal"}, "which is not a quasi-identifier"),
        "kinds with a value twice": ({"sex": ["f", "f", "m"]}, "names a value twice"),
        "kinds that lack a value": ({"sex": ["f"]}, "lacks 1 of its values"),
        "kinds of text as numbers": ({"town": "numeric"}, "must hold numbers"),
        "kinds of text as dates": ({"sex": "date"}, "must hold dates"),
        "kinds of what no order holds": ({"sex": [["f"], ["m"]]}, "a list of values in order"),
        "hierarchies of no file": ({"sex": "no-such-file.csv"}, "No such file"),
        "hierarchies of a folder": ({"sex": "."}, "Is a directory"),
        "hierarchies of no name": ({"sex": "\ud800"}, "no file can have this name"),
        "hierarchies of a null": ({"sex": "a\0b"}, "no file can have this name"),
        "hierarchies of a long name": ({"sex": "x" * 5000}, "too long"),
        "hierarchies of no role": ({"sexx": "flat"}, "which is not a quasi-identifier"),
        "hierarchies that lack values": ({"town": shoal.Hierarchy.flat(["a", "b"])}, "lacks 3 of its values"),
        "hierarchies of the class": ({"town": shoal.Hierarchy}, "must be a Hierarchy"),
        "weights of text": ({"age": "8"}, "must be a finite number"),
        "weights of no role": ({"agee": 1}, "which is not a quasi-identifier"),
        "weights all zero": ({"age": 0, "sex": 0, "town": 0}, "at least one weight above 0"),
        "models of an unknown column": ([shoal.LDiversity(2, column="illnes")], "which is not sensitive"),
        "models that cannot hold": ([shoal.LDiversity(5)], "cannot hold"),
        "models above the records": ([shoal.KAnonymity(RECORDS + 1)], "Nothing was released"),
        "models by name": (["l-diversity"], "a list of privacy models"),
        "method misspelt": ("mondrain", "must be one of 'bug'"),
        "method of a class": (shoal.Mondrian, "the name of a method or a method object"),
        "method with a word as flag": (shoal.Mondrian(strict="maybe"), "must be True or False"),  # type: ignore[arg-type]
        "method with a number as flag": (shoal.Mondrian(strict=2), "must be True or False"),  # type: ignore[arg-type]
        "effort of a word": ("much", "must be one of 'fast', 'balanced', 'best'"),
        "max_suppression above one": (1.5, "at least 0 and at most 1"),
        "sensitiv": (["illness"], "has no parameter 'sensitiv'"),
        "quasi_identifier": (["age"], "has no parameter 'quasi_identifier'"),
    },
    "audit": {
        "quasi_identifiers none": ([], "at least one quasi-identifier"),
        "sampling_fraction of zero": (0, "above 0 and at most 1"),
        "population of no file": ("no-such-file.csv", NO_FILE),
        "population of other columns": (pa.table({"x": [1]}), "not in the table"),
        "kinds of no role": ({"age": "numeric"}, "which is not a sensitive column"),
        "table of rows": ("people", "is for a database or a file"),
    },
    "compare": {
        "methods misspelt": ("mondrain", "must be one of 'bug'"),
        "methods none": ([], "at least one"),
        "methods of a class": ([shoal.Mondrian], "names of methods or method objects"),
        "k none": ([], "at least one"),
        "k protects nobody": ([1], "an int of at least 2"),
        "k huge": ([HUGE], "an int of at least 2"),
        "efforts of a word": ("much", "must be one of 'fast', 'balanced', 'best'"),
        "efforts none": ([], "at least one"),
        "efforts of zero": ([0], "above 0"),
        "efforts of NaN": ([NAN], "above 0"),
        "sample of a word": ("some", "must be one of 'auto'"),
        "state in no folder": ("no-such-folder/state", "The folder of the state"),
        "models that cannot hold": ([shoal.LDiversity(2, column="illnes")], "which is not sensitive"),
        "zzz": (1, "compare has no parameter 'zzz'"),
    },
    "run_attacks": {
        "sensitive misspelt": (["illnes"], "not in the table"),
        "known of other columns": (pa.table({"x": [1]}), "shares no column"),
        "previous of other columns": (pa.table({"x": [1]}), "shares no column"),
        "release of other columns": (pa.table({"x": [1]}), "not in the table"),
    },
}
"""For each function, values of a parameter, which is the first word of their name."""
TABLES: dict[str, tuple[Callable[[], Any], str]] = {
    "a text of no file": (lambda: "no-such-file.csv", NO_FILE),
    "a path of no file": (lambda: Path("no-such-file.csv"), NO_FILE),
    "an empty text": (lambda: "", ""),
    "a text with a null": (lambda: "a\0b.csv", NO_PATH),
    "a text with a surrogate": (lambda: "\ud800.csv", NO_FILE),
    "a text too long": (lambda: "x" * 5000 + ".csv", NO_FILE),
    "a folder": (lambda: ".", "is a folder without"),
    "a list": (lambda: [[1, 2], [3, 4]], NO_TABLE),
    "a dict": (lambda: {"age": [1, 2]}, "'sex' given as a quasi-identifier is not in the table"),
    "an array": (lambda: np.zeros((3, 3)), NO_TABLE),
    "an Arrow array": (lambda: pa.array([1, 2, 3]), NO_COLUMNS),
    "an Arrow struct array": (lambda: pa.array([{"age": 1}]), "not in the table"),
    "a class": (lambda: pa.Table, "not the class of one"),
    "a pandas column": (lambda: people().to_pandas()["age"], NO_COLUMNS),
    "a pandas index": (lambda: people().to_pandas().index, NO_TABLE),
    "a polars column": (lambda: pl.from_arrow(people())["age"], NO_COLUMNS),
    "a polars expression": (lambda: pl.col("age"), NO_COLUMNS),
    "a polars class": (lambda: pl.DataFrame, "not the class of one"),
    "no columns": (lambda: pa.table({}), "not in the table"),
    "no rows": (lambda: people().slice(0, 0), ""),
    "a pandas table without rows": (lambda: people().to_pandas().iloc[:0], ""),
    "two columns of one name": (
        lambda: pa.table([pa.array([1, 2])] * 2, names=["age", "age"]),
        "two columns named 'age'",
    ),
    "a column without a name": (lambda: pa.table({"": [1, 2]}), "has no name"),
    "a pandas column named by a number": (
        lambda: people().to_pandas().rename(columns={"age": 7}),
        "Column names must be text",
    ),
    "pandas columns in storeys": (
        lambda: pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])),
        "Column names must be text",
    ),
    "mixed values": (lambda: people().to_pandas().assign(age=[1, "x", 2.5, None] * 6), "mixes values"),
    "a pandas column of dicts and lists": (
        lambda: people().to_pandas().assign(age=[{"a": 1}, [1]] * 12),
        "mixes values",
    ),
    "a pandas column with surrogates": (
        lambda: people().to_pandas().assign(town=pd.Series(["\ud800"] * RECORDS, dtype=object)),
        "not valid Unicode",
    ),
    "a lazy table that fails": (lambda: pl.LazyFrame({"age": [1]}).select("gone"), "cannot be collected"),
    "no column of the roles": (lambda: pa.table({"other": [1] * RECORDS}), "not in the table"),
    "fewer records than k": (lambda: people().slice(0, 3), ""),
}
COUNTED = {"fewer records than k", "mixed values", "no rows", "a pandas table without rows"}
"""Tables that an audit counts."""
PATHS: dict[str, tuple[str, str]] = {
    "empty": ("", NO_PATH),
    "a null": ("a\0b.csv", NO_PATH),
    "a surrogate and no ending": ("\ud800", ""),
    "no known ending": ("release.doc", ""),
    "no ending": ("release", ""),
    "a name too long": ("x" * 300 + ".csv", ""),
    "a folder that is not there": ("no-such-folder/release.csv", ""),
}
LOCAL = "recode a value alike everywhere"


class Wrong(NamedTuple):
    """A call that must be refused, and a part of what is said."""

    name: str
    call: Callable[[], Any]
    says: str


def _odd(table: Callable[[], Any], role: str) -> Any:
    given = dict(ROLES)
    given[role] = [*given.get(role, ()), "odd"]
    return shoal.anonymize(table(), **given)


def wrong_calls() -> Iterator[Wrong]:
    """Yield every call."""
    for owner, values in WRONG.items():
        for name, (value, says) in values.items():
            call = partial(CALLS[owner][1], **{name.split()[0]: value})
            yield Wrong(f"{owner}: {name}", call, says)
    for owner in ("anonymize", "audit", "compare"):
        for name, (make, says) in TABLES.items():
            if owner != "audit" or name not in COUNTED:
                yield Wrong(f"{owner} of {name}", lambda owner=owner, make=make: CALLS[owner][1](make()), says)
    for name, (make, says) in ODD_COLUMNS.items():
        yield Wrong(f"a quasi-identifier with {name}", partial(_odd, make, "quasi_identifiers"), says)
        if "infinit" not in name:
            yield Wrong(f"a sensitive column with {name}", partial(_odd, make, "sensitive"), says)
    for name, (path, says) in PATHS.items():
        yield Wrong(f"save to {name}", lambda path=path: release().save(path), says)
        yield Wrong(f"report to {name}", lambda path=path: release().report().save(path), says)
        yield Wrong(f"load of {name}", partial(shoal.Anonymizer.load, path), says)
        if "ending" not in name:
            yield Wrong(f"recipe to {name}", lambda path=path: shoal.Anonymizer(**ROLES).save(path), says)
    yield Wrong(
        "no k", lambda: shoal.anonymize(people(), quasi_identifiers=["age"]), "'k' parameter of anonymize is not"
    )
    yield Wrong("no quasi-identifiers", lambda: shoal.anonymize(people(), k=4), "'quasi_identifiers' parameter")
    yield Wrong("transform of a local release", lambda: release().transform(people()), LOCAL)
    yield Wrong("at of a local release", lambda: release().at(k=2), "takes no steps")
    yield Wrong("steps of a local release", lambda: release().steps, "takes no steps")
    lists = ODD_COLUMNS["lists"][0]
    yield Wrong("lists as CSV", lambda: _odd(lists, "keep").save("release.csv"), "cannot be written as a CSV file")
    yield Wrong("intervals of text", lambda: shoal.Hierarchy.from_intervals(people()["town"], 5), "no finite numbers")
    yield Wrong("dates of text", lambda: shoal.Hierarchy.from_dates(people()["town"]), "no ISO dates")
    yield Wrong("prefixes by text", lambda: shoal.Hierarchy.from_prefixes(["ab"], "x"), "an int of at least 0")
    for width in (NAN, 0, -1):
        yield Wrong(f"intervals of {width}", partial(shoal.Hierarchy.from_intervals, [1, 2], width), "Hierarchy.from_intervals must")  # fmt: skip
