"""Calls that must be refused in a sentence: every parameter with every kind of nonsense, and files no one should write."""

from __future__ import annotations

import contextlib
import gzip
import inspect
import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as papq

import shoal
from shoal.errors import ShoalError

TABLE = pa.table({"age": [30, 31, 32, 33, 40, 41], "job": list("aabbab"), "ill": list("xyxyxy")})
RIGHT: dict[str, Any] = {"k": 2, "quasi_identifiers": ["age", "job"], "sensitive": ["ill"], "method": "mondrian"}


class Strange:
    """An object no parameter is made for."""


def nonsense() -> list[Any]:
    """Return values that hardly any parameter takes."""
    circle: dict[str, Any] = {}
    circle["a"] = circle
    return [
        None, -1, 0, 1.5, 10**400, -(10**400), float("nan"), float("inf"), True, "", "nope", "\ud800", "x" * 10_000, b"bytes", [], {}, set(),
        [None], [1], ["nope"], [[]], [["age"]], ["age", "age"], {"age": None}, {"age": "nope"}, {"nope": 1}, {"age": float("nan")}, {1: 2}, {None: None},
        {"age": 10**400}, {"age": []}, {"age": circle}, circle, Strange(), Strange, object(), len, shoal.Mondrian, shoal.LDiversity(2), [shoal.LDiversity],
        range(3), np.array([1, 2]), np.float64("nan"), pa.table({"a": [1]}), pa.array([1]), (x for x in "ab"), 3 + 4j, slice(1), NotImplemented, ...,
    ]  # fmt: skip


PARAMETERS = tuple(name for name in inspect.signature(shoal.anonymize).parameters if name not in {"data", "misspelt"})
"""Every parameter there is, also those that are added later."""


def wrong_parameters() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield a call for each parameter and each piece of nonsense; some are right, and must then work."""
    for name in PARAMETERS:
        for place, value in enumerate(nonsense()):
            if name == "progress" and value is len:
                continue  # a function of the user's own that fails may say so itself
            yield f"{name} = nonsense {place}", lambda name=name, place=place: _with(name, nonsense()[place])


def _with(name: str, value: Any) -> Any:
    return shoal.anonymize(TABLE, **(RIGHT | {name: value}))


def wrong_tables() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield calls with tables that are none, or hold what no column should."""
    for place in range(len(nonsense())):
        yield f"table = nonsense {place}", lambda place=place: shoal.anonymize(nonsense()[place], **RIGHT)
    columns = {
        "list": pa.array([[1]] * 6),
        "struct": pa.array([{"a": 1}] * 6),
        "map": pa.array([[("a", 1)]] * 6, pa.map_(pa.string(), pa.int8())),
        "binary": pa.array([b"\xff"] * 6),
        "null": pa.nulls(6),
        "far": pa.array([2**62] * 6, pa.timestamp("s")),
        "infinite": pa.array([float("inf")] * 6),
        "half": pa.array(np.array([1, 2, 3, 4, 5, 6], np.float16)),
        "long text": pa.array(["x" * 100_000] * 6),
    }
    for name, column in columns.items():
        for role in ("age", "ill"):
            table = TABLE.set_column(TABLE.column_names.index(role), role, column)
            yield f"{name} as {role}", lambda table=table: shoal.anonymize(table, **RIGHT)
    yield "doubled name", lambda: shoal.anonymize(pa.table([[1], [2]], names=["a", "a"]), k=2, quasi_identifiers=["a"])


