"""A DataFrame in, a DataFrame out: which way a table takes, and that nothing stays where a release fails. Runs on the driver."""

from __future__ import annotations

from typing import Any

from shoal.api import Anonymizer
from shoal.engines.plan import sample_share, uncuttable_models
from shoal.recipe import averaged_weight
from shoal.spark.fragments import stage_fragments
from shoal.spark.naming import all_quoted
from shoal.spark.people import OWNERS
from shoal.spark.recoding import check_countable, stage_recoded
from shoal.spark.result import SparkResult
from shoal.spark.sessions import as_said, check_dataframe
from shoal.spark.staging import Staging
from shoal.spark.tasks import PAYLOAD
from shoal.spark.whole import check_fits, stage_whole
from shoal.spark.work import Made, Work, at_hand, check_columns_of, check_records, with_tokens


def anonymize(data: Any, *, staging: str | None = None, report: bool = False, **parameters: Any) -> SparkResult:
    """Release a DataFrame of Spark in which every record hides among at least k.

    Parameters
    ----------
    data
        A DataFrame of Spark. It is read several times: put it on disk first where it is dear to compute, or changes.
    staging
        A folder that every executor can write. The release lies there, in a folder of its own, until it is counted, and as long as the
        result is used. Not needed where Spark runs on this machine alone.
    report
        Gather what ``SparkResult.report`` needs.
    **parameters
        Those of ``shoal.anonymize``. What cannot be done with a table of this size is refused in one sentence.

    Returns
    -------
    SparkResult
        The released DataFrame with its metrics and audit; ``save`` writes it.

    Raises
    ------
    ShoalError
        The table cannot be released as promised, or a parameter is wrong. Nothing is left in ``staging`` then.
    """
    data = check_dataframe(data, "shoal.spark.anonymize")
    return release(data, Anonymizer(**parameters), staging=staging, report=report)


def release(
    data: Any, recipe: Anonymizer, *, staging: str | None = None, report: bool = False, untyped: bool = False
) -> SparkResult:
    """Release a DataFrame by a recipe; ``untyped``: all its columns are text because they come from a text file."""
    check_columns_of(recipe, data)
    named = {name for names in recipe.named.values() for name in names}
    named |= {person for one in recipe.treat.values() if (person := getattr(one, "person", None))}
    chosen = with_tokens(recipe, data.select(*all_quoted(name for name in data.columns if name in named)))
    recipe.progress(0.0, "counting rows")
    records = int(chosen.count())
    check_records(recipe, records)
    place = Staging(data, staging)
    try:
        work = Work(
            data=chosen,
            recipe=at_hand(recipe),
            records=records,
            folder=place.address,
            progress=recipe.progress,
            untyped=untyped,
            report=report,
        )
        made = _make(work)
        rows = data.sparkSession.read.parquet(work.rows).where(f"{PAYLOAD} is null").drop(PAYLOAD, *OWNERS.values())
    except BaseException as fault:
        place.close_after(fault)
        said = as_said(fault)
        if said is fault:
            raise
        raise said from None
    recipe.progress(1.0, "done")
    return SparkResult(rows, made.metrics, made.audit, recipe.recipe(), made.details, place, made.summary, made.mapping)


def _make(work: Work) -> Made:
    """Release the table in the way that fits its size and what is asked of it."""
    if sample_share(work.records, work.job, ()) is None:
        return stage_whole(work)
    reason = _why_whole(work.recipe)
    if reason is not None:
        check_fits(work.records, reason)
        return stage_whole(work)
    if work.recipe.method.info.family == "global":
        check_countable(work)
        return stage_recoded(work)
    return stage_fragments(work)


def _why_whole(recipe: Anonymizer) -> str | None:
    """Name what has to see all records at once; None where nothing does."""
    owned, family = any(recipe.units.values()), recipe.method.info.family
    named = {
        "'together'": recipe.together,
        "A person or household column with models": owned and recipe.models,
        f"The method {recipe.method.info.name!r} with a person or household column": owned and family != "local",
        "The mean of survey weights": averaged_weight(recipe.recipe()),
        "'widen'": recipe.widen,
        "A release with representatives": recipe.release == "representatives",
        "A treatment": recipe.treat,
    }
    found = next((what for what, asked in named.items() if asked), None)
    if found is not None:
        return found
    if family == "microaggregation":
        return f"The method {recipe.method.info.name!r}"
    if family == "global":
        return None
    models = uncuttable_models(recipe.models)
    return models[0] if models else None
