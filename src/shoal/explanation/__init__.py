"""Why is this cell so coarse? What a group has in common, what one step narrower would break, and what else would do.

Called by a result, for the steward who has the table. It says how many companions a person has, and does not know who they are.
"""

from __future__ import annotations

from shoal.explanation.alternatives import join_costs
from shoal.explanation.answer import Explanation, explain, whole

__all__ = ["Explanation", "explain", "join_costs", "whole"]
