"""Step 3, Hierarchies: how a column is made coarser, as a tree one can change."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BaseModel, Field

from shoal.errors import HierarchyError, ParameterError
from shoal.hierarchy import WORDS, Hierarchy
from shoal.web import trees
from shoal.web.draft import Draft
from shoal.web.folder import inside, list_hierarchies
from shoal.web.private import private_file
from shoal.web.routes.columns import coarser_words
from shoal.web.routes.common import Answer, Here, go
from shoal.web.routes.orders import order_view, put_in_order, uncovered
from shoal.web.routes.rendering import render
from shoal.web.session import Session, digest
from shoal.web.treating import DATES, END_PERIODS

router = APIRouter()

_MOST_NODES = 400
_MOST_BARS = 80
_MOST_VALUES = 100_000


class Making(BaseModel):
    """How a column shall be made coarser."""

    column: str
    how: Literal["ranges", "set", "flat", "suggest", "order"]


class Ends(BaseModel):
    """Where the ranges of a column end: round or exact, at multiples of a number, at the beginning of periods."""

    column: str
    end: str = Field(max_length=40)
    step: str = Field(default="", max_length=40)


class Loading(BaseModel):
    """A hierarchy file: one of the folder, or the text of one that was chosen in the browser."""

    column: str
    name: str = Field(default="", max_length=4096)
    text: str = Field(default="", max_length=900_000)


class Change(BaseModel):
    """A change of the tree."""

    column: str
    what: Literal["move", "merge", "rename", "dissolve", "add"]
    nodes: list[str] = Field(default=[], max_length=10_000)
    name: str = Field(default="", max_length=1000)


@router.get("/hierarchies", response_class=HTMLResponse)
async def show(request: Request, session: Here, column: str | None = None, below: str = "") -> Response:
    """Show the tree of a column, by default of the first quasi-identifier; of a large tree what lies below a group."""
    if session.table is None:
        return RedirectResponse("open", status_code=303)
    known = _choices(session)
    names = [one["name"] for one in known]
    chosen = column if column in names else next(iter(names), None)
    view: dict[str, Any] = {"column": chosen, "known": known, "tree": None, "order": None, "files": []}
    if chosen is not None:
        view |= await _column_view(session, chosen, below)
    return render("hierarchies", request, session, view)


def _choices(session: Session) -> list[dict[str, str]]:
    """Return the columns that have a place here: quasi-identifiers, and sensitive ones whose values have an order."""
    draft = session.draft
    types = {one["name"]: one["type"] for one in session.need_table().columns}
    ordered = [name for name in draft.get("sensitive") if draft.order(name)]
    return [
        {"name": name, "words": coarser_words(draft, name, types[name]) or "in your order"}
        for name in [*draft.get("quasi_identifiers"), *ordered]
    ]


async def _column_view(session: Session, column: str, below: str) -> dict[str, Any]:
    counts = await session.count_values(column)
    tree = load_tree(session, column)
    words = next(one["words"] for one in _choices(session) if one["name"] == column)
    order = session.draft.order(column) if tree is None else None
    view: dict[str, Any] = {
        "words": words,
        "distinct": len(counts),
        "ranged": words == "ranges",
        "rangeable": coarser_words(_as_found(session.draft, column), column, session.types[column]) == "ranges",
        "sorted": order is not None and "order" in words,
        "quasi": session.draft.role(column) == "quasi-identifier",
        "end": _end(session, column),
        "timed": next(one["type"] for one in session.need_table().columns if one["name"] == column) in DATES,
        "periods": END_PERIODS,
        "files": [one.name for one in list_hierarchies(session.folder)],
    }
    if tree is None:
        return view | order_view(order or [], counts)
    sums = trees.count_nodes(tree, counts)
    top = below if below in tree.labels[tree.n_leaves :] else tree.labels[tree.root]
    return (
        view
        | {
            "tree": tree,
            "tree_key": digest(session.draft.get("hierarchies")[column]),
            "rows": list(_rows(tree, sums, top)),
            "above": _above(tree, top),
            "top": top,
            "groups": list(reversed(tree.labels[tree.n_leaves :]))[:_MOST_NODES],
            "levels": [_level(number, bars) for number, bars in enumerate(trees.level_counts(tree, counts))],
            "largest": max(sums.values(), default=1) or 1,
        }
        | uncovered(tree.leaves, counts)
    )


def _as_found(draft: Draft, column: str) -> Draft:
    return draft.with_choice("hierarchies", column, None).without_order(column)


def _end(session: Session, column: str) -> dict[str, Any]:
    """Return where the ranges of a column end: as all others, or as was said of it."""
    ends = session.draft.get("ends")
    own = ends.get(column) if isinstance(ends, Mapping) else None
    number = isinstance(own, int | float)
    return {
        "all": ends if isinstance(ends, str) else "round",
        "own": "step" if number else own or "",
        "step": own if number else "",
    }


def _level(number: int, bars: list[tuple[str, int]]) -> dict[str, Any]:
    shown = bars if len(bars) <= _MOST_BARS else sorted(bars, key=lambda one: -one[1])[:_MOST_BARS]
    return {
        "number": number,
        "groups": len(bars),
        "bars": [{"label": label, "count": count} for label, count in shown],
        "most": max((count for _, count in bars), default=1) or 1,
        "cut": len(bars) > len(shown),
    }


def _rows(tree: Hierarchy, sums: dict[str, int], top: str) -> Iterator[dict[str, Any]]:
    """Yield the nodes below ``top``, each before what is below it: as many storeys as a page can show."""
    deepest = _storeys(tree, top)
    stack = [(top, 0)]
    given = 0
    while stack and given < _MOST_NODES:
        label, depth = stack.pop()
        children = tree.children(label)
        closed = depth == deepest and children
        yield {
            "label": label, "id": digest(label), "depth": min(depth, 8), "group": bool(children), "count": sums[label],
            "top": label == tree.labels[tree.root], "closed": len(children) if closed else 0,
        }  # fmt: skip
        given += 1
        if not closed:
            stack.extend((child, depth + 1) for child in reversed(children))


def _above(tree: Hierarchy, label: str) -> list[str]:
    """Return the groups above a node, the root first."""
    found: list[str] = []
    node = tree.node(label)
    while node != tree.root:
        node = int(tree.parent[node])
        found.insert(0, tree.labels[node])
    return found


def _storeys(tree: Hierarchy, top: str) -> int:
    """Return how many storeys below a node can be shown, at least one."""
    shown, storey, depth = 1, [top], 0
    while storey:
        storey = [child for label in storey for child in tree.children(label)]
        shown += len(storey)
        if shown > _MOST_NODES and depth:
            break
        depth += 1
    return depth


def load_tree(session: Session, column: str) -> Hierarchy | None:
    """Return the hierarchy of a column, if it has one."""
    choice = session.draft.get("hierarchies").get(column)
    if choice is None or choice in WORDS:
        return None
    return Hierarchy.from_csv(choice)


def _keep(session: Session, column: str, tree: Hierarchy, words: str) -> Answer:
    """Let a column be made coarser along a hierarchy."""
    session.change(session.draft.with_choice("hierarchies", column, _write(session, tree)), f"{column}: {words}")
    return go(session)


def _write(session: Session, tree: Hierarchy) -> str:
    """Write a hierarchy to a private file of its own: earlier ones stay, so that undo finds them."""
    target = private_file(session.private / f"hierarchy-{session.workshop.new_name()}.csv")
    tree.to_csv(target)
    return str(target)


async def _suggest(session: Session, column: str) -> Hierarchy:
    counts = await session.count_values(column)
    if len(counts) > _MOST_VALUES:
        raise ParameterError(f"{column} has {len(counts):,} values, too many for a tree on a page.")
    return Hierarchy.suggest(await session.ask("read_values", table=session.need_table().stored, column=column))


@router.post("/hierarchies/suggest")
async def suggest_all(session: Here) -> Answer:
    """Suggest a hierarchy for every quasi-identifier that has none, as one step."""
    draft = session.draft
    for column in draft.without_tree:
        draft = draft.with_choice("hierarchies", column, _write(session, await _suggest(session, column)))
    session.change(draft, "hierarchies suggested where there were none")
    return go(session)


@router.post("/hierarchies/make")
async def make(making: Making, session: Here) -> Answer:
    """Make a column coarser in another way."""
    if making.how == "suggest":
        return _keep(session, making.column, await _suggest(session, making.column), "hierarchy suggested")
    if making.how == "order":
        return await put_in_order(session, making.column)
    choice = {"ranges": None, "set": "set", "flat": "flat"}[making.how]
    draft = session.draft if choice else session.draft.without_order(making.column)
    session.change(draft.with_choice("hierarchies", making.column, choice), f"{making.column}: {making.how}")
    return go(session)


@router.post("/hierarchies/ends")
async def change_ends(change: Ends, session: Here) -> Answer:
    """Let the ranges of a column end elsewhere."""
    kinds = {one["name"]: one["type"] for one in session.need_table().columns}
    if change.column not in kinds:
        raise ParameterError(f"The table has no column {change.column!r}.")
    end: float | str | None = change.end or None
    if end == "step":
        end = _step(change.step)
    session.change(
        session.draft.with_ends(change.column, end),
        f"{change.column}: ranges end {change.step or change.end or 'as all'}",
    )
    return go(session)


def _step(text: str) -> float:
    try:
        number = float(text or "10")
    except ValueError:
        raise ParameterError("The step of ranges must be a number.") from None
    if not 0 < number < math.inf:
        raise ParameterError("The step of ranges must be above 0.")
    return int(number) if number == int(number) else number


@router.post("/hierarchies/load")
async def load(loading: Loading, session: Here) -> Answer:
    """Take a hierarchy from a file in ARX's format; the file itself is never changed."""
    if loading.name:
        path = inside(session.folder, loading.name)
        tree = Hierarchy.from_csv(path)
        session.change(
            session.draft.with_choice("hierarchies", loading.column, str(path)), f"{loading.column}: {path.name}"
        )
        return go(session)
    if not loading.text:
        raise HierarchyError("The file is empty.")
    tree = Hierarchy.from_csv(io.StringIO(loading.text))
    return _keep(session, loading.column, tree, "hierarchy loaded")


