from __future__ import annotations

import io

from hypothesis import example, given
from hypothesis import strategies as st

from shoal.hierarchy.files import _lines


@given(st.text(alphabet='a;"\r\n', max_size=12))
@example("a\r\n\r\rb\n\nc")
def test_lines_looked_at_are_those_that_are_read(text):
    assert list(_lines(text)) == list(io.StringIO(text, newline=""))
