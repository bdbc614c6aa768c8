"""Earlier points on the way of a method that generalizes step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shoal.arrays import IntArray
from shoal.methods.base import Grouping
from shoal.methods.global_recoding.climbing import Step, cuts_after
from shoal.methods.global_recoding.full_domain import LevelStep
from shoal.methods.global_recoding.levels import cuts_at, levels_of
from shoal.methods.global_recoding.trees import allowed_records, finish, judge_cut, leaf_tuples, release_tuples

if TYPE_CHECKING:
    from shoal.encoding import CodedTable
    from shoal.methods.base import Task

Steps = Sequence[Step] | Sequence[LevelStep]


def cuts_after_steps(table: CodedTable, steps: Steps) -> tuple[IntArray, ...]:
    """Return what each code is released as once ``steps`` were taken."""
    level_steps = [step for step in steps if isinstance(step, LevelStep)]
    if level_steps:
        reached = {step.column: step.level for step in level_steps}
        levels = levels_of(table, "datafly")
        chosen = [column.steps.index(reached.get(name, 0)) for column, name in zip(levels, table.names, strict=True)]
        return cuts_at(levels, chosen)
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
        verdict = judge_cut(released, table.space, task)
        return not verdict.left_out and int(released.size[verdict.failing].sum()) <= allowed

    fewest, most = 0, len(steps)
    while fewest < most:
        middle = (fewest + most) // 2
        fewest, most = (fewest, middle) if meets(middle) else (middle + 1, most)
    return finish(base, cuts_after_steps(table, steps[:most]), table.space, task, {"steps": tuple(steps[:most])})