@router.post("/hierarchies/change")
async def change(change: Change, session: Here) -> Answer:
    """Change the tree of a column."""
    tree = load_tree(session, change.column)
    if tree is None:
        raise ParameterError(f"{change.column} has no hierarchy yet.", hint="have one suggested, or load one.")
    if change.what == "add":
        counts = await session.count_values(change.column)
        known = set(tree.leaves)
        changed = trees.add(tree, [value for value in counts if value not in known])
    else:
        changed = _changed(tree, change)
    words = {
        "move": f"{_some(change.nodes)} to {change.name}",
        "merge": f"{_some(change.nodes)} put together as {_group_name(change)}",
        "rename": f"{_some(change.nodes)} renamed {change.name}",
        "dissolve": f"{_some(change.nodes)} dissolved",
        "add": "values without a place added",
    }
    return _keep(session, change.column, changed, words[change.what])


def _changed(tree: Hierarchy, change: Change) -> Hierarchy:
    if not change.nodes:
        raise HierarchyError("Nothing is ticked.", hint="tick the values or groups to change.")
    if change.what == "move":
        return trees.move(tree, change.nodes, change.name)
    if change.what == "merge":
        return trees.merge(tree, change.nodes, _group_name(change))
    if len(change.nodes) > 1:
        raise HierarchyError("Tick one group only.")
    if change.what == "rename":
        return trees.rename(tree, change.nodes[0], change.name.strip())
    return trees.dissolve(tree, change.nodes[0])


def _group_name(change: Change) -> str:
    """Return the name of a new group: the one given, else its members'."""
    return change.name.strip() or _some(change.nodes)


def _some(nodes: list[str]) -> str:
    return ", ".join(nodes[:3]) + (f" and {len(nodes) - 3} more" if len(nodes) > 3 else "")


@router.get("/hierarchies/download")
def download(column: str, session: Here) -> Response:
    """Return the hierarchy of a column as a file in ARX's format."""
    choice = session.draft.get("hierarchies").get(column)
    if choice is None or choice in WORDS:
        raise ParameterError(f"{column} has no hierarchy.")
    text = Path(choice).read_text(encoding="utf-8")
    safe = "".join(sign if sign.isascii() and sign.isalnum() else "_" for sign in column)
    return Response(text, media_type="text/csv", headers={"content-disposition": f'attachment; filename="{safe}.csv"'})
