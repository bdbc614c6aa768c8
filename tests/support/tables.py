"""Random coded tables for hypothesis, with every kind of column."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from shoal.encoding import CodedTable, encode
from shoal.frames import Frame
from shoal.hierarchy import Hierarchy

TREE = Hierarchy.from_dict({"*": {"N": {"P": ["b", "c", "d"], "Q": {"R": ["e", "f"], "S": ["g"]}}, "M": ["a"]}})


def coded_table(rows: int, columns: str, seed: int, *, missing: bool = False, weighted: bool = False) -> CodedTable:
    """Return a table with one column for each letter: i(nterval), n(ode), f(lat), s(et)."""
    random = np.random.default_rng(seed)
    data, hierarchies, weights = {}, {}, {}
    for place, letter in enumerate(columns):
        name = f"{letter}{place}"
        if letter == "i":
            values = random.integers(0, random.integers(1, 30) + 1, rows).tolist()
        elif letter == "n":
            values = random.choice(list("abcdefg"), rows).tolist()
            hierarchies[name] = TREE
        else:
            values = random.choice([f"v{one}" for one in range(random.integers(1, 9))], rows).tolist()
            hierarchies[name] = "flat" if letter == "f" else "set"
        if missing:
            values = [None if hole else value for hole, value in zip(random.random(rows) < 0.15, values, strict=True)]
        data[name] = pa.array(values, pa.int64() if letter == "i" else pa.string())
        weights[name] = float(random.integers(1, 9)) if weighted else 1.0
    return encode(Frame(pa.table(data)), list(data), hierarchies=hierarchies, weights=weights)


@st.composite
def coded_tables(draw: st.DrawFn, *, least: int = 2, most: int = 40) -> CodedTable:
    """Draw a small table of any mix of columns, with or without missing values and weights."""
    return coded_table(
        draw(st.integers(least, most)),
        draw(st.text("infs", min_size=1, max_size=4)),
        draw(st.integers(0, 10**6)),
        missing=draw(st.booleans()),
        weighted=draw(st.booleans()),
    )
