"""Earlier points on the way of a method that generalizes step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shoal.arrays import IntArray
from shoal.methods.base import Grouping
from shoal.methods.global_recoding.climbing import Step, cuts_after
from shoal.methods.global_recoding.full_domain import LevelStep
from shoal.methods.global_recoding.levels import cuts_at, levels_of
from shoal.methods.global_recoding.trees import allowed_records, finish, groups_to_withhold, leaf_tuples, release_tuples

if TYPE_CHECKING:
    from shoal.encoding import CodedTable
    from shoal.methods.base import Task

Steps = Sequence[Step] | Sequence[LevelStep]


def cuts_after_steps(table: CodedTable, steps: Steps) -> tuple[IntArray, ...]:
    """Return what each code is released as once ``steps`` were taken."""
    level_steps = [step for step in steps if isinstance(step, LevelStep)]
    if level_steps:
        chosen = {step.column: step.level for step in level_steps}
        return cuts_at(levels_of(table, "datafly"), [chosen.get(name, 0) for name in table.names])
    climbed = [step for step in steps if isinstance(step, Step)]
    return cuts_after(climbed, [column.cardinality for column in table.columns])


def earliest_grouping(table: CodedTable, steps: Steps, task: Task) -> Grouping:
    """Return the grouping after the fewest of ``steps`` that meet ``task``; all of them must.

    More steps only join groups, so the number can be found by halving.
    """
    base = leaf_tuples(table.codes)
    allowed = allowed_records(table.records, task)

    def meets(number: int) -> bool:
        released = release_tuples(base, cuts_after_steps(table, steps[:number]))
        return int(released.size[groups_to_withhold(released, task)].sum()) <= allowed

    fewest, most = 0, len(steps)
    while fewest < most:
        middle = (fewest + most) // 2
        fewest, most = (fewest, middle) if meets(middle) else (middle + 1, most)
    return finish(base, cuts_after_steps(table, steps[:most]), task, {"steps": tuple(steps[:most])})
