"""A DataFrame in, a DataFrame out: which way a table takes, and that nothing stays if a release fails. Runs on the driver."""

from __future__ import annotations

from typing import Any

from shoal.arrays import Progress
from shoal.engines.base import Refusal, asked
from shoal.engines.columns import check_records, decide_columns
from shoal.engines.spark.cancelling import ends_when_cancelled
from shoal.engines.spark.determined import count_determined_rows
from shoal.engines.spark.fragments import stage_fragments
from shoal.engines.spark.naming import all_quoted
from shoal.engines.spark.people import OWNERS
from shoal.engines.spark.probing import check_executors, take_own_python
from shoal.engines.spark.recoding import check_countable, stage_recoded
from shoal.engines.spark.result import SparkResult
from shoal.engines.spark.sessions import as_said, check_dataframe
from shoal.engines.spark.staging import Staging
from shoal.engines.spark.tasks import OWN_COLUMNS, PAYLOAD
from shoal.engines.spark.whole import check_fits, stage_whole
from shoal.engines.spark.work import Made, Work, at_hand, with_tokens
from shoal.errors import DataError
from shoal.io.source import ReadOptions
from shoal.methods.stopping import cancellable
from shoal.plan.steps import sample_share, uncountable_models, uncuttable_models
from shoal.request import Request


class SparkEngine:
    """Releases a DataFrame of Spark where its rows are."""

    def accepts(self, data: Any, request: Request) -> bool:  # noqa: ARG002
        """Return False: a cluster is asked for by name."""
        return False

    def refuses(self, request: Request) -> Refusal | None:
        """Return why a request cannot be honoured."""
        if request.on_interrupt == "best":
            return Refusal(
                "A table cannot be released on Spark with on_interrupt='best', because executors have no best groups so far.",
                "leave it out, or take engine='memory'.",
            )
        if request.cells:
            return Refusal(
                "A table cannot be released on Spark with disjoint cells, because all records are needed to part a column.",
                "leave 'cells' out, or take engine='memory'.",
            )
        if request.counts:
            return Refusal(
                "A table cannot be released on Spark with counts of exact values, which need all records in one place.",
                "leave 'counts' out, or take engine='memory'.",
            )
        if request.memory is not None:
            return Refusal(
                "The 'memory' parameter does not bound a release on Spark.",
                "leave it out, and set spark.executor.memory instead.",
            )
        return None

    def release(self, data: Any, request: Request, options: ReadOptions) -> SparkResult:  # noqa: ARG002
        """Return the release of a DataFrame."""
        return release(data, request)


def release(
    data: Any, request: Request, *, staging: str | None = None, report: bool = False, untyped: bool = False
) -> SparkResult:
    """Release a DataFrame by a request; ``untyped``: all its columns are text because they come from a text file."""
    data = check_dataframe(data, "shoal.spark.anonymize")
    asked(SparkEngine(), request)
    with ends_when_cancelled(data.sparkSession, request.cancel):
        return _release(data, request, staging=staging, report=report, untyped=untyped)


def _release(data: Any, request: Request, *, staging: str | None, report: bool, untyped: bool) -> SparkResult:
    own = [name for name in data.columns if name in OWN_COLUMNS]
    if own:
        raise DataError(f"The table has a column {own[0]!r}, a name that shoal uses itself. Rename it.")
    request = decide_columns(request, data.columns)
    progress = cancellable(request.progress, request.cancel)
    take_own_python(data.sparkSession)
    place = Staging(data, staging)
    try:
        check_executors(data.sparkSession, place.address)
        work = _work(data, request, place.address, progress, untyped=untyped, report=report)
        made = _make(work)
        rows = data.sparkSession.read.parquet(work.rows).where(f"{PAYLOAD} is null").drop(PAYLOAD, *OWNERS.values())
    except BaseException as fault:
        place.close_after(fault)
        said = as_said(fault)
        if said is fault:
            raise
        raise said from None
    progress(1.0, "done")
    return SparkResult(
        rows,
        metrics=made.metrics,
        audit=made.audit,
        recipe=request.recipe,
        details=made.details,
        staging=place,
        summary=made.summary,
        mapping=made.mapping,
        inputs=tuple(data.inputFiles()),
    )


def _work(data: Any, request: Request, folder: str, progress: Progress, *, untyped: bool, report: bool) -> Work:
    """Return the release as its steps see it; tables that cannot be released are refused here."""
    named = {name for names in request.named.values() for name in names}
    named |= {*request.looked_at}
    chosen = with_tokens(request, data.select(*all_quoted(name for name in data.columns if name in named)))
    progress(0.0, "counting rows")
    records = int(chosen.count())
    check_records(request, records)
    return Work(
        data=chosen,
        request=at_hand(request),
        records=records,
        folder=folder,
        progress=progress,
        untyped=untyped,
        report=report,
    )


def _make(work: Work) -> Made:
    """Release the table in the way that fits its size and what is asked of it."""
    if sample_share(work.records, work.job, ()) is None:
        return stage_whole(work)
    reason = _why_whole(work.request)
    if reason is not None:
        check_fits(work.records, reason)
        return stage_whole(work)
    if work.request.method.info.family == "global":
        check_countable(work)
        return count_determined_rows(work, stage_recoded(work))
    return count_determined_rows(work, stage_fragments(work))


def _why_whole(request: Request) -> str | None:
    """Name what has to see all records at once; None if nothing does."""
    owned, family = any(request.units.values()), request.method.info.family
    named = {
        "'together'": request.together,
        "'household', whose records keep the same companions,": request.household,
        "A person or household column with models": owned and request.models,
        f"The method {request.method.info.name!r} with a person or household column": owned and family != "local",
        "The mean of survey weights": request.averaged_weight,
        "'widen'": request.widen,
        "A release with representatives": request.release == "representatives",
        "A treatment": request.treat,
        "A model that counts who fits the cells": any(model.fits_cells for model in request.models),
    }
    found = next((what for what, asked in named.items() if asked), None)
    if found is not None:
        return found
    if family == "microaggregation":
        return f"The method {request.method.info.name!r}"
    models = uncountable_models(request.models) if family == "global" else uncuttable_models(request.models)
    return models[0] if models else None
