"""When a rule found on a sample is accepted: it must be right often, much more often than a guess, and not by chance."""

from __future__ import annotations

import math

NINE_IN_TEN = 0.9
_COMMON = 0.4
"""A value that more records than this have is guessed rightly so often that nine in ten says little."""
_MARGIN = 12.0
"""Natural logarithm by which chance must be beaten beyond the number of rules that were tried."""
FEWEST = 20
"""Records that say nothing about a rule, if there are fewer."""


def holds(hits: float, tried: int, guess: float, log_rules: float) -> bool:
    """Return whether a rule that is right ``hits`` times of ``tried`` gives a column.

    It must be right for nine records in ten. If a constant guess is right for a share ``guess`` above 0.4, the rule must also settle nine
    in ten of the records that the guess gets wrong: a column that is almost always 0 is not computed by saying 0. ``log_rules`` is
    the natural logarithm of the number of rules tried; the surplus over the guess must be beyond what the best of so many reaches by
    chance (Chernoff's bound).
    """
    if tried < FEWEST or guess >= 1.0:
        return False
    share = hits / tried
    gained = (share - guess) / (1.0 - guess)
    if share < NINE_IN_TEN or (guess > _COMMON and gained < NINE_IN_TEN):
        return False
    return tried * divergence(share, guess) >= log_rules + _MARGIN


def divergence(share: float, guess: float) -> float:
    """Return the Kullback-Leibler divergence between two shares in nats."""
    guess = min(max(guess, 1e-9), 1.0 - 1e-9)
    above = share * math.log(share / guess) if share > 0 else 0.0
    below = (1.0 - share) * math.log((1.0 - share) / (1.0 - guess)) if share < 1 else 0.0
    return above + below
