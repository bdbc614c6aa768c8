"""Generated calls give the same rows streamed as in memory, except where the table of exceptions says otherwise."""

from __future__ import annotations

import pytest

from tests.engines.agreement import EXCEPTIONS, compare, in_memory, make_call, run, small, streamed, tried
from tests.engines.sweep import table_of


@pytest.mark.parametrize("block", range(4))
def test_memory_and_streams_agree_on_generated_calls(block):
    said = []
    tally = run(11, range(12 * block, 12 * (block + 1)), None, said.append)
    assert said == []
    assert tally["stream: same"] >= 4


def test_rows_that_differ_are_seen(tmp_path):
    """The comparison itself: another seed of a method that draws is other rows."""
    call = next(one for one in (make_call(3, number, tmp_path) for number in range(99)) if one.method == "optimize")
    with small():
        memory = tried(lambda: in_memory(call, table_of(call.records)))
        other = tried(lambda: streamed(call, table_of(call.records).slice(1), tmp_path))
    assert compare(call, "stream", memory, other)[0] == "differs"
    assert len({one.what for one in EXCEPTIONS}) == len(EXCEPTIONS)
