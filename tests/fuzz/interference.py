"""Pairs of originals that differ only in what a release hides must give equal public files.

Two tables are grouped alike (labels given). They differ in exact values inside cells, in where a withheld record is and what it has, in
dropped columns and identifiers, in rows filtered away before the call, in unused dictionary entries, in the order of the rows, or
in the path they came from. Everything public is then compared byte by byte: the release in every format, shape of cells and two
databases, its dictionary, codebook and public report, and the table handed out. What a format dates by the clock is masked.
"""

from __future__ import annotations

import contextlib
import json
import logging
import pickle
import re
import sqlite3
import tempfile
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

import shoal
from shoal.methods.base import Grouping, Method, MethodInfo
from shoal.results import result as result_module
from shoal.results import save

FORMATS = ("csv", "csv.gz", "csv.zip", "tsv", "parquet", "arrow", "feather", "xlsx", "sav", "zsav", "dta", "xpt")
PUBLIC = ("public.md", "public.html", "public.json", "codebook.md", "codebook.html")
_CLOCK = (
    re.compile(rb"\d\d [A-Z][a-z]{2} \d\d\d\d:\d\d:\d\d"),  # SPSS: 19 Nov 2609:14:00
    re.compile(rb"\d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d"),  # Stata
    re.compile(rb"\d\d[A-Z]{3}\d\d:\d\d:\d\d:\d\d"),  # SAS
    re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"),  # Excel
)
TREE = {
    "*": {"north": ["Kiel", "Bremen", "Rostock"], "south": ["Ulm", "Passau", "Lindau"], "west": ["Trier", "Aachen"]}
}
TOWNS = ("Kiel", "Bremen", "Rostock", "Ulm", "Passau", "Lindau", "Trier", "Aachen")


@dataclass(frozen=True)
class Given(Method):
    """Groups that were decided beforehand."""

    labels: tuple[int, ...] = ()

    info: ClassVar[MethodInfo] = MethodInfo("given", "Given groups", "local", "Nobody", "O(1)")

    def run(self, table: Any, task: Any) -> Grouping:
        """Return the labels."""
        return Grouping(np.array(self.labels, np.int32))


@dataclass
class Original:
    """A table, its groups, and how it is given to shoal."""

    columns: dict[str, list[Any]]
    types: dict[str, pa.DataType]
    labels: list[int]
    form: str
    """arrow, pandas, polars, sliced, csv or parquet."""
    folder: str = "a"
    unused: tuple[str, ...] = ()
    """Entries of dictionaries that no row has."""
    filtered: tuple[dict[str, Any], ...] = ()
    """Rows that were filtered away before the call."""
    release: str = "ranges"


# --- what originals are made of ------------------------------------------------------------------------------------


def _dates(rng: np.random.Generator, n: int) -> list[Any]:
    return [date(1950, 1, 1) + timedelta(days=int(one)) for one in rng.integers(0, 20_000, n)]


KNOWN: dict[str, tuple[pa.DataType, Callable[[np.random.Generator, int], list[Any]]]] = {
    "age": (pa.int64(), lambda rng, n: rng.integers(18, 90, n).tolist()),
    "height": (pa.float64(), lambda rng, n: np.round(rng.normal(170, 12, n), 1).tolist()),
    "born": (pa.date32(), _dates),
    "town": (
        pa.dictionary(pa.int32(), pa.string()),
        lambda rng, n: [TOWNS[one] for one in rng.integers(0, len(TOWNS), n)],
    ),
    "job": (pa.string(), lambda rng, n: [f"job {one}" for one in rng.integers(0, 9, n)]),
    "school": (pa.string(), lambda rng, n: [("low", "middle", "high")[one] for one in rng.integers(0, 3, n)]),
}
"""Quasi-identifiers: ranges of numbers and dates, nodes, sets, and an order."""
PASSED: dict[str, tuple[pa.DataType, Callable[[np.random.Generator, int], list[Any]]]] = {
    "ill": (
        pa.dictionary(pa.int32(), pa.string()),
        lambda rng, n: [("flu", "gout", "cold")[one] for one in rng.integers(0, 3, n)],
    ),
    "cost": (pa.float64(), lambda rng, n: np.round(rng.gamma(2, 900, n), 2).tolist()),
    "visits": (pa.int64(), lambda rng, n: rng.integers(0, 12, n).tolist()),
    "fee": (pa.decimal128(12, 2), lambda rng, n: [Decimal(int(one)) / 4 for one in rng.integers(0, 900, n)]),
    "seen": (pa.date32(), _dates),
    "note": (pa.string(), lambda rng, n: [f"note {one:05}" for one in rng.permutation(n)]),
    "smokes": (pa.bool_(), lambda rng, n: (rng.random(n) < 0.4).tolist()),
    "at": (pa.timestamp("us"), lambda rng, n: [int(one) * 10**6 for one in rng.integers(10**9, 2 * 10**9, n)]),
}
"""Sensitive and kept columns of every type."""


