"""Columns that follow from the quasi-identifiers, in a DataFrame: found on a sample in one task, counted in all staged rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pyarrow as pa

from shoal.audit import refuse_determined
from shoal.derived import SAMPLE, Derived, Exposure, find_derived
from shoal.engines.spark.bundles import Batches
from shoal.engines.spark.counting import count_release
from shoal.engines.spark.naming import all_quoted
from shoal.engines.spark.people import OWNERS, Whose
from shoal.engines.spark.sessions import collect
from shoal.engines.spark.tasks import PAYLOAD, payload_batch
from shoal.engines.spark.work import Made, Work
from shoal.frames import Frame
from shoal.plan.coding import learn_batch, make_coding
from shoal.release.make import followed_columns


def count_determined_rows(work: Work, made: Made) -> Made:
    """Count the staged rows by all that follows from the quasi-identifiers; refuse them if they fall below k by it."""
    recipe = work.request.recipe
    derived = _find(work)
    names = [one.column for one in derived if one.certain]
    if not names:
        return made
    staged = work.data.sparkSession.read.parquet(work.rows).where(f"{PAYLOAD} is null")
    whose = Whose(*(column if column in staged.columns else None for column in OWNERS.values()))
    nothing = learn_batch(pa.table({}), ())
    counted = count_release(staged, [*recipe.quasi_identifiers, *names], (), make_coding(nothing, (), ()), whose=whose)
    below = sum(int(size) * groups for (size, _), groups in counted.groups.items() if size < recipe.k)
    exposed = [Exposure(one, below, ()) for one in derived if one.certain]
    if recipe.derived == "refuse":
        refuse_determined(exposed, below, counted.records, recipe.k)
    audit = replace(made.audit, determined=tuple(names), k_determined=counted.smallest)
    return replace(made, audit=audit)


def _find(work: Work) -> list[Derived]:
    """Find such columns in a sample that one task gets as a whole; no row comes to the driver."""
    recipe = work.request.recipe
    followed = followed_columns(recipe)
    if not followed:
        return []
    names = list(dict.fromkeys([*recipe.quasi_identifiers, *followed, *filter(None, [recipe.person])]))
    share = min(SAMPLE / max(work.records, 1), 1.0)
    sample = work.data.select(*all_quoted(names)).sample(fraction=share, seed=recipe.seed).repartition(1)
    found = collect(
        sample,
        find_in_rows,
        frame=work.frame,
        known=tuple(recipe.quasi_identifiers),
        followed=tuple(followed),
        person=recipe.person,
    )
    return found[0] if found else []


def find_in_rows(
    batches: Batches, frame: Frame, known: Sequence[str], followed: Sequence[str], person: str | None
) -> Iterator[pa.RecordBatch]:
    """Find columns that follow from others in rows that come to this task as a whole; the values themselves stay here."""
    held = [batch for batch in batches if batch.num_rows]
    if held:
        rows = replace(frame, table=pa.Table.from_batches(held))
        found = find_derived(rows, known, followed, person=person)
        yield payload_batch(found)
