"""UCI Adult in the settings our figures refer to.

X  eight columns: two intervals, two hierarchies, four flat (Xu et al. 2006)
A  nine columns, all by the hierarchy files ARX's users know
S  as X, every text column released as a set
P4 seven columns by hierarchy, class salary-class (Wang, Yu, Chakraborty 2004)
P5 age, sex and native country without hierarchies (Sarrafi Aghdam & Sonehara 2016)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.measuring import data_folder
from shoal.encoding import CodedTable, encode
from shoal.frames import Frame
from shoal.io.files import open_table

TEXT = ["workclass", "marital-status", "occupation", "race", "sex", "native-country"]
_X = ["age", "education-num", *TEXT]
_A = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation", "salary-class"]
_P4 = ["occupation", "education", "native-country", "marital-status", "sex", "race", "workclass"]


def train() -> Frame:
    """Return the 30,162 training records without missing values."""
    return open_table(data_folder() / "adult" / "adult.csv")


def test() -> Frame:
    """Return the 15,060 test records."""
    return open_table(data_folder() / "adult" / "adult_test.csv")


def sample(records: int, seed: int = 0) -> Frame:
    """Return some of the training records, drawn at random, in the file's order."""
    frame = train()
    chosen = np.random.default_rng(seed).choice(frame.records, records, replace=False)
    return replace(frame, table=frame.table.take(np.sort(chosen)))


def hierarchy_file(column: str) -> str:
    """Return the path of a column's hierarchy."""
    return str(data_folder() / "adult" / "hierarchies" / f"{column}.csv")


def setting(name: str) -> dict[str, Any]:
    """Return quasi-identifiers and hierarchies of a setting, as parameters of ``shoal.anonymize``."""
    if name == "X":
        by_file = {column: hierarchy_file(column) for column in ("workclass", "marital-status")}
        return {"quasi_identifiers": _X, "hierarchies": dict.fromkeys(TEXT, "flat") | by_file}
    if name == "S":
        return {"quasi_identifiers": _X, "hierarchies": dict.fromkeys(TEXT, "set")}
    if name == "P5":
        return {"quasi_identifiers": ["age", "sex", "native-country"], "hierarchies": {}}
    columns = {"A": _A, "P4": _P4}[name]
    return {"quasi_identifiers": columns, "hierarchies": {column: hierarchy_file(column) for column in columns}}


def coded(name: str, frame: Frame | None = None) -> CodedTable:
    """Return the training records coded for a setting."""
    chosen = setting(name)
    return encode(frame or train(), chosen["quasi_identifiers"], hierarchies=chosen["hierarchies"])
