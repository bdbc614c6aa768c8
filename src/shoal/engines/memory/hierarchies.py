"""How columns are made coarser whose hierarchy is chosen automatically: by the column, the method and the data."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from shoal.encoding import CodedTable, HierarchyChoice, is_ordered
from shoal.frames import Frame
from shoal.hierarchy import Hierarchy
from shoal.learning import learn_trees, wishes
from shoal.request import Request

Encoded = Callable[[Mapping[str, HierarchyChoice]], CodedTable]


def settle_hierarchies(request: Request, frame: Frame, encoded: Encoded) -> dict[str, HierarchyChoice]:
    """Return the choices with ``"auto"`` settled: ranges for numbers and dates, learned trees for categories, suggested ones for codes.

    Only quasi-identifiers are looked at. ``encoded`` codes the table with the choices it is given.
    """
    choices = request.hierarchy_words()
    auto = [name for name, choice in choices.items() if isinstance(choice, str) and choice == "auto"]
    auto = [name for name in auto if name in request.quasi_identifiers]
    if not auto:
        return choices
    settled = {name: choice for name, choice in choices.items() if name not in auto}
    codes = {name for name, kind in request.kinds.items() if kind == "nominal"}
    ordered = {name for name in auto if name not in codes and is_ordered(frame.typed(name).type)}
    wanted = wishes(frame, [name for name in auto if name not in ordered], codes)
    known = {wish.name for wish in wanted}
    settled |= {name: "suggest" for name in auto if name not in ordered | known}
    if not wanted:
        return settled
    learned = learn_trees(
        wanted,
        lambda trees: encoded({**settled, **trees}),
        k=request.k,
        effort=request.effort,
        seed=request.seed,
        cancel=request.cancel,
    )
    return {**settled, **learned}


def settled_words(hierarchies: Mapping[str, HierarchyChoice]) -> dict[str, str]:
    """Return settled choices as a request of what was done holds them: a tree that no file holds is ``"(object)"``."""
    return {name: "(object)" if isinstance(choice, Hierarchy) else str(choice) for name, choice in hierarchies.items()}
