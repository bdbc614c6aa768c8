"""What differs between columns released as ranges, as nodes of a hierarchy and as sets. Other kernels call these functions and do not compare kinds.

Most are about one column of a group, given by its lowest and highest code, the number of its values and the words that hold their
bits; a column that is not a set has no words, and its count is not read. If kinds of columns need methods that have nothing in common, a kernel
tests the property on which its method rests: :func:`has_order`, :func:`has_tree`, :func:`has_members`.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import BoolArray, WordArray
from shoal.compiling.decorator import kernel
from shoal.kernels.space.bits import holds_code, note_code, set_code
from shoal.kernels.space.space import INTERVAL, NODE, SET, Space, child_above, find_node, lowest_leaf


@kernel(allocates=False)
def has_order(kind: int) -> bool:
    """Return whether codes of a column stand for numbers in their order, so that a range has a width."""
    return kind == INTERVAL


@kernel(allocates=False)
def has_tree(kind: int) -> bool:
    """Return whether a column is released as nodes of a hierarchy, whose leaves are its codes."""
    return kind == NODE


@kernel(allocates=False)
def has_members(kind: int) -> bool:
    """Return whether a column is released as sets, so that each of its values counts and not only the ends."""
    return kind == SET


def ordered_columns(space: Space) -> BoolArray:
    """Return for each column whether :func:`has_order` holds; for Python, which calls no small kernels."""
    return np.asarray(space.kind == INTERVAL, np.bool_)


def tree_columns(space: Space) -> BoolArray:
    """Return for each column whether :func:`has_tree` holds."""
    return np.asarray(space.kind == NODE, np.bool_)


@kernel(allocates=False)
def add_value(space: Space, words: WordArray, column: int, code: int) -> int:
    """Add a code to the values of a column; return 1 if it is a new one of a set, else 0."""
    if space.kind[column] != SET or holds_code(words, space.word_start[column], code):
        return 0
    set_code(words, space.word_start[column], code)
    return 1


@kernel(allocates=False)
def note_value(space: Space, words: WordArray, alone: WordArray, column: int, code: int) -> int:
    """As :func:`add_value`; ``alone`` holds the values that one record alone has."""
    return note_code(words, alone, space.word_start[column], code) if space.kind[column] == SET else 0


@kernel(allocates=False)
def has_value(space: Space, words: WordArray, column: int, code: int) -> bool:
    """Return whether a column is a set that has a code."""
    return space.kind[column] == SET and holds_code(words, space.word_start[column], code)


@kernel(allocates=False)
def lacks_value(space: Space, words: WordArray, column: int, code: int) -> bool:
    """Return whether a column is a set that does not have a code."""
    return space.kind[column] == SET and not holds_code(words, space.word_start[column], code)


@kernel(allocates=False)
def covers_code(space: Space, words: WordArray, column: int, low: int, high: int, code: int) -> bool:
    """Return whether a code changes nothing about a column: it is one of the set, or between the ends."""
    if space.kind[column] == SET:
        return holds_code(words, space.word_start[column], code)
    return low <= code <= high


@kernel(allocates=False)
def may_cover(space: Space, words: WordArray, column: int, low: int, high: int, first: int, last: int) -> bool:
    """Return whether a code of ``first..last`` may change nothing about a column; of a set that is known for a single code only."""
    if space.kind[column] == SET:
        return first < last or holds_code(words, space.word_start[column], first)
    return first <= high and low <= last


@kernel(allocates=False)
def shows_code(space: Space, words: WordArray, column: int, low: int, high: int, code: int) -> bool:
    """Return whether a code is among what a column is released as: a node shows all leaves below it."""
    if covers_code(space, words, column, low, high, code):
        return True
    if space.kind[column] != NODE or low == high:
        return False
    return find_node(space, column, low, high) == find_node(space, column, min(low, code), max(high, code))


@kernel(allocates=False)
def shown_range(space: Space, column: int, low: int, high: int) -> tuple[int, int]:
    """Return the lowest and the highest code among what a column is released as: a node shows all leaves below it."""
    if space.kind[column] != NODE or low == high:
        return low, high
    node = find_node(space, column, low, high)
    return lowest_leaf(space, column, node), int(space.node_high[space.start[column] + node])


@kernel(allocates=False)
def shows_all(space: Space, column: int, low: int, high: int) -> bool:
    """Return whether a column is released as ``*``: the root of a hierarchy, or a missing value mixed with others."""
    if low == high:
        return False
    if high == space.missing[column]:
        return True
    if space.kind[column] != NODE:
        return False
    node = find_node(space, column, low, high)
    return bool(space.node_parent[space.start[column] + node] == node)


@kernel(allocates=False)
def leaves_part(space: Space, column: int, low: int, high: int, witness: int, above: bool, code: int) -> bool:
    """Return whether a record with this code leaves when a column is narrowed; ``witness`` is a code that says to what.

    A node is narrowed to the child that holds the witness, a range to the codes up to the witness (from the witness on, if ``above``), and
    a set to all codes but the witness.
    """
    if space.kind[column] == NODE:
        node = find_node(space, column, low, high)
        return child_above(space, column, node, code) != child_above(space, column, node, witness)
    if space.kind[column] == SET:
        return code == witness
    return code < witness if above else code > witness