def draw_original(rng: np.random.Generator) -> Original:
    """Draw a table of some groups and two withheld records."""
    groups = int(rng.integers(2, 6))
    labels = [group for group in range(groups) for _ in range(int(rng.integers(3, 7)))] + [-1, -1]
    labels = [labels[place] for place in rng.permutation(len(labels))]
    n = len(labels)
    known = [
        "age",
        *rng.choice([name for name in KNOWN if name != "age"], int(rng.integers(1, 4)), replace=False).tolist(),
    ]
    passed = [
        "ill",
        *rng.choice([name for name in PASSED if name != "ill"], int(rng.integers(2, 5)), replace=False).tolist(),
    ]
    makers = {name: KNOWN[name] for name in known} | {name: PASSED[name] for name in passed}
    columns = {name: make(rng, n) for name, (_, make) in makers.items()}
    for name in passed:
        if rng.random() < 0.3:
            holes = [
                label >= 0 and rng.random() < 0.15 for label in labels
            ]  # the type that pandas gives a column is declared
            columns[name] = [None if hole else value for hole, value in zip(holes, columns[name], strict=True)]
    columns["name"] = [f"person {row}" for row in range(n)]
    columns["dropped"] = rng.integers(0, 99, n).tolist()
    types = {name: kind for name, (kind, _) in makers.items()} | {"name": pa.string(), "dropped": pa.int64()}
    form = str(rng.choice(["arrow", "pandas", "polars", "sliced", "csv", "parquet"]))
    release = "representatives" if rng.random() < 0.1 else "ranges"
    return Original(columns, types, labels, form, release=release)


# --- pairs ---------------------------------------------------------------------------------------------------------


def vary(rng: np.random.Generator, one: Original) -> tuple[str, Original]:
    """Return another original that differs in one or several things that a release hides, and their names."""
    columns = {name: list(values) for name, values in one.columns.items()}
    other = replace(one, columns=columns, labels=list(one.labels))
    chosen = rng.choice(len(VARIATIONS), int(rng.integers(1, 4)), replace=False)
    for place in sorted(chosen.tolist()):
        VARIATIONS[place](rng, other)
    return "+".join(VARIATIONS[place].__name__ for place in sorted(chosen.tolist())), other


def values_inside_cells(rng: np.random.Generator, one: Original) -> None:
    """Members of a group exchange their values; those inside a range take other values inside it."""
    for group in set(one.labels) - {-1}:
        members = [row for row, label in enumerate(one.labels) if label == group]
        for name in one.columns:
            if name not in KNOWN:
                continue
            values = [one.columns[name][row] for row in members]
            values = _moved_inside(rng, values) if one.release == "ranges" else values
            for row, place in zip(members, rng.permutation(len(members)).tolist(), strict=True):
                one.columns[name][row] = values[place]
    if one.form != "csv":
        return
    one.columns["name"] = one.columns["name"][::-1]


def _moved_inside(rng: np.random.Generator, values: list[Any]) -> list[Any]:
    """Return numbers and dates with the same least and greatest one, and others between them."""
    least, greatest = min(values), max(values)
    if isinstance(least, str):
        return values
    parts = rng.integers(0, 5, len(values)).tolist()
    return [
        value if value in (least, greatest) else least + (greatest - least) * part // 4
        for value, part in zip(values, parts, strict=True)
    ]


def where_the_withheld_are(rng: np.random.Generator, one: Original) -> None:
    """Withheld records have other quasi-identifiers, mostly beyond those of all others."""
    for number, row in enumerate(row for row, label in enumerate(one.labels) if label < 0):
        far = {
            "age": 300 + number,
            "height": 999.5 + number,
            "born": date(1850, 1, 1) + timedelta(days=number),
            "town": TOWNS[int(rng.integers(len(TOWNS)))],
            "job": f"SECRET job {number}",
            "school": ("low", "high")[number % 2],
        }
        for name in far.keys() & one.columns.keys():
            one.columns[name][row] = far[name]


