"""A release on Spark never takes the place of what it was made from."""

from __future__ import annotations

import pyarrow.parquet as papq
import pytest

import shoal.spark
from shoal.engines.spark.targets import overlap
from shoal.errors import FileError
from tests.engines.spark.conftest import SPARKS_OWN_WARNINGS
from tests.engines.tables import people

pytestmark = SPARKS_OWN_WARNINGS
GIVEN = {
    "k": 5,
    "quasi_identifiers": ["age", "blood"],
    "kinds": {"age": "nominal"},
    "identifiers": ["note"],
    "method": "mondrian",
}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("/data/a b", "file:///data/a%20b/part-0.parquet", True),
        ("/data/a", "/data/ab", False),
        ("/data", "/data/a", True),
        ("s3a://bucket/t/", "s3://bucket/t/part-0", True),
        ("hdfs://host/t", "/t", False),
    ],
)
def test_places_overlap_where_one_lies_in_the_other(one, other, same):
    assert overlap(one, other) == overlap(other, one) == same


def test_a_folder_or_table_that_was_read_is_not_replaced_even_with_force(spark, tmp_path):
    folder = tmp_path / "all people"
    folder.mkdir()
    papq.write_table(people(60).select(["age", "blood", "note"]), folder / "part-0.parquet")
    (folder / "_SUCCESS").touch()
    before = (folder / "part-0.parquet").read_bytes()
    data = spark.read.parquet(str(folder))
    data.write.mode("overwrite").saveAsTable("all_people")
    try:
        with shoal.spark.anonymize(data, **GIVEN) as result:
            for target in (str(folder), str(tmp_path), str(folder / "part-0.parquet")):
                with pytest.raises(FileError, match="is an input of this call"):
                    result.save(target, force=True)
            result.save("all_people", force=True)  # another place than the folder
            result.save(str(tmp_path / "release"))
            result.save(str(tmp_path / "release"), force=True)
        with shoal.spark.anonymize(
            spark.sql("SELECT age, blood FROM all_people"), **GIVEN | {"identifiers": []}
        ) as made:
            with pytest.raises(FileError, match="is an input of this call"):
                made.save("all_people", force=True)
            assert spark.table("all_people").count() == 60
    finally:
        spark.sql("DROP TABLE all_people")
    assert (folder / "part-0.parquet").read_bytes() == before
    assert sorted(one.name for one in tmp_path.iterdir()) == ["all people", "release"]
