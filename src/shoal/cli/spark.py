"""``shoal anonymize --engine spark``: tables on a cluster."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.cli.console import note_written
from shoal.cli.options import Place, Reading
from shoal.cli.streaming import tell_large
from shoal.errors import ParameterError

if TYPE_CHECKING:
    from shoal.api import Anonymizer
    from shoal.io.transaction import Transaction
    from shoal.spark import SparkResult


@dataclass(frozen=True)
class SparkTargets:
    """What is to be written: the release by Spark, all else by this process."""

    output: Path | None
    to_table: str | None
    report: Path | None
    save_recipe: Path | None
    save_mapping: Path | None
    sidecar: bool

    @property
    def release(self) -> str | None:
        """Where the rows go."""
        if self.to_table is not None or self.output is None:
            return self.to_table
        address = re.sub(r"^(\w+):/(?!/)", r"\1://", str(self.output))  # a path takes slashes from an address
        return address if "/" in address else f"./{address}"

    def beside(self) -> Iterator[Path]:
        """Yield the files that this process writes."""
        if self.sidecar and self.output:
            from shoal.saving import sidecar_path

            yield sidecar_path(self.output)
        yield from (one for one in (self.report, self.save_recipe, self.save_mapping) if one)


def check_spark_options(targets: SparkTargets, others: dict[str, Any]) -> None:
    """Refuse options that do not go with Spark, before any work."""
    used = [name for name, value in others.items() if value]
    if used:
        raise ParameterError(f"The option {used[0]} cannot be used with --engine spark.", hint="leave it out.")
    if targets.output is not None and targets.to_table is not None:
        raise ParameterError("With --engine spark a release goes to a folder or to a table. Got both.")
    if targets.sidecar and targets.output is None:
        raise ParameterError("The option --sidecar needs a release to stand beside. Got no --output.")


def run_on_spark(
    recipe: Anonymizer,
    file: Place,
    reading: Reading,
    targets: SparkTargets,
    *,
    master: str | None,
    staging: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Release a table on Spark; the rows get their name last."""
    from shoal.io.transaction import Transaction
    from shoal.spark.engine import release
    from shoal.spark.reading import open_table, session

    files = Transaction(force=force)
    for target in targets.beside():
        files.add(target)
    with session(master) as spark:
        opened = open_table(
            spark,
            str(file),
            separator=reading.separator,
            encoding=reading.encoding,
            table=reading.table,
            query=reading.query,
        )
        with release(
            opened.data, recipe, staging=staging, report=targets.report is not None, untyped=opened.untyped
        ) as result:
            with files:
                _write_beside(files, recipe, result, targets)
                written = [*([targets.release] if targets.release else []), *map(str, targets.beside())]
                tell_large(result.audit, result.metrics, dict(result.details), recipe, written, as_json=as_json)
                if targets.release is not None:
                    result.save(targets.release, force=force)
            note_written(*(Path(one).name for one in written))


def _write_beside(files: Transaction, recipe: Anonymizer, result: SparkResult, targets: SparkTargets) -> None:
    from shoal.saving import sidecar_path

    if targets.sidecar and targets.output:
        text = json.dumps(result.provenance(), indent=2, default=str) + "\n"
        files.temporary(sidecar_path(targets.output)).write_text(text, encoding="utf-8")
    if targets.report:
        files.temporary(targets.report).write_text(result.report().text(targets.report), encoding="utf-8")
    if targets.save_recipe:
        recipe.stage(files, targets.save_recipe)
    if targets.save_mapping:
        mapping = result.generalization
        files.temporary(targets.save_mapping).write_text(mapping.text(targets.save_mapping), encoding="utf-8")
