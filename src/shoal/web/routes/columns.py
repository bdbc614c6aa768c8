"""Step 2, Columns: what each column is, and who could recognize these people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

import shoal
from shoal.errors import ParameterError
from shoal.treatments.pseudonyms import make_key, read_key
from shoal.web.as_code import name_inside
from shoal.web.draft import ROLES, Draft, Role
from shoal.web.folder import inside, list_files
from shoal.web.routes.common import Answer, Here, check_draft, free, go
from shoal.web.routes.orders import put_in_order
from shoal.web.session import Session
from shoal.web.treating import PERIODS, shown_treatment, treatment_settings, treatments_for
from shoal.web.workshop import Table

router = APIRouter()

KINDS = {"": "as found", "numeric": "number", "date": "date", "nominal": "category", "order": "in order"}
ROLE_WORDS: dict[Role, str] = {
    "quasi-identifier": "an outsider may know it; it is made coarser",
    "sensitive": "must not be tied to a person; it is kept",
    "identifier": "names a person on its own; it is removed",
    "kept": "passed on as it is; only what nobody outside can know",
    "left out": "not in the release",
    "person": "identifies the person of a row if people have several rows; people are then counted instead of rows",
    "household": "says who lives together: every group then holds k households too",
    "survey weight": "how many people a row represents; released as the mean of each group",
    "pseudonym": "released as a token that only your key can make: pseudonymous, not anonymous",
}
KEYS = (".key", ".bin")
_MOST_READINGS = 4


class RoleChange(BaseModel):
    """Another role for a column."""

    column: str
    role: Role


class RolesChange(BaseModel):
    """One role for several columns."""

    columns: list[str] = Field(min_length=1, max_length=100_000)
    role: Literal["quasi-identifier", "sensitive", "identifier", "kept", "left out", "pseudonym"]


class RestChange(BaseModel):
    """What becomes of the columns that are not decided yet, all of them or those of text."""

    role: Literal["kept", "left out", "text left out"]


class WayChange(BaseModel):
    """A way out of a remark."""

    way: str = Field(max_length=40)


class KindChange(BaseModel):
    """Another kind for a column; empty: as found."""

    column: str
    kind: Literal["", "numeric", "date", "nominal", "order"]


class TreatmentChange(BaseModel):
    """How a kept or sensitive column is released; empty: as it is."""

    column: str
    treatment: str = Field(max_length=40)
    value: str = Field(default="", max_length=40)


class TokenChange(BaseModel):
    """Whether a person or household is released as a token, or removed."""

    column: str
    released: Literal["", "token"]


class TogetherChange(BaseModel):
    """Whether all rows of a person keep the same companions."""

    together: bool = False


class KeyChange(BaseModel):
    """The key of tokens: a file of the folder, or a new one."""

    name: str = Field(max_length=200)
    new: bool = False


class CellsChange(BaseModel):
    """Whether the released cells of a column are one partition of its values, and of how many parts at most (0: of any number)."""

    column: str
    cells: Literal["", "disjoint"]
    most: int = Field(default=0, ge=0, le=1_000_000)


class WeightChange(BaseModel):
    """How much a column's detail matters."""

    column: str
    weight: float = Field(gt=0, le=1000)


def view(session: Session) -> dict[str, Any]:
    """Return a row for each column, and what they show together."""
    table = session.table
    if table is None:
        return {
            "rows": [],
            "undecided_texts": 0,
            "roles": ROLE_WORDS,
            "kinds": KINDS,
            "bar": None,
            "found_person": None,
        }
    draft = session.draft
    return {
        "rows": [_row(draft, table, column) | _singled_out(session, table, column) for column in table.columns],
        "undecided_texts": sum(one["name"] in draft.undecided and one["type"] == "text" for one in table.columns),
        "roles": ROLE_WORDS,
        "kinds": KINDS,
        "periods": PERIODS,
        "readings": Counter(table.understood.get("columns", {}).values()).most_common(_MOST_READINGS),
        "bar": whom_they_single_out(session),
        "can_part": can_part(draft),
        "person": draft.get("person"),
        "found_person": table.person,
        "together": draft.get("together"),
        "tokens": draft.get("pseudonymize"),
        "key": name_inside(draft.key, session.folder) if draft.key else "",
        "keys": [one.name for one in list_files(session.folder, KEYS)] if draft.get("pseudonymize") else [],
    }


