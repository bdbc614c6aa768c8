"""A release on Spark: its rows as a DataFrame, and what they promise."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

from shoal.audit import Audit
from shoal.engines.spark.naming import all_quoted, map_in_arrow
from shoal.engines.spark.sessions import check_dataframe, with_columns
from shoal.engines.spark.staging import Staging, written_beside
from shoal.engines.spark.targets import check_target, is_folder
from shoal.engines.spark.tasks import COUNT, recode_rows
from shoal.errors import DataError, ParameterError, PrivacyError
from shoal.publication import PublicReport
from shoal.recipe import Recipe
from shoal.report import Report
from shoal.results.columns import Describing
from shoal.results.generalization import Generalization, Unseen
from shoal.results.outcome import Outcome
from shoal.summary import Summary
from shoal.validation import check_choice, check_columns


@dataclass(frozen=True, repr=False)
class SparkResult(Outcome):
    """A checked release. Its rows are in a staging folder until ``close`` is called."""

    rows: Any
    """The released DataFrame: recoded columns as text, sensitive and kept ones as they came, rows in random order."""
    metrics: dict[str, Any]
    audit: Audit
    """Counted from the released rows."""
    recipe: Recipe
    details: Mapping[str, Any]
    staging: Staging = field(repr=False)
    summary: Summary | None = field(default=None, repr=False)
    """What a report is made from, if it was asked for."""
    mapping: Generalization | None = field(default=None, repr=False)
    inputs: tuple[str, ...] = field(default=(), repr=False)
    """Files the release was made from, which ``save`` never replaces."""

    _called: ClassVar[str] = "A release on Spark"
    groups: ClassVar[None] = None
    """Rows of Spark have no order, so there is no array with the group of each row."""

    @property
    def data(self) -> Any:
        """The released DataFrame."""
        return self.rows

    @property
    def staged(self) -> str:
        """The folder in which the rows are."""
        return self.staging.address

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
        if self.recipe.person is not None or self.recipe.household is not None:
            raise ParameterError(
                "On Spark new records are not counted by person or household, as this release was.",
                hint="recode them with result.generalization.save and 'shoal transform', which counts.",
            )
        data = check_dataframe(new_rows, "SparkResult.transform")
        mapping = self.generalization
        check_columns("a quasi-identifier", list(mapping.columns), data.columns)
        known = [name for name in data.columns if name in mapping.columns or name in mapping.keep]
        schema = with_columns(data, known, mapping.columns, [])
        task = partial(recode_rows, mapping=mapping, unseen=unseen)
        return map_in_arrow(data.select(*all_quoted(known)), task, schema)

    def _holder_report(self, *, examples: bool) -> Report:
        if examples:
            self._refuse("rows of the original for a report")
        if self.summary is None:
            raise ParameterError(
                "There is no report of this release: what it needs was not gathered.", hint="ask with report=True."
            )
        return Report(self.summary)

    def _public_report(self, about: Describing) -> PublicReport:  # noqa: ARG002
        self._refuse("public report")

    def provenance(self) -> dict[str, Any]:
        """Return where the release comes from: recipe, versions, measures against the original; for the holder."""
        return {**super().provenance(), "spark": str(self.data.sparkSession.version)}

    def save(self, target: str, *, force: bool = False) -> str:
        """Write the release as a folder of Parquet files (an address with a slash) or as a table (a name without one).

        It is written under another name, counted again from there, and only then gets its own; on a fault nothing stays.
        ``force`` replaces a table, or a folder that Spark has written; never one from which the release was made.
        """
        check_target(self.data.sparkSession, target, self.inputs, force=force)
        if is_folder(target):
            _save_folder(self, target.rstrip("/"))
        else:
            _save_table(self, target)
        return target

    def close(self) -> None:
        """Remove the staging folder; ``data`` cannot be read any more."""
        self.staging.close()


def check_size(written: Any, names: list[str], k: int, records: int) -> None:
    """Count rows by Spark's own grouping, which shares nothing with any count before, and raise if they are others or too few."""
    from pyspark.sql import functions  # noqa: PLC0415

    sizes = written.groupBy(*all_quoted(names)).agg(functions.count("*").alias(COUNT))
    row = sizes.selectExpr(f"min({COUNT}) as k", f"sum({COUNT}) as records").collect()[0]
    if (row["records"] or 0) != records:
        raise DataError("What was written does not agree with what was counted. It was removed again.")
    if row["k"] is not None and row["k"] < k:
        raise PrivacyError(f"What was written is not {k}-anonymous. It was removed again.")


def _count_again(result: SparkResult, written: Any) -> None:
    check_size(written, list(result.recipe.quasi_identifiers), result.recipe.k, result.audit.records)


def _save_folder(result: SparkResult, target: str) -> None:
    with written_beside(target) as written:
        result.data.write.parquet(written)
        _count_again(result, result.data.sparkSession.read.parquet(written))


def _save_table(result: SparkResult, target: str) -> None:
    spark = result.data.sparkSession
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