def what_the_withheld_have(rng: np.random.Generator, one: Original) -> None:
    """Withheld records have other sensitive and kept values, which nobody else has."""
    for number, row in enumerate(row for row, label in enumerate(one.labels) if label < 0):
        for name, kind in one.types.items():
            if name in PASSED:
                was = one.columns[name][row]
                one.columns[name][row] = (
                    not was if pa.types.is_boolean(kind) else _unheard_of(name, kind, number, one.form)
                )


def _unheard_of(name: str, kind: pa.DataType, number: int, form: str) -> Any:
    if pa.types.is_dictionary(kind) or pa.types.is_string(kind):
        return f"SECRET {name} {number}"
    if form == "csv" and pa.types.is_integer(kind):
        return 7.5 + number  # whole numbers in all other rows
    if pa.types.is_boolean(kind):
        return True
    if pa.types.is_date(kind):
        return date(1901, 2, 3) + timedelta(days=number)
    return Decimal("-77777.25") - number if pa.types.is_decimal(kind) else -77_777 - number


def dropped_columns(rng: np.random.Generator, one: Original) -> None:
    """Identifiers and columns without a role hold other things."""
    one.columns["name"] = [f"SECRET {value}" for value in one.columns["name"]]
    one.columns["dropped"] = rng.integers(-9_999, 0, len(one.labels)).tolist()


def rows_filtered_away(rng: np.random.Generator, one: Original) -> None:
    """The table is what a filter left of a larger one."""
    rows = rng.integers(0, len(one.labels), 4).tolist()
    one.filtered = tuple(
        {
            name: _unheard_of(name, kind, 50 + place, one.form) if name in PASSED else one.columns[name][row]
            for name, kind in one.types.items()
        }
        for place, row in enumerate(rows)
    )


def unused_entries(rng: np.random.Generator, one: Original) -> None:
    """Dictionaries name values that no row has."""
    one.unused = ("SECRET never had", "AAA never had")


def order_of_rows(rng: np.random.Generator, one: Original) -> None:
    """The rows come in another order."""
    order = rng.permutation(len(one.labels)).tolist()
    one.labels = [one.labels[row] for row in order]
    one.columns = {name: [values[row] for row in order] for name, values in one.columns.items()}


def where_it_lies(rng: np.random.Generator, one: Original) -> None:
    """The file and its hierarchy lie elsewhere."""
    one.folder = "SECRET place"


VARIATIONS = (
    values_inside_cells,
    where_the_withheld_are,
    what_the_withheld_have,
    dropped_columns,
    rows_filtered_away,
    unused_entries,
    order_of_rows,
    where_it_lies,
)


# --- what is published ---------------------------------------------------------------------------------------------


def as_data(one: Original, folder: Path) -> Any:
    """Return an original in the form in which shoal gets it."""
    rows = [dict(zip(one.columns, values, strict=True)) for values in zip(*one.columns.values(), strict=True)]
    text = one.form == "csv"
    every = [*rows, *one.filtered] if one.form in {"arrow", "pandas", "sliced", "polars"} else rows
    arrays = {name: _array([row[name] for row in every], kind, one, text=text) for name, kind in one.types.items()}
    table = pa.table(arrays)
    if one.form == "pandas":
        return table.to_pandas(date_as_object=True).iloc[: len(rows)]
    if one.form == "polars":
        import polars as pl

        return pl.from_arrow(table).head(len(rows))
    table = table.slice(0, len(rows))
    if one.form in {"arrow", "sliced"}:
        return table
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"people.{one.form}"
    if one.form == "csv":
        pacsv.write_csv(table, path)
    else:
        import pyarrow.parquet as papq

        papq.write_table(table, path)
    return path


def _array(values: list[Any], kind: pa.DataType, one: Original, *, text: bool) -> pa.Array:
    if text:
        return pa.array([None if value is None else str(value) for value in values], pa.string())
    if not pa.types.is_dictionary(kind):
        return pa.array(values, kind)
    distinct = [*one.unused[:1], *dict.fromkeys(value for value in values if value is not None), *one.unused[1:]]
    place = {value: code for code, value in enumerate(distinct)}
    codes = [None if value is None else place[value] for value in values]
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(distinct, pa.string()))


