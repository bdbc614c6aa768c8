"""``shoal anonymize --engine spark``: tables on a cluster."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from shoal.cli.console import note_written
from shoal.cli.showing import tell
from shoal.cli.targets import Targets, add_targets, write_beside
from shoal.errors import ParameterError

if TYPE_CHECKING:
    from shoal.cli.anonymize import Job


def _target(targets: Targets) -> str | None:
    """Return the target of the rows."""
    if targets.output is None or targets.to_table is not None:
        return targets.to_table
    address = re.sub(r"^(\w+):/(?!/)", r"\1://", str(targets.output))  # a path takes slashes from an address
    return address if "/" in address else f"./{address}"


def release_on_spark(job: Job) -> None:
    """Release a table on Spark, which writes the rows; they get their name last, after the files that this process writes."""
    from shoal.engines.spark.engine import release
    from shoal.engines.spark.reading import open_table, session
    from shoal.engines.spark.targets import check_folder, check_target, is_folder
    from shoal.io.transaction import Transaction

    if job.targets.output is not None and job.targets.to_table is not None:
        raise ParameterError("With --engine spark a release goes to a folder or to a table. Got both.")
    target, reading = _target(job.targets), job.reading
    files = Transaction(force=job.force, inputs=job.inputs)
    beside = replace(job.targets, output=None)
    written = [*map(str, add_targets(files, beside, dictionary=False))]
    if target is not None and is_folder(target):
        check_folder(target, [*map(str, job.inputs), *written], force=job.force)
    with session(job.work.master) as spark:
        opened = open_table(
            spark,
            str(job.file),
            separator=reading.separator,
            encoding=reading.encoding,
            table=reading.table,
            query=reading.query,
        )
        if target is not None:
            check_target(spark, target, opened.data.inputFiles(), force=job.force)
        reporting = beside.report is not None
        with release(
            opened.data, job.request, staging=job.work.scratch, report=reporting, untyped=opened.untyped
        ) as result:
            written = [*([target] if target else []), *written]
            with files:
                write_beside(files, beside, job.request, result, about=False)
                tell(result, written, as_json=job.as_json)
                if target is not None:
                    result.save(target, force=job.force)
            note_written(*(one.rstrip("/").rpartition("/")[2] for one in written))
