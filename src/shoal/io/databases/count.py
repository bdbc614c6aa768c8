"""Counting where the rows are: the database groups, only counts travel."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from shoal.io.databases.session import Relation, Session


def _keys(session: Session, names: Sequence[str]) -> str:
    return ", ".join(session.exact(session.quote(name)) for name in names)


def group_sizes(session: Session, relation: Relation, names: Sequence[str]) -> dict[int, int]:
    """Return how many groups of equal values in ``names`` there are of each size."""
    groups = f"SELECT count(*) AS size FROM {session.source(relation)} GROUP BY {_keys(session, names)}"  # noqa: S608
    counted = session.rows(f"SELECT size, count(*) AS n FROM ({groups}) AS sizes GROUP BY size")  # noqa: S608
    return {int(size): int(number) for size, number in sorted(counted)}


def value_counts(session: Session, relation: Relation, names: Sequence[str], column: str) -> pa.Table:
    """Return how often each value of a column occurs in each group: ``label``, ``value``, ``n``."""
    value = session.quote(column)
    ranked = (
        f"SELECT dense_rank() OVER (ORDER BY {_keys(session, names)}) AS label, {value} AS value "  # noqa: S608
        f"FROM {session.source(relation)}"
    )
    grouped = f"SELECT label, value, count(*) AS n FROM ({ranked}) AS ranked GROUP BY label, {session.exact('value')}"  # noqa: S608
    if session.exact("value") != "value":
        grouped = grouped.replace(", value, count", ", min(value) AS value, count")
    return session.stream(grouped).read_all()


def check_promise(session: Session, table: str, names: Sequence[str], k: int) -> tuple[int, int]:
    """Return the number of rows, and of groups with fewer than k, as the database counts them."""
    relation = session.source(Relation(table))
    small = f"SELECT 1 AS one FROM {relation} GROUP BY {_keys(session, names)} HAVING count(*) < {int(k)}"  # noqa: S608
    ((rows,),) = session.rows(f"SELECT count(*) AS n FROM {relation}")  # noqa: S608
    ((few,),) = session.rows(f"SELECT count(*) AS n FROM ({small}) AS small_groups")  # noqa: S608
    return int(rows), int(few)