def _row(draft: Draft, table: Table, column: dict[str, Any]) -> dict[str, Any]:
    name = column["name"]
    role = draft.role(name)
    unsure = name in draft.undecided
    treatment = shown_treatment(draft.get("treat").get(name), column["type"]) if role in ("kept", "sensitive") else None
    exposed = role == "kept" and column["unique"] > 0 and treatment is None
    return column | {
        "role": role,
        "reason": "left out until you decide" if unsure else _reason(table, column, role, exposed),
        "treatment": treatment,
        "treatments": treatments_for(column["type"]) if role in ("kept", "sensitive") else [],
        "token": name in draft.get("pseudonymize"),
        "unsure": unsure,
        "exposed": exposed,
        "readable": role in ("quasi-identifier", "sensitive") and name not in draft.get("hierarchies"),
        "kind": "order" if draft.order(name) else draft.get("kinds").get(name, ""),
        "weight": draft.get("weights").get(name, 1.0),
        "disjoint": name in draft.get("cells"),
        "most": _most_parts(draft.get("cells").get(name)),
        "weighted_values": isinstance(draft.get("weights").get(name), Mapping),
        "coarser": coarser_words(draft, name, column["type"]),
    }


def _most_parts(choice: str | Mapping[str, int] | None) -> int:
    """Return how many different cells a column may have; 0 if nothing is said."""
    return choice["most"] if isinstance(choice, Mapping) else 0


def _singled_out(session: Session, table: Table, column: dict[str, Any]) -> dict[str, Any]:
    """Return whom a column singles out by itself: people if they are counted, otherwise rows."""
    found = session.people_now()
    counted = found["alone"] if found else None
    alone = (counted or {}).get(column["name"])
    if found is None or alone is None:
        return {
            "single": column["unique"] / table.records,
            "single_words": f"{column['unique']:,} of {table.records:,} rows by itself",
        }
    return {"single": alone / found["people"], "single_words": f"{alone:,} of {found['people']:,} people by itself"}


def _reason(table: Table, column: dict[str, Any], role: Role, exposed: bool) -> str:
    if exposed:
        return f"sure? {column['unique']:,} values occur only once"
    if role == "person" and column["name"] == table.person:
        return f"guessed: {column['distinct']:,} people in {table.records:,} rows"
    guessed = "left out" if column["role"] == "other" else column["role"]
    return _guessed(column["name"], column["reason"]) if role == guessed else "you chose this"


def _guessed(name: str, reason: str) -> str:
    """Return why a role was guessed; what only repeats the column's name is left out."""
    if not reason.startswith("name: "):
        return f"guessed: {reason}"
    told, _, more = reason.removeprefix("name: ").partition("; ")
    word = told.split(" (")[0]
    plain = told in (f"{word} ({word})", name.lower())
    return "guessed by its name" + ("" if plain else f": {told}") + (f"; {more}" if more else "")


def coarser_words(draft: Draft, name: str, kind: str) -> str:
    """Return how a quasi-identifier is made coarser."""
    if draft.role(name) != "quasi-identifier":
        return ""
    choice = draft.get("hierarchies").get(name)
    chosen_kind = draft.get("kinds").get(name, "")
    if choice == "flat":
        return "the value or *"
    if choice == "auto":
        return "a hierarchy suggested by its values"
    if choice not in {None, "set"}:
        return "its hierarchy"
    if choice is None and isinstance(chosen_kind, list):
        return "ranges of its order"
    if choice is None and (chosen_kind in {"numeric", "date"} or (not chosen_kind and kind not in {"text", "yes/no"})):
        return "ranges"
    return "sets of values"


def can_part(draft: Draft) -> bool:
    """Return whether cells of a column can be kept from overlapping: with global methods none do, and other releases have no ranges."""
    by_method = {one.name: one.default_release for one in shoal.methods() if one.family != "global"}
    method = draft.get("method")
    return method in by_method and (draft.get("release") or by_method[method]) == "ranges" and not draft.get("widen")