def in_order_of_content(released: pa.Table, key: bytes | None = None) -> Any:
    """Return the one order of rows that follows from what they hold; it stands for the fresh random one."""
    texts = [json.dumps(row, default=str, sort_keys=True) for row in released.to_pylist()]
    return np.argsort(np.array(texts), kind="stable")


def released_by(parameters: dict[str, Any], one: Original, folder: Path) -> tuple[Path, dict[str, Any]]:
    """Return the folder in which an original lies, and the parameters with its hierarchies."""
    given = dict(parameters)
    lies = folder / one.folder
    lies.mkdir(parents=True, exist_ok=True)
    if given.pop("tree_file"):
        shoal.Hierarchy.from_dict(TREE).to_csv(lies / "towns.csv")
        given["hierarchies"] = given["hierarchies"] | {"town": str(lies / "towns.csv")}
    given["hierarchies"] = {name: tree for name, tree in given["hierarchies"].items() if name in one.columns}
    return lies, given


def publish(one: Original, folder: Path, formats: Iterable[str], parameters: dict[str, Any]) -> dict[str, bytes]:
    """Return all that is public of the release of an original, by name."""
    lies, given = released_by(parameters, one, folder)
    cells = given.pop("cells")
    with mock.patch.object(save, "shuffled_order", in_order_of_content):
        result = shoal.anonymize(as_data(one, lies), method=Given(tuple(one.labels)), **given)
        assert (np.array(one.labels) < 0).sum() == result.suppressed
        files = {}
        for ending in formats:
            out = folder / "out"
            out.mkdir(exist_ok=True)
            path = result.save(out / f"release.{ending}", force=True, cells=cells)
            files |= {made.name: content_of(made) for made in out.iterdir()}
            for made in out.iterdir():
                made.unlink()
            assert path.name in files
        files |= _public_texts(result) | _in_databases(result, folder)
    return files | {"data": _handed_out(result)}


def _in_databases(result: Any, folder: Path) -> dict[str, bytes]:
    """Return what databases say of a release: their types, enums among them, and the rows."""
    import duckdb

    result.save_to_database(f"duckdb:///{folder / 'release.duckdb'}", "release")
    with duckdb.connect(str(folder / "release.duckdb")) as connection:
        types = connection.execute("describe release").fetchall()
        rows = connection.execute("select * from release").fetchall()
        own = connection.execute("select type_name, labels from duckdb_types() where not internal").fetchall()
    found = {"duckdb": repr((types, own, rows)).encode()}
    if any(pa.types.is_decimal(kind) for kind in result.released.schema.types):  # SQLite has no exact decimals
        return found
    result.save_to_database(f"sqlite:///{folder / 'release.sqlite'}", "release")
    with contextlib.closing(sqlite3.connect(folder / "release.sqlite")) as connection:
        dump = "\n".join(connection.iterdump())
    return found | {"sqlite": dump.encode()}


def _public_texts(result: Any) -> dict[str, bytes]:
    if not hasattr(result_module, "PublicReport"):
        return {}
    report = result.report(audience="public")
    texts = {name: report.text(Path(name)) for name in PUBLIC if name.startswith("public")}
    texts |= {name: report.codebook(Path(name)) for name in PUBLIC if name.startswith("codebook")}
    return {name: text.encode() for name, text in texts.items()}


def _handed_out(result: Any) -> bytes:
    """Return what the memory of the handed-out table holds; its rows keep the order of the input, so they are sorted."""
    data = result.data
    if isinstance(data, pa.Table):
        return pickle.dumps(_sorted(data))
    if hasattr(data, "to_arrow"):  # polars numbers its categories by a register of the whole process
        table = data.to_arrow()
        named = {name: _named(table.column(name)) for name in table.column_names}
        return repr((named, sorted(map(repr, table.to_pylist())))).encode()
    categories = {name: list(data[name].cat.categories) for name in data if hasattr(data[name], "cat")}
    rows = sorted(map(repr, data.astype(object).itertuples(index=False)))
    return repr((list(data.columns), categories, rows, data.attrs)).encode()


