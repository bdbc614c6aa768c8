"""A table made larger, with as much new in it as wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.arrays import LongArray
from shoal.datasets._draw import Draws
from shoal.errors import ParameterError
from shoal.validation import check_columns, check_int

if TYPE_CHECKING:
    import pyarrow as pa


def scaled_tuples(
    data: Any,
    leaves: Mapping[str, Sequence[str]],
    *,
    scale: int = 30,
    novelty: int = 3,
    varied: Sequence[str] | None = None,
    seed: int = 0,
) -> pa.Table:
    """Enlarge a table: each record is followed by ``scale`` − 1 variations of it.

    A variation takes random values in ``novelty`` of the columns and is like the record in all others. This is the
    data of the scalability experiment of Wang, Yu & Chakraborty, *Bottom-Up Generalization* (ICDM 2004), section 6.2.
    The paper does not say whether each record varies in columns of its own; the number of distinct tuples it names
    comes out when all records vary in the same ones, so they do here.

    Parameters
    ----------
    data
        Any table.
    leaves
        The columns that may vary, and the values each can take.
    scale
        The paper's σ: records in the result for each of ``data``.
    novelty
        The paper's ρ: how many columns vary.
    varied
        The columns that vary; by default ``novelty`` of them chosen at random.
    seed
        Equal seeds give equal tables.

    Examples
    --------
    >>> import shoal
    >>> shoal.datasets.scaled_tuples({"sex": ["f", "m"]}, {"sex": ["f", "m"]}, scale=3, novelty=1).num_rows
    6
    """
    import pyarrow as pa

    from shoal.frames import to_frame

    table = to_frame(data).table
    names = check_columns("a column that may vary", list(leaves), table.column_names)
    scale = check_int("scaled_tuples", "scale", scale, least=1)
    novelty = check_int("scaled_tuples", "novelty", novelty, least=0, most=len(names))
    draws = Draws(check_int("scaled_tuples", "seed", seed, least=0))
    chosen = _varied(draws, names, novelty, varied)
    place = np.repeat(np.arange(table.num_rows), scale)
    original = np.tile(np.arange(scale) == 0, table.num_rows)
    columns = {}
    for name in table.column_names:
        column = table.column(name)
        if name in chosen:
            columns[name] = _vary(column, place, original, list(leaves[name]), draws, name)
        else:
            columns[name] = column.dictionary_encode().take(pa.array(place))
    return pa.table(columns)


def _varied(draws: Draws, names: Sequence[str], novelty: int, varied: Sequence[str] | None) -> tuple[str, ...]:
    if varied is None:
        return tuple(names[place] for place in draws.order("columns", len(names))[:novelty])
    chosen = check_columns("a column that varies", varied, names)
    if len(chosen) != novelty:
        raise ParameterError(
            f"The 'varied' parameter of scaled_tuples must name 'novelty' columns, {novelty}. Got {len(chosen)}."
        )
    return chosen


def _vary(
    column: pa.ChunkedArray, place: LongArray, original: Any, values: list[str], draws: Draws, name: str
) -> pa.ChunkedArray:
    """Return the originals where ``original``, else any of ``values``, as indices into both together."""
    import pyarrow as pa

    from shoal.frames import encode_dictionary

    encoded = encode_dictionary(column.cast(pa.string()))
    known = encoded.dictionary.to_pylist()
    texts = list(dict.fromkeys([*known, *values]))
    number = {text: code for code, text in enumerate(texts)}
    random = np.array([number[text] for text in values])[draws.integers(name, len(place), 0, len(values) - 1)]
    own = np.asarray(encoded.indices.fill_null(-1))[place]
    codes = np.where(original, own, random).astype(np.int32)
    indices = pa.array(codes, mask=codes < 0)
    return pa.chunked_array([pa.DictionaryArray.from_arrays(indices, pa.array(texts, pa.string()))])