def whom_they_single_out(session: Session) -> dict[str, Any] | None:
    """Return whom the quasi-identifiers single out: all, by the fewest columns, and without the worst one."""
    found = session.people_now()
    known = session.draft.get("quasi_identifiers")
    if not known:
        return None
    if found is None:
        return {"counted": False, "columns": known}
    without = found["without"] or {}
    worst = min(without, key=lambda name: without[name]) if without and found["unique"] else None
    return {
        "counted": True,
        "columns": known,
        "people": found["people"],
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
    """Change the role of a column."""
    draft = session.draft.with_role(change.column, change.role, session.need_table().names)
    session.change(draft, f"{change.column}: {change.role}")
    return go(session)


@router.post("/columns/roles")
async def change_roles(change: RolesChange, session: Here) -> Answer:
    """Give several columns the same role, as one step."""
    draft = session.draft.with_roles(change.columns, change.role, session.need_table().names)
    session.change(draft, f"{len(change.columns):,} columns: {change.role}")
    return go(session)


@router.post("/columns/rest")
async def decide_rest(change: RestChange, session: Here) -> Answer:
    """Decide on all columns that are not decided yet, as one step."""
    texts = change.role == "text left out"
    role: Role = "kept" if change.role == "kept" else "left out"
    names = [
        one["name"]
        for one in session.need_table().columns
        if one["name"] in session.draft.undecided and (one["type"] == "text" or not texts)
    ]
    if not names:
        raise ParameterError("Every such column is decided already.")
    draft = session.draft.with_roles(names, role, session.need_table().names)
    session.change(draft, f"the other {len(names):,} columns{' of text' * texts}: {role}")
    return go(session)


@router.post("/columns/way")
async def take_way(change: WayChange, session: Here) -> Answer:
    """Take a way out of a remark."""
    way = next((way for one in session.remarks for way in one.ways if way.name == change.way), None)
    if way is None:
        raise ParameterError("This way out is no longer offered.", hint="look at what is shown now.")
    check_draft(way.draft)
    session.change(way.draft, way.words)
    return go(session)


@router.post("/columns/others")
@free
async def show_others(session: Here) -> Answer:
    """Show other rows before and after."""
    session.first_row += 1
    session.make_preview()
    session.touch()
    return go(session)


@router.post("/columns/kind")
async def change_kind(change: KindChange, session: Here) -> Answer:
    """Read a column in another way."""
    if change.kind == "order":
        return await put_in_order(session, change.column)
    draft = session.draft.with_choice("kinds", change.column, change.kind or None).with_types(session.types)
    session.change(draft, f"{change.column}: read {KINDS[change.kind]}")
    return go(session)


@router.post("/columns/treat")
async def change_treatment(change: TreatmentChange, session: Here) -> Answer:
    """Release a kept or sensitive column in another way."""
    kinds = {one["name"]: one["type"] for one in session.need_table().columns}
    if session.draft.role(change.column) not in ("kept", "sensitive"):
        raise ParameterError(f"{change.column} is neither kept nor sensitive.", hint="give it such a role first.")
    settings = treatment_settings(change.treatment, change.value, kinds[change.column])
    words = f"{change.column}: {change.treatment or 'as it is'}"
    session.change(session.draft.with_choice("treat", change.column, settings), words)
    return go(session)


@router.post("/columns/token")
async def change_token(change: TokenChange, session: Here) -> Answer:
    """Release a person or household as a token, or remove it."""
    if session.draft.role(change.column) not in ("person", "household"):
        raise ParameterError(f"{change.column} is neither the person nor the household.")
    draft = session.draft.with_token(change.column, token=change.released == "token")
    session.change(draft, f"{change.column}: {'a token' if change.released else 'removed'}")
    return go(session)


@router.post("/columns/together")
async def change_together(change: TogetherChange, session: Here) -> Answer:
    """Let all rows of a person keep the same companions, or not."""
    words = "rows of a person stay together" if change.together else "rows of a person may have different companions"
    session.change(session.draft.change(together=change.together or None), words)
    return go(session)


@router.post("/columns/key")
async def change_key(change: KeyChange, session: Here) -> Answer:
    """Take the key of tokens from a file of the folder, or make a new one there; an existing file is never replaced."""
    path = inside(session.folder, change.name)
    if path.suffix not in KEYS:
        raise ParameterError("The name of a key ends in .key or .bin.", hint="such as shoal.key.")
    if change.new:
        make_key(path)
    read_key(path)
    session.change(replace(session.draft, key=str(path)), f"key of tokens: {path.name}")
    return go(session)


@router.post("/columns/cells")
async def change_cells(change: CellsChange, session: Here) -> Answer:
    """Release a column in cells of which no two overlap, or in any."""
    if session.draft.role(change.column) != "quasi-identifier":
        raise ParameterError(f"{change.column} is not a quasi-identifier.", hint="give it that role first.")
    choice = {"most": change.most} if change.most else change.cells
    draft = session.draft.with_choice("cells", change.column, choice if change.cells else None)
    check_draft(draft)
    words = f"no two cells overlap{f', at most {change.most:,}' if change.most else ''}"
    session.change(draft, f"{change.column}: {words if change.cells else 'cells may overlap'}")
    return go(session)


@router.post("/columns/weight")
async def change_weight(change: WeightChange, session: Here) -> Answer:
    """Let a column's detail matter more or less."""
    weight = None if change.weight == 1 else change.weight
    session.change(
        session.draft.with_choice("weights", change.column, weight), f"{change.column}: weight {change.weight:g}"
    )
    return go(session)


assert set(ROLE_WORDS) == set(ROLES)  # noqa: S101
