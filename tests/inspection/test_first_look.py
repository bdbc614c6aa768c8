"""A first look at a table."""

from __future__ import annotations

import pyarrow as pa
import pytest

from shoal.errors import DataError
from shoal.frames import Frame
from shoal.inspection import inspect_table


def column(table, name):
    return next(one for one in inspect_table(table).columns if one.name == name)


def test_a_repeating_identifier_is_the_key_of_a_person():
    found = inspect_table(pa.table({"nr": [n // 8 for n in range(400)], "year": [n % 8 for n in range(400)]}))
    assert found.person.name == "nr"
    assert "several rows" in found.person.reason
    assert found.as_dict()["person"] == "nr"
    alone = inspect_table(pa.table({"nr": list(range(400)), "year": [1] * 400}))
    assert alone.person is None


def test_free_text_is_to_be_removed():
    notes = [f"the patient number {n} came with a cough" for n in range(50)]
    found = column(pa.table({"remarks": notes}), "remarks")
    assert (found.role, found.reason) == ("identifier", "free text")


def test_categories_coded_as_numbers_are_suggested_as_nominal():
    table = pa.table({"religion": [n % 6 + 1 for n in range(60)], "age": [20 + n % 30 for n in range(60)]})
    assert column(table, "religion").suggested_kind == "nominal"
    assert column(table, "age").suggested_kind == ""


def test_what_text_is_understood_as_is_shown():
    found = column(pa.table({"born": ["30.04.1992", "01.02.1990"] * 20}), "born")
    assert (found.type, found.reading) == ("date", "dates written %d.%m.%Y")
    unclear = column(pa.table({"born": ["04/05/1992", "01/02/1990"] * 20}), "born")
    assert "%d/%m/%Y or %m/%d/%Y" in unclear.reading


def test_a_first_column_without_a_name_is_an_identifier():
    frame = Frame(pa.table({"row": [str(n) for n in range(40)], "age": [1] * 40}), notes=("The first column …",))
    found = inspect_table(frame)
    assert found.named("identifier") == ["row"]
    assert found.notes == ("The first column …",)


def test_an_empty_table_is_refused():
    with pytest.raises(DataError, match="no rows"):
        inspect_table(pa.table({"a": pa.array([], pa.int64())}))


def test_columns_of_lists_and_records_are_named_for_what_they_are_and_looked_at_no_further():
    table = pa.table({"age": [30, 31], "visits": [[1], [2, 3]], "where": [{"a": 1}, None], "scan": [b"\xff", b"\x00"]})
    seen = {column.name: column for column in inspect_table(table).columns}
    assert [seen[name].type for name in ("visits", "where", "scan")] == ["nested"] * 3
    assert {seen[name].role for name in ("visits", "where", "scan")} == {"other"}
    assert seen["where"].missing == 1
    with pytest.raises(DataError, match="column 'visits' holds cells of type list"):
        inspect_table(table, ["visits"])
