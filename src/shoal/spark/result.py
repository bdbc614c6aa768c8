"""A release on Spark: its rows as a DataFrame, and what they promise."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import Any, Self

from shoal.audit import Audit
from shoal.errors import FileError, PrivacyError
from shoal.recipe import Recipe
from shoal.spark import staging as places


@dataclass(frozen=True)
class SparkResult:
    """A checked release. Its rows lie in a staging folder until ``close`` is called."""

    data: Any
    """The released DataFrame: recoded columns as text, sensitive and kept ones as they came, rows in random order."""
    metrics: dict[str, Any]
    audit: Audit
    """Counted from the staged rows."""
    recipe: Recipe
    details: dict[str, Any]
    staged: str = field(repr=False)

    def save(self, target: str, *, force: bool = False) -> str:
        """Write the release as a folder of Parquet files (an address with a slash) or as a table (a name without one).

        It is written under another name, counted again from there, and only then gets its own; on a fault nothing stays.
        """
        if "/" in target:
            _save_folder(self, target, force=force)
        else:
            _save_table(self, target, force=force)
        return target

    def close(self) -> None:
        """Remove the staging folder; ``data`` cannot be read any more."""
        places.remove(self.staged)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _count_again(result: SparkResult, written: Any) -> None:
    """Count what was written by Spark's own grouping, which shares nothing with the count before."""
    names = list(result.recipe.quasi_identifiers)
    sizes = written.groupBy(*names).count()
    row = sizes.selectExpr("min(count) as k", "sum(count) as records").collect()[0]
    if (row["records"] or 0) != result.audit.records or (row["k"] is not None and row["k"] < result.recipe.k):
        raise PrivacyError("What was written does not agree with what was counted. It was removed again.")


def _save_folder(result: SparkResult, target: str, *, force: bool) -> None:
    target = target.rstrip("/")
    if places.exists(target) and not force:
        raise FileError(f"{target} is there already.", hint="take another name, or force=True.")
    written = f"{target}-{secrets.token_hex(8)}.partial"
    try:
        result.data.write.parquet(written)
        _count_again(result, result.data.sparkSession.read.parquet(written))
        if places.exists(target):
            places.remove(target)
        places.move(written, target)
    except BaseException:
        places.remove(written)
        raise


def _save_table(result: SparkResult, target: str, *, force: bool) -> None:
    spark = result.data.sparkSession
    if spark.catalog.tableExists(target) and not force:
        raise FileError(f"The table {target} is there already.", hint="take another name, or force=True.")
    written = f"{target}_shoal_{secrets.token_hex(8)}"
    try:
        result.data.write.saveAsTable(written)
        _count_again(result, spark.table(written))
        spark.sql(f"DROP TABLE IF EXISTS {target}")
        spark.sql(f"ALTER TABLE {written} RENAME TO {target}")
    except BaseException:
        spark.sql(f"DROP TABLE IF EXISTS {written}")
        raise
