"""A release on Spark: its rows as a DataFrame, and what they promise."""

from __future__ import annotations

import platform
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

from shoal._version import __version__
from shoal.audit import Audit
from shoal.errors import DataError, FileError, ParameterError, PrivacyError
from shoal.generalization import Generalization, Unseen
from shoal.recipe import Recipe
from shoal.report import Report
from shoal.spark.naming import all_quoted, map_in_arrow
from shoal.spark.sessions import check_dataframe, with_columns
from shoal.spark.staging import Staging, exists, written_beside
from shoal.spark.tasks import COUNT, recode_rows
from shoal.summary import Summary
from shoal.validation import check_choice, check_columns


@dataclass(frozen=True)
class SparkResult:
    """A checked release. Its rows lie in a staging folder until ``close`` is called."""

    data: Any
    """The released DataFrame: recoded columns as text, sensitive and kept ones as they came, rows in random order."""
    metrics: dict[str, Any]
    audit: Audit
    """Counted from the released rows."""
    recipe: Recipe
    details: Mapping[str, Any]
    staging: Staging = field(repr=False)
    summary: Summary | None = field(default=None, repr=False)
    """What a report is made from, where it was asked for."""
    mapping: Generalization | None = field(default=None, repr=False)

    @property
    def staged(self) -> str:
        """The folder in which the rows lie."""
        return self.staging.address

    @property
    def groups(self) -> None:
        """Rows of Spark have no order, so there is no group of each row to tell."""
        return

    @property
    def suppressed(self) -> int:
        """The number of records withheld."""
        return int(self.metrics["suppressed"])

    @property
    def generalization(self) -> Generalization:
        """What each value of each quasi-identifier is released as; only with methods that recode a value alike everywhere."""
        if self.mapping is None:
            raise ParameterError(
                f"The method {self.recipe.method!r} does not recode a value alike everywhere, so there is no mapping of values.",
                hint="the methods 'bug', 'datafly' and 'incognito' do.",
            )
        return self.mapping

    def transform(self, new_rows: Any, *, unseen: Unseen = "refuse") -> Any:
        """Return new records of a DataFrame recoded as this release was; k is not counted, see ``shoal.spark.audit``."""
        check_choice("SparkResult.transform", "unseen", unseen, ("refuse", "suppress"))
        data = check_dataframe(new_rows, "SparkResult.transform")
        mapping = self.generalization
        check_columns("a quasi-identifier", list(mapping.columns), data.columns)
        known = [name for name in data.columns if name in mapping.columns or name in mapping.keep]
        schema = with_columns(data, known, mapping.columns, [])
        task = partial(recode_rows, mapping=mapping, unseen=unseen)
        return map_in_arrow(data.select(*all_quoted(known)), task, schema)

    def report(self) -> Report:
        """Return what was done, gained and lost, to save as ``.html``, ``.md`` or ``.json``; it holds no row of the original."""
        if self.summary is None:
            raise ParameterError(
                "There is no report of this release: what it needs was not gathered.", hint="ask with report=True."
            )
        return Report(self.summary)

    def provenance(self) -> dict[str, Any]:
        """Return where the release comes from: recipe, versions, measures. No rows, and no hash of them."""
        return {
            "shoal": __version__,
            "python": platform.python_version(),
            "spark": str(self.data.sparkSession.version),
            "recipe": self.recipe.model_dump(exclude_none=True),
            "metrics": dict(self.metrics),
            "audit": self.audit.as_dict(),
        }

    def save(self, target: str, *, force: bool = False) -> str:
        """Write the release as a folder of Parquet files (an address with a slash) or as a table (a name without one).

        It is written under another name, counted again from there, and only then gets its own; on a fault nothing stays.
        """
        if "/" in target:
            _save_folder(self, target.rstrip("/"), force=force)
        else:
            _save_table(self, target, force=force)
        return target

    def close(self) -> None:
        """Remove the staging folder; ``data`` cannot be read any more."""
        self.staging.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def check_size(written: Any, names: list[str], k: int, records: int) -> None:
    """Count rows by Spark's own grouping, which shares nothing with any count before, and raise where they are others or too few."""
    from pyspark.sql import functions  # noqa: PLC0415

    sizes = written.groupBy(*all_quoted(names)).agg(functions.count("*").alias(COUNT))
    row = sizes.selectExpr(f"min({COUNT}) as k", f"sum({COUNT}) as records").collect()[0]
    if (row["records"] or 0) != records:
        raise DataError("What was written does not agree with what was counted. It was removed again.")
    if row["k"] is not None and row["k"] < k:
        raise PrivacyError(f"What was written is not {k}-anonymous. It was removed again.")


def _count_again(result: SparkResult, written: Any) -> None:
    check_size(written, list(result.recipe.quasi_identifiers), result.recipe.k, result.audit.records)


def _save_folder(result: SparkResult, target: str, *, force: bool) -> None:
    if exists(target) and not force:
        raise FileError(f"{target} is there already.", hint="take another name, or force=True.")
    with written_beside(target) as written:
        result.data.write.parquet(written)
        _count_again(result, result.data.sparkSession.read.parquet(written))


def _save_table(result: SparkResult, target: str, *, force: bool) -> None:
    spark = result.data.sparkSession
    if spark.catalog.tableExists(target) and not force:
        raise FileError(f"The table {target} is there already.", hint="take another name, or force=True.")
    written = f"{target}_shoal_{secrets.token_hex(8)}"
    try:
        result.data.write.saveAsTable(written)
        _count_again(result, spark.table(written))
        _take_table_name(spark, written, target)
    except BaseException:
        spark.sql(f"DROP TABLE IF EXISTS {written}")
        raise


def _take_table_name(spark: Any, written: str, target: str) -> None:
    """Give a table its name; one that had it goes last, and gets it back on a fault."""
    if not spark.catalog.tableExists(target):
        spark.sql(f"ALTER TABLE {written} RENAME TO {target}")
        return
    earlier = f"{target}_shoal_{secrets.token_hex(8)}"
    spark.sql(f"ALTER TABLE {target} RENAME TO {earlier}")
    try:
        spark.sql(f"ALTER TABLE {written} RENAME TO {target}")
    except BaseException:
        spark.sql(f"ALTER TABLE {earlier} RENAME TO {target}")
        raise
    spark.sql(f"DROP TABLE {earlier}")
