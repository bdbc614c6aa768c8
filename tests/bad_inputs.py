"""Bad input as data: calls of the library and of the command line that must be refused in one sentence.

A case is a name and a function that makes the call. Each call of the library must raise a ``ShoalError``; each call
of the command line must end with exit code 1 or 2 and one sentence; none may write a file or show a cell.
``api_cases()`` and ``cli_cases()`` list them for the tests and for the fuzz campaign.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as papq

import shoal
from shoal import attacks

SECRET = "Zyxquv"  # noqa: S105
"""Begins every name and diagnosis of the table; no message may hold it."""
RECORDS = 24


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
NOTHING: dict[str, Any] = {"None": None, "an int": 5, "an object": object(), "a float": 2.5, "bytes": b"age"}
HUGE = 10**400
NAN, INF = float("nan"), float("inf")

WRONG_NAMES = NOTHING | {
    "a dict": {"age": 1},
    "a list of None": [None],
    "a list of ints": [5],
    "a nested list": [["age"]],
    "an unknown name": ["agee"],
    "an empty name": [""],
    "a name twice": ["town", "town"],
    "a surrogate": ["\ud800"],
    "a table": people(),
    "a function": len,
    "a name of a million letters": ["x" * 1_000_000],
}
WRONG_INT = {
    "None": None,
    "a text": "5",
    "a float": 5.5,
    "True": True,
    "negative": -1,
    "NaN": NAN,
    "a list": [5],
    "an object": object(),
    "a decimal": Decimal(5),
    "huge": HUGE,
}
WRONG_SHARE = {
    "None": None,
    "a text": "0.1",
    "True": True,
    "negative": -0.1,
    "above one": 1.5,
    "NaN": NAN,
    "infinite": INF,
    "huge": HUGE,
    "a list": [0.1],
    "complex": 1j,
}
WRONG_CHOICE = {"an unknown word": "no such word", "an int": 5, "True": True, "a list": ["x"], "a surrogate": "\ud800"}

WRONG: dict[str, dict[str, Any]] = {
    "k": WRONG_INT | {"one": 1, "zero": 0, "more than records": RECORDS + 1},
    "quasi_identifiers": WRONG_NAMES | {"none": [], "also sensitive": ["age", "illness"]},
    "sensitive": WRONG_NAMES | {"also a quasi-identifier": ["age"]},
    "identifiers": WRONG_NAMES | {"also sensitive": ["illness"]},
    "keep": WRONG_NAMES | {"also an identifier": ["name"]},
    "kinds": {
        "an int": 5,
        "a text": "numeric",
        "a list": ["numeric"],
        "a table": people(),
        "an int for a column": {"age": 5},
        "None for a column": {"age": None},
        "bytes for a column": {"age": b"numeric"},
        "a dict for a column": {"age": {"low": 1}},
        "a misspelt kind": {"age": "numerik"},
        "a column without a role": {"name": "nominal"},
        "an unknown column": {"agee": "numeric"},
        "an int as column": {5: "numeric"},
        "an empty order": {"sex": []},
        "an order with a value twice": {"sex": ["f", "f", "m"]},
        "an order that lacks a value": {"sex": ["f"]},
        "text as numeric": {"town": "numeric"},
        "text as date": {"town": "date"},
        "numbers as date": {"sex": "date"},
        "an order of unhashable things": {"sex": [["f"], ["m"]]},
        "a table for a column": {"sex": people()},
    },
    "hierarchies": {
        "an int": 5,
        "a text": "flatt",
        "a list": ["flat"],
        "an int for a column": {"sex": 5},
        "None for a column": {"sex": None},
        "a dict for a column": {"sex": {"*": ["f", "m"]}},
        "a table for a column": {"town": people()},
        "a pandas table for a column": {"town": people().to_pandas()},
        "a list for a column": {"town": ["a"]},
        "an empty text": {"sex": ""},
        "a missing file": {"sex": "no-such-file.csv"},
        "a folder": {"sex": "."},
        "a surrogate": {"sex": "\ud800"},
        "a null": {"sex": "a\0b"},
        "a name too long": {"sex": "x" * 5000},
        "an unknown column": {"sexx": "flat"},
        "an int as column": {5: "flat"},
        "one that lacks values": {"town": shoal.Hierarchy.flat(["a", "b"])},
        "the class": {"town": shoal.Hierarchy},
    },
    "weights": {
        "an int": 5,
        "a text": "age",
        "a list": [1, 2, 3],
        "a text for a column": {"age": "8"},
        "None for a column": {"age": None},
        "NaN": {"age": NAN},
        "infinite": {"age": INF},
        "negative": {"age": -1},
        "huge": {"age": HUGE},
        "True": {"age": True},
        "complex": {"age": 1j},
        "a list for a column": {"age": [1]},
        "an unknown column": {"agee": 1},
        "an int as column": {5: 1},
        "all zero": {"age": 0, "sex": 0, "town": 0},
    },
    "models": {
        "one model": shoal.LDiversity(2),
        "None": None,
        "an int": 5,
        "a text": "l-diversity",
        "a list of None": [None],
        "a list of ints": [5],
        "a list of texts": ["l-diversity"],
        "a class": shoal.LDiversity,
        "a list of classes": [shoal.LDiversity],
        "a dict": {"l": 2},
        "of an unknown column": [shoal.LDiversity(2, column="illnes")],
        "that cannot hold": [shoal.LDiversity(5)],
        "more than records": [shoal.KAnonymity(RECORDS + 1)],
    },
    "method": {
        "None": None,
        "an int": 5,
        "a class": shoal.Mondrian,
        "misspelt": "mondrain",
        "a list": ["mondrian"],
        "an object": object(),
        "a model": shoal.LDiversity(2),
        "empty": "",
        "a flag that is a word": shoal.Mondrian(strict="maybe"),  # type: ignore[arg-type]
        "a flag that is an int": shoal.Mondrian(strict=2),  # type: ignore[arg-type]
    },
    "effort": {
        "None": None,
        "a word": "much",
        "zero": 0,
        "negative": -1,
        "NaN": NAN,
        "infinite": INF,
        "True": True,
        "huge": HUGE,
        "a list": ["fast"],
    },
    "max_suppression": WRONG_SHARE,
    "widen": WRONG_SHARE,
    "release": WRONG_CHOICE,
    "on_interrupt": WRONG_CHOICE | {"None": None},
    "seed": WRONG_INT,
    "progress": {"an int": 5, "a text": "yes", "a class": int},
}


def _nested(kind: pa.DataType, value: Any) -> pa.Table:
    return people().append_column("odd", pa.array([value] * RECORDS, kind))


def _column(values: Any) -> pa.Table:
    return people().append_column("odd", values)


TABLES: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "an int": lambda: 5,
    "a list": lambda: [[1, 2], [3, 4]],
    "a dict": lambda: {"age": [1, 2]},
    "a text of no file": lambda: "no-such-file.csv",
    "a path of no file": lambda: Path("no-such-file.csv"),
    "an empty text": lambda: "",
    "a text with a null": lambda: "a\0b.csv",
    "a text with a surrogate": lambda: "\ud800.csv",
    "a text too long": lambda: "x" * 5000 + ".csv",
    "a folder": lambda: ".",
    "bytes": lambda: b"people.csv",
    "an array": lambda: np.zeros((3, 3)),
    "an Arrow array": lambda: pa.array([1, 2, 3]),
    "an Arrow struct array": lambda: pa.array([{"age": 1}]),
    "a generator": lambda: (n for n in range(3)),
    "a function": lambda: len,
    "a class": lambda: pa.Table,
    "a pandas column": lambda: people().to_pandas()["age"],
    "a pandas index": lambda: people().to_pandas().index,
    "a polars column": lambda: pl.from_arrow(people())["age"],
    "a polars expression": lambda: pl.col("age"),
    "a polars class": lambda: pl.DataFrame,
    "no columns": lambda: pa.table({}),
    "no rows": lambda: people().slice(0, 0),
    "a pandas table without rows": lambda: people().to_pandas().iloc[:0],
    "two columns of one name": lambda: pa.table([pa.array([1, 2])] * 2, names=["age", "age"]),
    "a column without a name": lambda: pa.table({"": [1, 2]}),
    "a pandas column named by a number": lambda: people().to_pandas().rename(columns={"age": 7}),
    "pandas columns in storeys": lambda: pd.DataFrame(
        [[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])
    ),
    "mixed values": lambda: people().to_pandas().assign(age=[1, "x", 2.5, None] * 6),
    "a pandas column of dicts and lists": lambda: people().to_pandas().assign(age=[{"a": 1}, [1]] * 12),
    "a pandas column with surrogates": lambda: (
        people().to_pandas().assign(town=pd.Series(["\ud800"] * RECORDS, dtype=object))
    ),
    "a lazy table that fails": lambda: pl.LazyFrame({"age": [1]}).select("gone"),
    "no column of the roles": lambda: pa.table({"other": [1] * RECORDS}),
    "fewer records than k": lambda: people().slice(0, 3),
}

ODD_COLUMNS: dict[str, Callable[[], pa.Table]] = {
    "lists": lambda: _nested(pa.list_(pa.int64()), [1, 2]),
    "large lists": lambda: _nested(pa.large_list(pa.string()), ["a"]),
    "lists of fixed size": lambda: _nested(pa.list_(pa.int64(), 2), [1, 2]),
    "structs": lambda: _nested(pa.struct({"a": pa.int64()}), {"a": 1}),
    "maps": lambda: _nested(pa.map_(pa.string(), pa.int64()), [("a", 1)]),
    "binary": lambda: _nested(pa.binary(), b"\xff\x00"),
    "large binary": lambda: _nested(pa.large_binary(), b"\xff"),
    "binary of fixed size": lambda: _nested(pa.binary(2), b"\xff\x00"),
    "instants no calendar has": lambda: _column(pa.array([2**62, -(2**62)] * 12, pa.timestamp("ms"))),
    "instants in the year 10000": lambda: _column(pa.array([253_402_300_800, 0] * 12, pa.timestamp("s"))),
    "instants before the year 1": lambda: _column(pa.array([-62_135_596_801_000, 0] * 12, pa.timestamp("ms", "UTC"))),
    "dates in the year 10000": lambda: _column(pa.array([2_932_897, 0] * 12, pa.int32()).cast(pa.date32())),
}
INFINITE_COLUMNS: dict[str, Callable[[], pa.Table]] = {
    "infinite values": lambda: _column(pa.array([1.0, INF] * 12)),
    "negative infinity": lambda: _column(pa.array([1.0, -INF] * 12)),
    "infinite float32": lambda: _column(pa.array([1.0, INF] * 12, pa.float32())),
}


@dataclass(frozen=True)
class ApiCase:
    """A call of the library that must raise a ``ShoalError``."""

    name: str
    call: Callable[[], Any] = field(repr=False)


def _anonymize(table: Callable[[], Any] = people, **changes: Any) -> Any:
    return shoal.anonymize(table(), **{**ROLES, **changes})


def _odd(table: Callable[[], Any], role: str) -> Any:
    given = dict(ROLES)
    given[role] = [*given.get(role, ()), "odd"]
    return shoal.anonymize(table(), **given)


def _audit(table: Callable[[], Any] = people, **changes: Any) -> Any:
    return shoal.audit(table(), **{"quasi_identifiers": ["age", "sex"], **changes})


def _compare(table: Callable[[], Any] = people, **changes: Any) -> Any:
    given = {name: value for name, value in ROLES.items() if name not in {"k", "method"}}
    return shoal.compare(table(), **{**given, "methods": ["mondrian"], "k": [4], "workers": 1, **changes})


def _attack(original: Any = None, release: Any = None, on: Any = ("age", "sex"), **changes: Any) -> Any:
    return attacks.run_attacks(
        people() if original is None else original, people() if release is None else release, on, **changes
    )


_RELEASES: list[Any] = []


def release() -> Any:
    """Return one release of the table, made when it is first asked for."""
    if not _RELEASES:
        _RELEASES.append(_anonymize())
    return _RELEASES[0]


WRONG_PATHS = {
    "None": None,
    "an int": 5,
    "bytes": b"x.csv",
    "empty": "",
    "a null": "a\0b.csv",
    "a surrogate and no ending": "\ud800",
    "no known ending": "release.doc",
    "no ending": "release",
    "a name too long": "x" * 300 + ".csv",
    "a folder that is not there": "no-such-folder/release.csv",
    "a list": ["release.csv"],
}
AUDITS: dict[str, dict[str, Any]] = {
    "quasi_identifiers": WRONG_NAMES | {"none": []},
    "sensitive": WRONG_NAMES,
    "sampling_fraction": {name: value for name, value in WRONG_SHARE.items() if name != "None"} | {"zero": 0},
    "unique_columns": WRONG_INT,
    "hierarchies": {"an int": 5, "a text": "flat", "an int for a column": {"illness": 5}},
    "population": {"an int": 5, "no file": "no-such-file.csv", "no such columns": pa.table({"x": [1]})},
}
COMPARES: dict[str, dict[str, Any]] = {
    "methods": {
        "an int": 5,
        "misspelt": ["mondrain"],
        "none": [],
        "a class": [shoal.Mondrian],
        "a list of None": [None],
    },
    "k": {"None": None, "a text": "5", "none": [], "one": [1], "a list of None": [None], "huge": [HUGE], "True": True},
    "efforts": {"None": None, "a word": "much", "none": [], "zero": [0], "NaN": [NAN]},
    "sample": {"a word": "some", "zero": 0, "negative": -5, "True": True, "a float": 2.5},
    "workers": {"zero": 0, "a text": "2", "a float": 1.5, "True": True},
    "state": {"an int": 5, "a folder that is not there": "no-such-folder/state"},
    "on_interrupt": WRONG_CHOICE,
    "on_point": {"an int": 5},
    "quasi_identifiers": WRONG_NAMES,
    "models": WRONG["models"],
    "weights": WRONG["weights"],
}
ATTACKS: dict[str, dict[str, Any]] = {
    "on": WRONG_NAMES,
    "sensitive": NOTHING | {"an unknown name": ["illnes"], "a list of ints": [5]},
    "known": {"an int": 5, "a list": [1], "no such columns": pa.table({"x": [1]})},
    "previous": {"an int": 5, "no such columns": pa.table({"x": [1]})},
    "k": {name: value for name, value in WRONG_INT.items() if name != "huge"},
    "seed": WRONG_INT,
    "hierarchies": {"an int": 5, "a text": "flat", "an int for a column": {"sex": 5}},
    "original": {"an int": 5, "a list": [1]},
    "release": {"an int": 5, "a list": [1], "no such columns": pa.table({"x": [1]})},
}
HIERARCHIES: dict[str, Callable[[], Any]] = {
    **{f"from_dict of {name}": partial(shoal.Hierarchy.from_dict, value) for name, value in NOTHING.items()},
    **{f"from_parents of {name}": partial(shoal.Hierarchy.from_parents, value) for name, value in NOTHING.items()},
    **{f"from_csv of {name}": partial(shoal.Hierarchy.from_csv, value) for name, value in NOTHING.items()},
    **{f"flat of {name}": partial(shoal.Hierarchy.flat, value) for name, value in NOTHING.items()},
    **{
        f"from_prefixes of {name}": partial(shoal.Hierarchy.from_prefixes, value, [2])
        for name, value in NOTHING.items()
    },
    **{
        f"from_intervals of {name}": partial(shoal.Hierarchy.from_intervals, value, 5)
        for name, value in NOTHING.items()
    },
    **{f"from_dates of {name}": partial(shoal.Hierarchy.from_dates, value) for name, value in NOTHING.items()},
    **{
        f"from_intervals with width {name}": partial(shoal.Hierarchy.from_intervals, [1, 2], value)
        for name, value in {"a text": "x", "NaN": NAN, "zero": 0, "negative": -1, "a table": people()}.items()
    },
    "from_intervals of text": lambda: shoal.Hierarchy.from_intervals(people()["town"], 5),
    "from_dates of text": lambda: shoal.Hierarchy.from_dates(people()["town"]),
    "from_prefixes with a text as length": lambda: shoal.Hierarchy.from_prefixes(["ab"], "x"),
    "from_csv of a table's file": lambda: shoal.Hierarchy.from_csv("no-such-file.csv"),
}
RESULTS: dict[str, Callable[[], Any]] = {
    **{f"save to {name}": lambda value=value: release().save(value) for name, value in WRONG_PATHS.items()},
    **{
        f"report.save to {name}": lambda value=value: release().report().save(value)
        for name, value in WRONG_PATHS.items()
    },
    **{
        f"Anonymizer.save to {name}": lambda value=value: shoal.Anonymizer(**ROLES).save(value)
        for name, value in WRONG_PATHS.items()
        if "ending" not in name
    },
    **{
        f"Anonymizer.load of {name}": lambda value=value: shoal.Anonymizer.load(value)
        for name, value in WRONG_PATHS.items()
    },
    "transform of a local release": lambda: release().transform(people()),
    "at of a local release": lambda: release().at(k=2),
    "steps of a local release": lambda: release().steps,
    "save of a column of lists as CSV": lambda: _odd(ODD_COLUMNS["lists"], "keep").save("release.csv"),
}
KEYWORDS: dict[str, Callable[[], Any]] = {
    "misspelt sensitive": lambda: _anonymize(sensitiv=["illness"]),
    "misspelt quasi_identifiers": lambda: _anonymize(quasi_identifier=["age"]),
    "unknown": lambda: _anonymize(zzz=1),
    "no k": lambda: shoal.anonymize(people(), quasi_identifiers=["age"]),
    "no quasi-identifiers": lambda: shoal.anonymize(people(), k=4),
    "compare with an unknown one": lambda: _compare(zzz=1),
}


def api_cases() -> Iterator[ApiCase]:
    """Return all calls of the library."""
    for owner, call, table in (
        ("anonymize", _anonymize, WRONG),
        ("audit", _audit, AUDITS),
        ("compare", _compare, COMPARES),
        ("run_attacks", _attack, ATTACKS),
    ):
        for parameter, values in table.items():
            for name, value in values.items():
                yield ApiCase(f"{owner}: {parameter} is {name}", partial(call, **{parameter: value}))
    for owner, call in (("anonymize", _anonymize), ("audit", _audit), ("compare", _compare)):
        for name, make in TABLES.items():
            if not (
                owner == "audit"
                and name in {"fewer records than k", "mixed values", "no rows", "a pandas table without rows"}
            ):
                yield ApiCase(f"{owner}: the table is {name}", partial(call, make))
    for name, make in ODD_COLUMNS.items():
        for role in ("quasi_identifiers", "sensitive"):
            yield ApiCase(f"anonymize: {role} holds {name}", partial(_odd, make, role))
    for name, make in INFINITE_COLUMNS.items():
        yield ApiCase(f"anonymize: a quasi-identifier holds {name}", partial(_odd, make, "quasi_identifiers"))
    for owner, calls in (("Hierarchy", HIERARCHIES), ("Result", RESULTS), ("keyword", KEYWORDS)):
        for name, call in calls.items():
            yield ApiCase(f"{owner}: {name}", call)


# --- the command line --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CliCase:
    """A call of the command line that must end with exit code 1 or 2 and one sentence; ``{}`` is its folder."""

    name: str
    words: tuple[str, ...]
    files: Callable[[Path], Any] = field(default=lambda _: None, repr=False)


GOOD = (
    "anonymize",
    "{}/people.csv",
    "-k",
    "4",
    "--qi",
    "age,sex,town",
    "--sensitive",
    "illness",
    "--identifier",
    "name",
    "--method",
    "mondrian",
)


def write_people(folder: Path) -> None:
    """Write the table that most calls are about."""
    table = people()
    rows = [",".join(table.column_names), *(",".join(map(str, row.values())) for row in table.to_pylist())]
    (folder / "people.csv").write_text("\n".join(rows) + "\n", "utf-8")


def _file(name: str, content: bytes | str) -> Callable[[Path], Any]:
    def write(folder: Path) -> None:
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)

    return write


def _parquet(make: Callable[[], pa.Table]) -> Callable[[Path], Any]:
    return lambda folder: papq.write_table(make(), folder / "odd.parquet")


TEXT_FILES: dict[str, bytes | str] = {
    "empty": "",
    "blank": "\n\n \n",
    "a blank first line": "\nage,sex\n1,f\n",
    "no rows": "age,sex\n",
    "a header of 200,000 characters": "x" * 200_000 + ",sex\n1,f\n",
    "a header twice": "age,age\n1,2\n",
    "a nameless column": "age,\n1,2\n",
    "ragged rows": "age,sex\n1,f\n2\n3,f,x\n",
    "null bytes": b"age,sex\n\0\0\0,f\n",
    "an unclosed quote": 'age,sex\n"1,f\n2,m\n',
    "half of UTF-16": b"\xff\xfea",
    "a picture": b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40,
    "only commas": ",,,\n,,,\n",
}
RECIPES: dict[str, bytes | str] = {
    "empty": "",
    "no TOML": "k = ",
    "a number of 5,000 digits": "k = " + "9" * 5000,
    "5,000 brackets": "k = " + "[" * 5000,
    "5,000 closed brackets": "quasi_identifiers = " + "[" * 5000 + "]" * 5000,
    "no UTF-8": b"k = 5 # \xff\xfe",
    "an unknown key": 'k = 5\nquasi_identifiers = ["age"]\nsensitiv = ["illness"]\n',
    "k as text": 'k = "5"\nquasi_identifiers = ["age"]\n',
    "k of 1": 'k = 1\nquasi_identifiers = ["age"]\n',
    "k infinite": 'k = inf\nquasi_identifiers = ["age"]\n',
    "no columns": "k = 5\nquasi_identifiers = []\n",
    "columns as a number": "k = 5\nquasi_identifiers = 7\n",
    "an unknown method": 'k = 5\nquasi_identifiers = ["age"]\nmethod = "mondrain"\n',
    "an unknown option": 'k = 5\nquasi_identifiers = ["age"]\nmethod = "mondrian"\n[method_options]\nspeed = 3\n',
    "an option of the wrong kind": 'k = 5\nquasi_identifiers = ["age"]\nmethod = "mondrian"\n[method_options]\nstrict = "maybe"\n',
    "an unknown model": 'k = 5\nquasi_identifiers = ["age"]\n[[models]]\nmodel = "x"\n',
    "a model without a name": 'k = 5\nquasi_identifiers = ["age"]\n[[models]]\nl = 3\n',
    "a model that is a number": 'k = 5\nquasi_identifiers = ["age"]\nmodels = [3]\n',
    "a weight as text": 'k = 5\nquasi_identifiers = ["age"]\n[weights]\nage = "x"\n',
    "a hierarchy as a number": 'k = 5\nquasi_identifiers = ["sex"]\n[hierarchies]\nsex = 3\n',
    "a hierarchy file that is not there": 'k = 5\nquasi_identifiers = ["sex"]\n[hierarchies]\nsex = "gone.csv"\n',
    "a future version": 'version = 99\nk = 5\nquasi_identifiers = ["age"]\n',
}
TREES: dict[str, bytes | str] = {
    "empty": "",
    "lacks a value": "f;*\n",
    "two parents": "f;a;*\nf;b;*\nm;a;*\n",
    "above itself": "f;a;f;*\n",
    "the table itself": f"{SECRET} 1;20;f\n{SECRET} 1;21;f\n",
    "no UTF-8": b"f;\xff\xfe\n",
    "an unclosed quote": '"f;*\n',
    "null bytes": b"\0;*\n",
    "a field of 200,000 characters": "f;" + "x" * 200_000 + ";*\n",
}
OPTIONS: dict[str, tuple[str, ...]] = {
    "k of 1": ("-k", "1"),
    "k as text": ("-k", "many"),
    "k huge": ("-k", str(HUGE)),
    "k of 5,000 digits": ("-k", "9" * 5000),
    "an unknown column": ("--keep", "agee"),
    "a column in two roles": ("--keep", "age"),
    "an unknown method": ("--method", "mondrain"),
    "a flag that is a word": ("--method", "mondrian:strict=maybe"),
    "an unknown option of a method": ("--method", "mondrian:speed=3"),
    "an option without a value": ("--method", "mondrian:strict"),
    "an unknown model": ("--model", "x:l=3"),
    "a model without parameters": ("--model", "l-diversity"),
    "a model with a text": ("--model", "l-diversity:l=x"),
    "a model that cannot hold": ("--model", "l-diversity:l=5"),
    "a weight as text": ("--weight", "age=heavy"),
    "a negative weight": ("--weight", "age=-1"),
    "a weight of NaN": ("--weight", "age=nan"),
    "an unknown kind": ("--kind", "age=numerik"),
    "text as numbers": ("--kind", "town=numeric"),
    "an order that lacks values": ("--kind", "sex=f,x"),
    "an unknown effort": ("--effort", "much"),
    "no effort": ("--effort", "0"),
    "effort of NaN": ("--effort", "nan"),
    "suppression above one": ("--max-suppression", "2"),
    "suppression of NaN": ("--max-suppression", "nan"),
    "widen of NaN": ("--widen", "nan"),
    "an unknown release": ("--release", "rows"),
    "a negative seed": ("--seed", "-1"),
    "a huge seed": ("--seed", str(HUGE)),
    "an unknown encoding": ("--encoding", "utf-99"),
    "an encoding that is none": ("--encoding", "hex"),
    "utf-16 for utf-8": ("--encoding", "utf-16"),
    "utf-32 for utf-8": ("--encoding", "utf-32"),
    "a long separator": ("--separator", "::"),
    "another separator": ("--separator", ";"),
    "a hierarchy that is not there": ("--hierarchy", "sex={}/gone.csv"),
    "a hierarchy that is a folder": ("--hierarchy", "sex={}"),
    "the table as hierarchy": ("--hierarchy", "town={}/people.csv"),
    "a recipe that is not there": ("--recipe", "{}/gone.toml"),
    "a recipe that is a folder": ("--recipe", "{}"),
    "a target that is the table": ("-o", "{}/people.csv", "--force"),
    "a target that is a folder": ("-o", "{}"),
    "a target without an ending": ("-o", "{}/release"),
    "a target in no folder": ("-o", "{}/gone/release.csv"),
    "a target with a name too long": ("-o", "{}/" + "x" * 300 + ".csv"),
    "two targets that are one": ("-o", "{}/r.csv", "--save-recipe", "{}/r.csv"),
    "a report that is the side-car": ("-o", "{}/r.csv", "--sidecar", "--report", "{}/r.csv.json"),
    "a report without an ending": ("--report", "{}/report.doc"),
    "an unknown option": ("--no-such-option",),
}


def cli_cases() -> Iterator[CliCase]:
    """Return all calls of the command line."""
    for name, content in TEXT_FILES.items():
        words = ("anonymize", "{}/odd.csv", "-k", "2", "--qi", "age", "-o", "{}/release.csv")
        yield CliCase(f"a file: {name}", words, _file("odd.csv", content))
        if name in {"no rows", "null bytes"}:  # can be counted
            continue
        yield CliCase(
            f"audit of a file: {name}",
            ("audit", "{}/odd.csv", "--qi", "age", "--require", "k=99"),
            _file("odd.csv", content),
        )
    for name, content in RECIPES.items():
        words = ("anonymize", "{}/people.csv", "--recipe", "{}/odd.toml", "-o", "{}/release.csv")
        yield CliCase(f"a recipe: {name}", words, _file("odd.toml", content))
    for name, content in TREES.items():
        words = (*GOOD, "--hierarchy", "sex={}/odd-tree.csv", "-o", "{}/release.csv")
        yield CliCase(f"a hierarchy: {name}", words, _file("odd-tree.csv", content))
    for name, more in OPTIONS.items():
        yield CliCase(f"an option: {name}", (*GOOD, "-o", "{}/release.csv", *more))
    for name, make in {**ODD_COLUMNS, **INFINITE_COLUMNS}.items():
        words = ("anonymize", "{}/odd.parquet", "-k", "4", "--qi", "odd", "-o", "{}/release.csv")
        yield CliCase(f"a Parquet column of {name}", words, _parquet(make))
