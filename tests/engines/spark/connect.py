"""Releases through a server of Spark Connect: ``python -m tests.engines.spark.connect FOLDER``, for a process either runs Spark or talks to a server."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as papq

from tests.engines.spark.conftest import QUICK_JAVA
from tests.engines.tables import HIERARCHIES, QUASI_IDENTIFIERS, people

RECIPE: dict[str, Any] = {
    "k": 5,
    "quasi_identifiers": QUASI_IDENTIFIERS,
    "sensitive": ["illness"],
    "identifiers": ["note"],
    "hierarchies": HIERARCHIES,
    "effort": "fast",
    "max_suppression": 0.2,
}
COARSE: dict[str, Any] = RECIPE | {
    "quasi_identifiers": ["town", "blood"],
    "identifiers": ["note", "age", "height", "tongue"],
    "method": "datafly",
}


def server(folder: Path) -> Any:
    """Return a session of a server that is started on this machine."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.local.dir": str(folder / "local"),
        "spark.driver.extraJavaOptions": f"-Dderby.system.home={folder} {QUICK_JAVA}",
    }
    builder = SparkSession.builder.remote("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def main(folder: Path) -> None:
    """Release a table in fragments and by a global recoding, save both, audit one; print what was found."""
    import shoal.spark
    from shoal.plan import steps

    steps.LARGE, steps._FRAGMENT, steps._FAST_FRAGMENT, steps._MANY_GROUPS, steps._PILOT = 300, 150, 150, 1, 300
    papq.write_table(people(900), folder / "people.parquet")
    spark = server(folder)
    data = spark.read.parquet(str(folder / "people.parquet"))
    (folder / "staging").mkdir()
    with shoal.spark.anonymize(data, **RECIPE, staging=str(folder / "staging")) as result:
        result.save(str(folder / "release"))
        result.save("people_release")
        fragments = result.details["fragments"]
    with shoal.spark.anonymize(data, **COARSE, staging=str(folder / "staging")) as result:
        result.save(str(folder / "coarse"))
        result.transform(data.drop("illness", "note")).write.parquet(str(folder / "transformed"))
    audit = shoal.spark.audit(spark.table("people_release"), quasi_identifiers=QUASI_IDENTIFIERS, sensitive=["illness"])
    found = {
        "session": type(spark).__module__,
        "fragments": fragments,
        "audit": audit.as_dict(),
        "staging": [one.name for one in (folder / "staging").iterdir()],
        "tables": [one.name for one in spark.catalog.listTables()],
    }
    spark.stop()
    (folder / "found.json").write_text(json.dumps(found, default=str), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
