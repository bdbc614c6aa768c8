"""Random numbers inside kernels: a state that comes in as an array, so that one seed gives one result."""

from __future__ import annotations

import numpy as np

from shoal.arrays import LongArray, WordArray
from shoal.compiling.decorator import kernel
from shoal.kernels.common.hashing import scramble

BLOCKS = 1
"""The stream that divides a table into blocks of near records."""
LEVELS = 2
"""The stream of the random words that tell the cells of a level apart."""
CELL_POOL = 3
"""The stream of the random words by which a pool of cells knows its tuples."""
RECOMBINING = 4
"""The same for the cells of two groupings that are recombined."""
CARVING = 5
"""The stream that carving draws from."""


@kernel()
def make_state(seed: int, stream: int) -> WordArray:
    """Return the state of one of many independent streams of random numbers."""
    state = np.empty(1, np.uint64)
    state[0] = scramble(scramble(np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15)) + np.uint64(stream))
    return state


@kernel(allocates=False)
def draw_word(state: WordArray) -> np.uint64:
    """Return the next random 64-bit word."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    return scramble(state[0])


@kernel(allocates=False)
def draw_below(state: WordArray, limit: int) -> int:
    """Return a random integer in 0..limit-1."""
    return int(draw_word(state) % np.uint64(limit))


@kernel(allocates=False)
def draw_share(state: WordArray) -> float:
    """Return a random number in [0, 1)."""
    return float(draw_word(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@kernel(allocates=False)
def shuffle(state: WordArray, order: LongArray) -> None:
    """Put numbers into random order."""
    for place in range(order.shape[0] - 1, 0, -1):
        other = draw_below(state, place + 1)
        order[place], order[other] = order[other], order[place]
