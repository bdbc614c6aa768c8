"""Columns that follow from the quasi-identifiers, in a table whose rows stay on disk: found on a sample, counted in all staged rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.audit import count_determined, refuse_determined
from shoal.derived import SAMPLE, Derived, Exposure, find_derived
from shoal.engines.stream.order import Order
from shoal.engines.stream.recounting import Recount
from shoal.engines.stream.spool import Spool, read_rows
from shoal.engines.stream.tasks import OWNER
from shoal.release.make import determined_rows, followed_columns


def find_in_spool(order: Order, spool: Spool) -> list[Derived]:
    """Return the columns that follow from the quasi-identifiers, by a sample of all batches."""
    followed = followed_columns(order.recipe)
    if not followed:
        return []
    random = np.random.default_rng(order.recipe.seed)
    share = min(SAMPLE / max(spool.learned.records, 1), 1.0)
    names = list(dict.fromkeys([*order.quasi_identifiers, *followed, *filter(None, [order.recipe.person])]))
    parts = []
    for batch in spool.batches:
        rows = read_rows(batch).select(names)
        some = np.sort(random.permutation(rows.num_rows)[: int(np.ceil(share * rows.num_rows))])
        parts.append(rows.take(pa.array(some)))
    frame = order.frame(pa.concat_tables(parts).unify_dictionaries())
    return find_derived(frame, order.quasi_identifiers, followed, person=order.recipe.person)


def determined_pieces(
    order: Order, pieces: Sequence[Path], derived: Sequence[Derived]
) -> tuple[dict[str, Any], tuple[Exposure, ...]]:
    """Count all staged rows by what follows from the quasi-identifiers too; return what the audit says of it, and what falls below k."""
    names = [one.column for one in derived if one.certain]
    if not names:
        return {}, ()
    wanted = [*order.quasi_identifiers, *names]
    if order.whole:
        owners = [OWNER.format(unit) for unit in order.units]
        staged = pa.concat_tables([read_rows(piece).select([*wanted, *owners]) for piece in pieces])
        whose = {str(unit): staged.column(OWNER.format(unit)) for unit in order.units}
        return determined_rows(staged, whose, order.recipe, derived)
    count = Recount(wanted)
    for piece in pieces:
        count.add(read_rows(piece).select(wanted))
    sizes, _ = count.groups()
    k = order.job.task.k
    below = int(sizes[sizes < k].sum())
    exposed: tuple[Exposure, ...] = ()
    for piece in pieces if below else ():  # a piece holds whole groups; the first that falls below k shows the ways out
        _, _, exposed = count_determined(read_rows(piece), order.quasi_identifiers, derived, k)
        if exposed:
            break
    if order.recipe.derived == "refuse":
        refuse_determined(exposed, below, count.rows, k)
    return {"determined": tuple(names), "k_determined": int(sizes.min())}, exposed
