"""Step 2, Columns: what each column is, and who could recognise these people."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from shoal.web.draft import ROLES, Draft, Role
from shoal.web.routes.common import Answer, Here, go
from shoal.web.session import Session, Table

router = APIRouter()

KINDS = {"": "as found", "numeric": "number", "date": "date", "nominal": "category"}
ROLE_WORDS: dict[Role, str] = {
    "quasi-identifier": "an outsider may know it; it is made coarser",
    "sensitive": "must not be tied to a person; it is kept",
    "identifier": "names a person by itself; it is removed",
    "kept": "passed on as it is; only what nobody outside can know",
    "left out": "not in the release",
}


class RoleChange(BaseModel):
    """Another role for a column."""

    column: str
    role: Role


class KindChange(BaseModel):
    """Another kind for a column; empty: as found."""

    column: str
    kind: Literal["", "numeric", "date", "nominal"]


class WeightChange(BaseModel):
    """How much a column's detail matters."""

    column: str
    weight: float = Field(gt=0, le=1000)


def view(session: Session) -> dict[str, Any]:
    """Return a row for each column, and what they tell together."""
    table = session.table
    if table is None:
        return {"rows": [], "roles": ROLE_WORDS, "kinds": KINDS, "bar": None}
    return {
        "rows": [_row(session.draft, table, column) for column in table.columns],
        "roles": ROLE_WORDS,
        "kinds": KINDS,
        "bar": together(session),
    }


def _row(draft: Draft, table: Table, column: dict[str, Any]) -> dict[str, Any]:
    name = column["name"]
    role = draft.role(name)
    unsure = column["role"] == "other" and role == "left out"
    exposed = role == "kept" and column["unique"] > 0
    return column | {
        "role": role,
        "reason": "nothing is known about it: decide yourself" if unsure else _reason(column, role),
        "unsure": unsure,
        "exposed": exposed,
        "single": column["unique"] / table.records,
        "kind": draft.get("kinds").get(name, ""),
        "weight": draft.get("weights").get(name, 1.0),
        "coarser": coarser_words(draft, name, column["type"]),
    }


def _reason(column: dict[str, Any], role: Role) -> str:
    guessed = "left out" if column["role"] == "other" else column["role"]
    if role == "kept" and column["unique"]:
        return f"sure? {column['unique']:,} values occur only once"
    return f"guessed ({column['reason']})" if role == guessed else "you chose this"


def coarser_words(draft: Draft, name: str, kind: str) -> str:
    """Say how a quasi-identifier is made coarser."""
    if draft.role(name) != "quasi-identifier":
        return ""
    choice = draft.get("hierarchies").get(name)
    chosen_kind = draft.get("kinds").get(name, "")
    if choice == "flat":
        return "the value or *"
    if choice not in {None, "set"}:
        return "its hierarchy"
    ordered = chosen_kind in {"numeric", "date"} or isinstance(chosen_kind, list)
    if choice is None and (ordered or (not chosen_kind and kind not in {"text", "yes/no"})):
        return "ranges"
    return "sets of values"


def together(session: Session) -> dict[str, Any] | None:
    """Return whom the quasi-identifiers single out: all, by the fewest columns, and without the worst one."""
    table, found = session.need_table(), session.people_now()
    known = session.draft.get("quasi_identifiers")
    if not known:
        return None
    if found is None:
        return {"counted": False, "columns": known}
    without = found["without"] or {}
    worst = min(without, key=lambda name: without[name]) if without else None
    return {
        "counted": True,
        "columns": known,
        "records": table.records,
        "unique": found["unique"],
        "fewest": _fewest(found["sets"]),
        "complete": found["sets"] is not None,
        "worst": worst,
        "without_worst": without.get(worst) if worst else None,
    }


def _fewest(sets: list[dict[str, Any]] | None) -> list[dict[str, Any]]:
    """Return up to three sets of few columns that single out at least half as many people as any set does."""
    most = max((one["unique"] for one in sets or []), default=0)
    telling = [one for one in sets or [] if 2 * one["unique"] >= most]
    return sorted(telling, key=lambda one: (len(one["columns"]), -one["unique"]))[:3]


@router.post("/columns/role")
async def change_role(change: RoleChange, session: Here) -> Answer:
    """Give a column another role."""
    draft = session.draft.with_role(change.column, change.role, session.need_table().names)
    session.change(draft, f"{change.column}: {change.role}")
    return go()


@router.post("/columns/kind")
async def change_kind(change: KindChange, session: Here) -> Answer:
    """Read a column in another way."""
    session.change(
        session.draft.with_choice("kinds", change.column, change.kind or None),
        f"{change.column}: read {KINDS[change.kind]}",
    )
    return go()


@router.post("/columns/weight")
async def change_weight(change: WeightChange, session: Here) -> Answer:
    """Let a column's detail matter more or less."""
    weight = None if change.weight == 1 else change.weight
    session.change(
        session.draft.with_choice("weights", change.column, weight), f"{change.column}: weight {change.weight:g}"
    )
    return go()


assert set(ROLE_WORDS) == set(ROLES)  # noqa: S101
