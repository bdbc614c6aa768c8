"""Who is alone by some columns: counted in one array, to two and no further."""

from __future__ import annotations

from shoal.arrays import AnyArray, BoolArray, IntArray, LongArray
from shoal.compiling.decorator import kernel


@kernel()
def mark_alone(
    records: LongArray, label: LongArray, row: IntArray, span: int, count: AnyArray, alone: BoolArray
) -> None:
    """Set ``alone`` for each of ``records``: whether no other has its label and its code in ``row``.

    ``count`` has a zero for each label and code.
    """
    for place in range(records.shape[0]):
        key = label[place] * span + row[records[place]]
        if count[key] < 2:  # a second record is enough to know
            count[key] += 1
    for place in range(records.shape[0]):
        key = label[place] * span + row[records[place]]
        alone[records[place]] = count[key] == 1
