"""The part of step 3 for categories with an order, such as school degrees: they are released as ranges of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from shoal.errors import ParameterError
from shoal.web.routes.common import Answer, Here, go
from shoal.web.session import Session, digest

router = APIRouter()

_MOST_VALUES = 400


class Placing(BaseModel):
    """Another place for a value in the order of its column: one that is counted from 0, or some steps up or down."""

    column: str
    value: str = Field(max_length=10_000)
    place: int | None = Field(default=None, ge=0)
    steps: int = 0


def order_view(order: Sequence[str], counts: Mapping[str, int]) -> dict[str, Any]:
    """Return the values of a column in their order, and those that have no place in it."""
    rows = [{"label": value, "id": digest(value), "count": counts.get(value, 0)} for value in order]
    return {"order": rows, "largest": max(counts.values(), default=1) or 1} | uncovered(order, counts)


def uncovered(known: Sequence[str], counts: Mapping[str, int]) -> dict[str, Any]:
    """Return the values of the table that a tree or an order does not know."""
    places = set(known)
    strange = [value for value in counts if value not in places]
    return {
        "uncovered": strange[:20],
        "uncovered_values": len(strange),
        "uncovered_rows": sum(counts[value] for value in strange),
    }


async def put_in_order(session: Session, column: str) -> Answer:
    """Put the values of a column in an order, to begin with by their names; values that an order lacks come last."""
    counts = await session.count_values(column)
    if len(counts) > _MOST_VALUES:
        raise ParameterError(
            f"{column} has {len(counts):,} values, too many to be put in order by hand.", hint="have a tree suggested."
        )
    known = session.draft.order(column) or []
    new = sorted(set(counts) - set(known), key=by_name)
    session.change(session.draft.with_order(column, [*known, *new]), f"{column}: values in order")
    return go(session)


def by_name(value: str) -> list[tuple[bool, float, str]]:
    """Sort texts as people do: 2 before 10, and without regard to capitals."""
    parts = re.findall(r"([0-9]+)|([^0-9]+)", value.casefold())
    return [(not digits, float(digits or 0), other) for digits, other in parts]


@router.post("/hierarchies/order")
async def place_value(placing: Placing, session: Here) -> Answer:
    """Put a value at another place of its column's order."""
    order = session.draft.order(placing.column)
    if order is None or placing.value not in order:
        raise ParameterError("The order has no such value.", hint="reload the page.")
    others = [value for value in order if value != placing.value]
    place = order.index(placing.value) + placing.steps if placing.place is None else placing.place
    others.insert(max(place, 0), placing.value)
    words = f"{placing.column}: {placing.value} at place {others.index(placing.value) + 1}"
    session.change(session.draft.with_order(placing.column, others), words)
    return go(session)