def _named(column: pa.ChunkedArray) -> list[str]:
    """Return what the dictionaries of a column name."""
    if not pa.types.is_dictionary(column.type):
        return []
    return sorted({str(one) for chunk in column.chunks for one in chunk.dictionary.to_pylist()})


def _sorted(table: pa.Table) -> pa.Table:
    return table.take(pa.array(in_order_of_content(table)))


def content_of(path: Path) -> bytes:
    """Return the bytes of a file without the time at which it was written."""
    if path.suffix == ".xlsx":
        with zipfile.ZipFile(path) as archive:
            content = b"".join(name.encode() + archive.read(name) for name in sorted(archive.namelist()))
    else:
        content = path.read_bytes()
    for pattern in _CLOCK:
        content = pattern.sub(b"(clock)", content)
    return content


def draw_parameters(rng: np.random.Generator, one: Original) -> dict[str, Any]:
    """Draw how an original is released."""
    known = [name for name in KNOWN if name in one.columns]
    passed = [name for name in PASSED if name in one.columns and name != "ill"]
    treat = {"cost": shoal.Round(100)} if "cost" in passed and rng.random() < 0.4 else {}
    if "visits" in passed and rng.random() < 0.4 and one.form != "csv":
        treat["visits"] = shoal.TopCode(value=8)
    tree_file = bool("town" in known and rng.random() < 0.5)
    return {
        "k": 3,
        "quasi_identifiers": known,
        "sensitive": ["ill"],
        "keep": passed,
        "identifiers": ["name"],
        "kinds": {"school": ["low", "middle", "high"]} if "school" in known else {},
        "hierarchies": {"job": "set"} | ({} if tree_file else {"town": shoal.Hierarchy.from_dict(TREE)}),
        "tree_file": tree_file,
        "ends": ["round", "exact"][int(rng.integers(2))],
        "release": one.release,
        "max_suppression": 0.9,
        "treat": treat,
        "cells": ["text", "text", "columns", "midpoints"][int(rng.integers(4))],
    }


def differences(seed: list[int], formats: int = 3) -> tuple[str, list[str]]:
    """Return how the two originals of a pair differ, and which public files do."""
    rng = np.random.default_rng(seed)
    one = draw_original(rng)
    words, other = vary(rng, one)
    parameters = draw_parameters(rng, one)
    if parameters["release"] == "representatives":
        parameters.pop("ends")
    chosen = rng.choice(FORMATS, formats, replace=False).tolist()
    told = f"{one.form}, {words}, {parameters['release']}"
    return told, pair_of([one, other], lambda each, folder: publish(each, folder, chosen, parameters))


def pair_of(pair: Sequence[Original], publish: Callable[[Original, Path], dict[str, bytes]]) -> list[str]:
    """Return what differs of all that is public of two originals."""
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second, listening() as said:
        files = [publish(each, Path(folder)) for each, folder in zip(pair, (first, second), strict=True)]
    names = sorted(set(files[0]) | set(files[1]))
    found = [name for name in names if files[0].get(name) != files[1].get(name)]
    return [*found, *(["what was said"] if "SECRET" in "".join(said) else [])]


@contextlib.contextmanager
def listening() -> Iterator[list[str]]:
    """Give the texts of all warnings and of everything logged, which may name no cell of a withheld record."""
    said: list[str] = []
    handler = logging.Handler(logging.DEBUG)
    handler.emit = lambda record: said.append(record.getMessage())
    log = logging.getLogger("shoal")
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield said
            said.extend(str(one.message) for one in caught)
    finally:
        log.removeHandler(handler)
        log.setLevel(level)


def run(
    pairs: int,
    seed: int,
    say: Callable[[str], None],
    differ: Callable[[list[int]], tuple[str, list[str]]] = differences,
) -> Counter[str]:
    """Try many pairs; tell of those whose public files differ."""
    tally = Counter[str]()
    for number in range(pairs):
        told, found = differ([seed, number])
        tally["tried"] += 1
        if found:
            tally["violations"] += 1
            say(f"pair {[seed, number]} ({told}): {', '.join(found)} differ")
        if number % 200 == 199:
            say(f"{number + 1} pairs: {dict(tally)}")
    return tally


def seeds(begin: int, end: int) -> Iterator[list[int]]:
    """Give the seeds of the short form."""
    yield from ([5, number] for number in range(begin, end))