def wrong_methods_and_models() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the parameters of models and methods with nonsense."""
    makers: dict[str, Callable[[Any], Any]] = {
        "LDiversity": shoal.LDiversity,
        "TCloseness": shoal.TCloseness,
        "AlphaK": shoal.AlphaK,
        "BetaLikeness": shoal.BetaLikeness,
        "KAnonymity": shoal.KAnonymity,
        "TopDown": lambda value: shoal.TopDown(rounds=value),
        "VMDAV": lambda value: shoal.VMDAV(gamma=value),
        "MDAV": lambda value: shoal.MDAV(scale=value),
        "Hierarchy.from_dict": shoal.Hierarchy.from_dict,
        "Hierarchy.flat": shoal.Hierarchy.flat,
        "Hierarchy.suggest": shoal.Hierarchy.suggest,
        "Hierarchy.from_intervals": lambda value: shoal.Hierarchy.from_intervals(value, [5, 10]),
        "Hierarchy.from_prefixes": lambda value: shoal.Hierarchy.from_prefixes(value, [2, 0]),
        "Hierarchy.from_dates": shoal.Hierarchy.from_dates,
        "Round": shoal.Round,
        "TopCode": lambda value: shoal.TopCode(share=value),
        "Noise": shoal.Noise,
        "ShiftDates": lambda value: shoal.ShiftDates(days=value),
        "Pram": shoal.Pram,
        "Hierarchy.from_csv": lambda value: shoal.Hierarchy.from_csv(value) if isinstance(value, str) else None,
        "audit": lambda value: shoal.audit(TABLE, quasi_identifiers=value),
        "save": lambda value: shoal.anonymize(TABLE, **RIGHT).save(value) if isinstance(value, str) else None,
    }
    for name, make in makers.items():
        for place in range(len(nonsense())):
            yield f"{name}(nonsense {place})", lambda make=make, place=place: make(nonsense()[place])


def attempt(call: Callable[[], Any]) -> tuple[str, str]:
    """Return what became of a call: "done", "refused" or "crash", and in the last case the exception."""
    try:
        call()
    except ShoalError as fault:
        return ("refused", "") if len(str(fault)) > 10 else ("crash", "a refusal without a sentence")
    except Exception as fault:  # noqa: BLE001
        return "crash", f"{type(fault).__name__}: {str(fault)[:200]}"
    return "done", ""


# --- the command line --------------------------------------------------------------------------------------------

_NESTED = "x = " + "[" * 5000 + "]" * 5000


def bad_files(folder: Path) -> list[Path]:
    """Write files that cannot be tables, or hardly."""
    contents: dict[str, bytes] = {
        "empty.csv": b"",
        "blank.csv": b"\n\n\n",
        "blank_first.csv": b"\nage,job\n1,a\n2,b\n",
        "header.csv": b"age,job\n",
        "one.csv": b"age,job\n1,a\n",
        "long_header.csv": b"a" * 200_000 + b",job\n1,a\n2,b\n",
        "long_field.csv": b"age,job\n" + b"1" * 200_000 + b",a\n2,b\n",
        "ragged.csv": b"age,job\n1,a\n2\n3,c,d\n",
        "doubled.csv": b"age,age\n1,2\n3,4\n",
        "unnamed.csv": b",job\n1,a\n2,b\n",
        "null.csv": b"age,job\n1,a\x00\n2,b\n",
        "latin.csv": "age,job\n1,ü\n2,ö\n".encode("latin-1"),
        "utf16.csv": "age,job\n1,a\n2,b\n".encode("utf-16")[:-1],
        "quote.csv": b'age,job\n1,"a\n2,b\n',
        "noise.csv": bytes(range(256)) * 20,
        "noise.parquet": b"PAR1" + bytes(200) + b"PAR1",
        "text.parquet": b"age,job\n1,a\n",
        "cut.csv.gz": gzip.compress(b"age,job\n" + b"1,a\n" * 500)[:40],
        "text.csv.gz": b"age,job\n1,a\n2,b\n",
        "name.xyz": b"age,job\n1,a\n2,b\n",
        "recipe_digits.toml": b"k = " + b"9" * 5000,
        "recipe_nested.toml": _NESTED.encode(),
        "recipe_wrong.toml": b"k = 'two'\nquasi_identifiers = 3\n",
        "recipe_binary.toml": bytes(range(256)),
        "recipe_empty.toml": b"",
    }  # fmt: skip
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    for name, column in (("list", [[1], [2]]), ("struct", [{"a": 1}] * 2), ("binary", [b"\xff", b"\x00"])):
        papq.write_table(pa.table({"age": column, "job": ["a", "b"]}), folder / f"{name}.parquet")
    return sorted(folder.iterdir())


def wrong_commands(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield command lines that must end with exit code 2 (or 0 or 1 where they happen to be right)."""
    good = folder / "good.csv"
    good.write_text("age,job\n" + "\n".join(f"{30 + n % 7},{'ab'[n % 2]}" for n in range(20)) + "\n", "utf-8")
    out = str(folder / "out.csv")
    for path in bad_files(folder / "bad"):
        if path.name.startswith("recipe"):
            yield f"recipe {path.name}", ["anonymize", str(good), "--recipe", str(path), "-o", out]
            continue
        for words in (
            ["inspect", str(path)],
            ["audit", str(path), "--qi", "age"],
            ["anonymize", str(path), "-k", "2", "--qi", "age,job", "-o", out],
        ):
            yield f"{words[0]} {path.name}", words
        yield (
            f"hierarchy {path.name}",
            ["anonymize", str(good), "-k", "2", "--qi", "age,job", "--hierarchy", f"job={path}", "-o", out],
        )
    base = ["anonymize", str(good), "-k", "2", "--qi", "age,job", "-o", out]
    for words in (
        ["--method", "nope"], ["--method", "mondrian:strict=maybe"], ["--method", "mondrian:"], ["--model", "nope"], ["--model", "l-diversity:l=x"],
        ["--effort", "much"], ["--effort", "-1"], ["--effort", "1e400"], ["--seed", "-1"], ["--seed", "x"], ["--widen", "7"], ["--max-suppression", "2"],
        ["--qi", "age"], ["--sensitive", "nope"], ["--keep", "age"], ["--identifier", ""], ["--hierarchy", "job"], ["--hierarchy", "job=nope.csv"],
        ["--encoding", "nope"], ["--encoding", "utf-16"], ["--separator", "ab"], ["--nope"], ["--report", out], ["--save-recipe", out],
        ["--save-recipe", str(good)], ["-k", "1"], ["-k", "x"], ["-k", "9" * 400], ["-k", "21"], ["--weight", "age=x"], ["--kind", "age=nope"],
    ):  # fmt: skip
        yield f"options {' '.join(words)[:40]}", [*base, *words]
    yield "no command", []
    yield "unknown command", ["nope"]
    yield "a folder", ["inspect", str(folder)]
    yield "no file", ["inspect", str(folder / "none.csv")]
    yield "long name", ["anonymize", str(good), "-k", "2", "--qi", "age", "-o", str(folder / ("x" * 245 + ".csv"))]


def attempt_command(words: list[str], folder: Path) -> tuple[str, str]:
    """Run a command line in this process; anything but a sentence and a proper exit code is a crash."""
    from shoal.__main__ import main

    before, argv = sorted(folder.rglob("*")), sys.argv
    sys.argv = ["shoal", *words]
    code: Any = 0
    heard = io.StringIO()
    try:
        with contextlib.redirect_stdout(heard), contextlib.redirect_stderr(heard):
            main()
    except SystemExit as end:
        code = end.code
    except BaseException as fault:  # noqa: BLE001
        return "crash", f"{type(fault).__name__}: {str(fault)[:200]}"
    finally:
        sys.argv = argv
    after = sorted(folder.rglob("*"))
    for path in set(after) - set(before):
        path.unlink()
    if code not in {0, 1, 2, None} or "Traceback" in heard.getvalue():
        return "crash", f"exit code {code}: {heard.getvalue()[-300:]}"
    if code and after != before:
        return "crash", f"exit code {code}, and a file was written"
    return ("refused" if code else "done"), ""
