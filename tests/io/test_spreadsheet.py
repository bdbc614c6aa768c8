from __future__ import annotations

import pyarrow as pa
import pytest

from shoal.io.spreadsheet import formula_columns, without_formulas

FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "-", "=", "+1a"]
HARMLESS = ["5", "-5", "+3.25", "-1e-5", "-,5", "a=b", " =1", "", "[-5-3]", "{=1, 2}", None]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
def test_formulas_are_counted_and_numbers_are_none(kind):
    table = pa.table({"note": pa.array([*FORMULAS, *HARMLESS]).cast(kind), "n": pa.array([-1] * 20)})
    assert formula_columns(table) == {"note": len(FORMULAS)}


def test_a_column_name_can_be_a_formula():
    assert formula_columns(pa.table({"=A1": ["x"]})) == {"=A1": 1}
    assert without_formulas(pa.table({"=A1": ["x"]})).column_names == ["'=A1"]


def test_made_safe_there_is_no_formula_and_nothing_else_changes():
    safe = without_formulas(pa.table({"note": [*FORMULAS, *HARMLESS], "n": pa.array([-1] * 20)}))
    assert formula_columns(safe) == {}
    assert safe.column("note").to_pylist() == [*("'" + text for text in FORMULAS), *HARMLESS]
    assert safe.column("n").to_pylist() == [-1] * 20


def test_two_texts_stay_two_texts():
    texts = ["=a", "'=a", "''=a", "'a"]
    assert len(set(without_formulas(pa.table({"t": texts})).column("t").to_pylist())) == 4
