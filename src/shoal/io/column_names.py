"""Names for columns that have none."""

from __future__ import annotations

ROW_NAMES = "row"
"""The name of a first column that has none."""


def name_first(names: list[str], width: int) -> tuple[list[str], tuple[str, ...]]:
    """Return the column names with one for the row names that R and pandas write without; and what to say about it.

    pandas and R leave the first name empty, or (R's ``write.table``) write one name fewer than there are columns.
    """
    if names and names[0] and width != len(names) + 1:
        return names, ()
    rest = names[1:] if width == len(names) else names
    tries = (ROW_NAMES, *(f"{ROW_NAMES}_{place}" for place in range(2, len(rest) + 3)))
    first = next(name for name in tries if name not in rest)
    note = f"The first column has no name and is called {first!r} here; it may be row numbers that tell people apart."
    return [first, *rest], (note,)
