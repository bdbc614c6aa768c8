"""Wrong calls of the command line, each with a part of what is said. ``{}`` stands for the folder of a call."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as papq

from tests.mistakes.library import HUGE, ODD_COLUMNS, SECRET, people

BASE = ("anonymize", "{}/people.csv", "-k", "4", "--qi", "age,sex,town", "--sensitive", "illness", "--identifier", "name", "--method", "mondrian")  # fmt: skip
GOOD = (*BASE, "-o", "{}/release.csv")
"""A call that succeeds."""
_QI = 'k = 5\nquasi_identifiers = ["age"]\n'
_METHODS = "The option --method must be one of"
TEXT_FILES: dict[str, tuple[bytes | str, str]] = {
    "empty": ("", "The file 'odd.csv' is empty."),
    "blank": ("\n\n \n", "The file 'odd.csv' is empty."),
    "a blank first line": ("\nage,sex\n1,f\n", "The first line of 'odd.csv' is blank."),
    "no rows": ("age,sex\n", "The table has no rows."),
    "a header of 200,000 characters": ("x" * 200_000 + ",sex\n1,f\n", "cannot be read as cells"),
    "a header twice": ("age,age\n1,2\n", "two columns named 'age'"),
    "a nameless column": ("age,\n1,2\n", "has no name"),
    "ragged rows": ("age,sex\n1,f\n2\n3,f,x\n", "Row 3 of 'odd.csv' has 1 fields, but the header has 2"),
    "null bytes": (b"age,sex\n\0\0\0,f\n", "is not text in utf-8"),
    "an unclosed quote": ('age,sex\n"1,f\n2,m\n', "Row 2 of 'odd.csv' has 1 fields"),
    "half of UTF-16": (b"\xff\xfea", "is blank"),
    "a picture": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40, "is not text in cp1252"),
    "only commas": (",,,\n,,,\n", "has no name"),
}
RECIPES: dict[str, tuple[bytes | str, str]] = {
    "empty": ("", "is wrong at 'k'"),
    "no TOML": ("k = ", "is not valid TOML"),
    "a number of 5,000 digits": ("k = " + "9" * 5000, "cannot be read as TOML"),
    "5,000 brackets": ("k = " + "[" * 5000, "cannot be read as TOML"),
    "5,000 closed brackets": ("quasi_identifiers = " + "[" * 5000 + "]" * 5000, "cannot be read as TOML"),
    "no UTF-8": (b"k = 5 # \xff\xfe", "cannot be read as TOML"),
    "all bytes": (bytes(range(256)), "cannot be read as TOML"),
    "an unknown key": (_QI + 'sensitiv = ["illness"]\n', "unknown key 'sensitiv'. Hint: did you mean 'sensitive'?"),
    "k as text": ('k = "5"\nquasi_identifiers = ["age"]\n', "is wrong at 'k'"),
    "k of 1": ('k = 1\nquasi_identifiers = ["age"]\n', "is wrong at 'k'"),
    "k infinite": ('k = inf\nquasi_identifiers = ["age"]\n', "is wrong at 'k'"),
    "no columns": ("k = 5\nquasi_identifiers = []\n", "is wrong at '--qi'"),
    "columns as a number": ("k = 5\nquasi_identifiers = 7\n", "is wrong at '--qi'"),
    "an unknown method": (_QI + 'method = "mondrain"\n', _METHODS),
    "an unknown option": (_QI + 'method = "mondrian"\n[method_options]\nspeed = 3\n', "options ['speed']"),
    "an option of the wrong kind": (
        _QI + 'method = "mondrian"\n[method_options]\nstrict = "maybe"\n',
        "must be True or False",
    ),
    "an unknown model": (_QI + '[[models]]\nmodel = "x"\n', "must be one of 'k-anonymity'"),
    "a model without a name": (_QI + "[[models]]\nl = 3\n", "a model without a name"),
    "a model that is a number": (_QI + "models = [3]\n", "is wrong at 'models.0'"),
    "a weight as text": (_QI + '[weights]\nage = "x"\n', "is wrong at 'weights.age.float'"),
    "a hierarchy as a number": (_QI + "[hierarchies]\nage = 3\n", "is wrong at 'hierarchies.age'"),
    "a hierarchy that is not there": (_QI + '[hierarchies]\nage = "gone.csv"\n', "No such file"),
    "a future version": (f"version = 99\n{_QI}", "is wrong at 'version'"),
}
TREES: dict[str, tuple[bytes | str, str]] = {
    "empty": ("", "has no values"),
    "lacks a value": ("f;*\n", "lacks 1 of its values (12 rows, the first is row 2)"),
    "two parents": ("f;a;*\nf;b;*\nm;a;*\n", "Line 2: A label has two parents"),
    "above itself": ("f;a;f;*\n", "Line 1: A label stands above itself"),
    "the table itself": (f"{SECRET} 1;20;f\n{SECRET} 1;21;f\n", "Line 2"),
    "no UTF-8": (b"f;\xff\xfe\n", "cannot be read as 'utf-8-sig'"),
    "an unclosed quote": ('"f;*\n', "Line 1"),
    "null bytes": (b"\0;*\n", "lacks 2 of its values"),
    "a field of 200,000 characters": ("f;" + "x" * 200_000 + ";*\n", "lacks 1 of its values"),
}
OPTIONS: dict[tuple[str, ...], str] = {
    ("-k", "1"): "Invalid value for '-k'",
    ("-k", "-3"): "Invalid value for '-k'",
    ("-k", "many"): "Invalid value for '-k'",
    ("-k", str(HUGE)): "The option -k must be an int of at least 2. Got an int of more than 60 digits",
    ("-k", "9" * 5000): "is not a valid integer range",
    ("-k", "25"): "The option -k must be at most the number of records, 24. Got 25 instead.",
    ("--keep", "agee"): "The column 'agee' given as to keep is not in the table.",
    ("--keep", "age"): "The column 'age' has two roles, --qi and keep. Give it one.",
    ("--qi", "age"): "The column 'age' is named twice",
    ("--identifier", "nope"): "is not in the table",
    (
        "--weight",
        "agee=2",
    ): "The option --weight names 'agee', which is not a quasi-identifier. Hint: did you mean 'age'?",
    ("--hierarchy", "agee=flat"): "The option --hierarchy names 'agee'",
    ("--kind", "agee=date"): "The option --kind names 'agee'",
    ("--method", "mondrain"): _METHODS,
    ("--method", "mondrian:strict=maybe"): "must be True or False",
    ("--method", "mondrian:speed=3"): "The method 'mondrian' does not take all of the options ['speed']",
    ("--method", "mondrian:strict"): "Write parameters as mondrian:name=value",
    ("--model", "k-anonimity:k=3"): "must be one of 'k-anonymity'",
    ("--model", "k-anonymity:q=3"): "The privacy model 'k-anonymity' does not take just the parameters ['q']",
    ("--model", "k-anonymity:3"): "Write parameters as k-anonymity:name=value",
    ("--model", "l-diversity"): "does not take just the parameters []",
    ("--model", "l-diversity:l=x"): "must be an int of at least 2. Got 'x' instead.",
    ("--model", "l-diversity:l=5"): "cannot hold",
    ("--model", "k-anonymity:k=100"): "Nothing was released",
    ("--weight", "age"): "Write COLUMN=VALUE, such as age=8.",
    ("--weight", "age=heavy"): "A weight must be a number. Got 'heavy' instead.",
    ("--weight", "age=-1"): "of 'age' must be a finite number of at least 0 and at most 1e+09. Got -1.0 instead.",
    ("--weight", "age=nan"): "must be a finite number",
    ("--kind", "age=numerik"): "must be 'numeric', 'date', 'nominal'",
    ("--kind", "town=numeric"): "must hold numbers. Got other text in 24 rows.",
    ("--kind", "sex=f,x"): "lacks 1 of its values",
    ("--effort", "much"): "Give fast, balanced, best or a number of seconds.",
    ("--effort", "0"): "The option --effort must be a finite number above 0.",
    ("--effort", "nan"): "must be a finite number above 0",
    ("--effort", "1e400"): "must be a finite number above 0",
    ("--max-suppression", "2"): "is not in the range",
    ("--max-suppression", "nan"): "at least 0 and at most 1",
    ("--widen", "7"): "is not in the range",
    ("--widen", "nan"): "at least 0 and at most 1",
    ("--release", "rows"): "'rows' is not one of",
    ("--seed", "-1"): "Invalid value for '--seed'",
    ("--seed", "x"): "Invalid value for '--seed'",
    ("--seed", str(HUGE)): "an int of more than 60 digits",
    ("--encoding", "utf-99"): "Got 'utf-99'",
    ("--encoding", "hex"): "is unknown. Got 'hex'.",
    ("--encoding", "utf-16"): "cannot be read",
    ("--encoding", "utf-32"): "is blank",
    ("--separator", "::"): "Give one character, or the word tab.",
    ("--separator", ";"): "Its columns are: name,age,sex,town,illness.",
    ("--hierarchy", "sex"): "Write COLUMN=VALUE, such as job=job.csv.",
    ("--hierarchy", "=flat"): "Write COLUMN=VALUE",
    ("--hierarchy", "sex={}/gone.csv"): "The hierarchy 'gone.csv' cannot be read: No such file or directory.",
    ("--hierarchy", "sex={}"): "cannot be read: Is a directory.",
    ("--hierarchy", "town={}/people.csv"): "Line 4: A label has two parents",
    ("--recipe", "{}/gone.toml"): "The recipe 'gone.toml' does not exist.",
    ("--recipe", "{}"): "cannot be read: Is a directory.",
    ("-o", "{}/people.csv", "--force"): "The target 'people.csv' is an input of this call.",
    ("-o", "{}"): "is a folder. Name a file.",
    ("-o", "{}/release"): "has no known ending. Hint: use one of .arrow, .csv,",
    ("-o", "{}/gone/release.csv"): "The folder of the target 'release.csv' does not exist.",
    ("-o", "{}/people.csv/release.csv"): "The folder of the target 'release.csv' does not exist.",
    ("--save-recipe", "{}/gone/recipe.toml"): "The folder of the target 'recipe.toml' does not exist.",
    ("-o", "{}/" + "x" * 300 + ".csv"): "cannot be the name of a file here",
    ("-o", "{}/r.csv", "--save-recipe", "{}/r.csv"): "The targets 'r.csv' and 'r.csv' are one file.",
    ("-o", "{}/r.csv", "--report", "{}/r.datapackage.json"): "'r.datapackage.json' are one file.",
    ("--report", "{}/report.doc"): "The report 'report.doc' has no known ending.",
    ("--no-such-option",): "No such option",
}
"""Options after those of a good call."""
OTHERS: dict[tuple[str, ...], str] = {
    ("anonymize", "{}/gone.csv", "-k", "5", "--qi", "age"): "The file 'gone.csv' does not exist.",
    ("audit", "{}/gone.csv", "--qi", "age"): "The file 'gone.csv' does not exist.",
    ("inspect", "{}/gone.csv"): "The file 'gone.csv' does not exist. Hint: check the path",
    ("anonymize", "{}/people.csv", "--qi", "age"): "The size of the smallest group is not given. Hint: add -k 10",
    (
        "anonymize",
        "{}/people.csv",
        "-k",
        "5",
        "--keep",
        "age",
    ): "The option --qi must name at least one column. Got none.",
    ("no-such-command",): "No such command",
}


class Mistake(NamedTuple):
    """A call that must end with a sentence, and a part of it."""

    name: str
    words: tuple[str, ...]
    says: str
    write: Callable[[Path], None] = lambda _: None


def write_people(folder: Path) -> None:
    """Write the table that most calls are about."""
    table = people()
    rows = [",".join(table.column_names), *(",".join(map(str, row.values())) for row in table.to_pylist())]
    (folder / "people.csv").write_text("\n".join(rows) + "\n", "utf-8")


def _file(name: str, content: bytes | str) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)

    return write


def mistakes() -> Iterator[Mistake]:
    """Yield all calls that must be refused."""
    drop = ("--others", "drop", "-o", "{}/release.csv")
    for name, (content, says) in TEXT_FILES.items():
        write = _file("odd.csv", content)
        yield Mistake(f"a file: {name}", ("anonymize", "{}/odd.csv", "-k", "2", "--qi", "age", *drop), says, write)
        if name not in {"no rows", "null bytes"}:  # which can be counted
            words = ("audit", "{}/odd.csv", "--qi", "age", "--require", "k=99")
            yield Mistake(f"audit of a file: {name}", words, says, write)
    for name, (content, says) in RECIPES.items():
        words = ("anonymize", "{}/people.csv", "--recipe", "{}/odd.toml", *drop)
        yield Mistake(f"a recipe: {name}", words, says, _file("odd.toml", content))
    for name, (content, says) in TREES.items():
        yield Mistake(f"a hierarchy: {name}", (*GOOD, "--hierarchy", "sex={}/odd"), says, _file("odd", content))
    for more, says in OPTIONS.items():
        yield Mistake(f"options: {' '.join(more)[:40]}", (*GOOD, *more), says)
    for words, says in OTHERS.items():
        yield Mistake(" ".join(words), words, says)
    for name, (make, says) in ODD_COLUMNS.items():

        def write_odd(folder: Path, make: Callable[[], pa.Table] = make) -> None:
            papq.write_table(make(), folder / "odd.parquet")

        words = ("anonymize", "{}/odd.parquet", "-k", "4", "--qi", "odd", *drop)
        yield Mistake(f"a Parquet column of {name}", words, says, write_odd)


ODD_FILES: dict[str, bytes] = {
    "one.csv": b"age,sex\n1,a\n",
    "long_field.csv": b"age,sex\n" + b"1" * 200_000 + b",a\n2,b\n",
    "latin.csv": "age,sex\n1,ü\n2,ö\n".encode("latin-1"),
    "utf16.csv": "age,sex\n1,a\n2,b\n".encode("utf-16")[:-1],
    "noise.csv": bytes(range(256)) * 20,
    "noise.parquet": b"PAR1" + bytes(200) + b"PAR1",
    "text.parquet": b"age,sex\n1,a\n",
    "cut.csv.gz": gzip.compress(b"age,sex\n" + b"1,a\n" * 500)[:40],
    "text.csv.gz": b"age,sex\n1,a\n2,b\n",
    "name.xyz": b"age,sex\n1,a\n2,b\n",
}
"""Files that can be read, or not: taken or refused in a sentence, as a table and as a hierarchy."""
