"""What workers can do. Each task is called by its name with plain values and returns plain values.

``tell("progress", (share, text))`` moves the bar; ``tell("part", value)`` hands over what is known already.
"""

from __future__ import annotations

from shoal.web.jobs.asking import ask_questions
from shoal.web.jobs.comparing import compare_points
from shoal.web.jobs.previewing import preview, prices
from shoal.web.jobs.releasing import explain_cell, make_release, publish, read_rows, save_recipe
from shoal.web.jobs.tables import count_people, count_values, identify, list_tables, open_table, read_values

__all__ = [
    "ask_questions",
    "compare_points",
    "count_people",
    "count_values",
    "explain_cell",
    "identify",
    "list_tables",
    "make_release",
    "open_table",
    "preview",
    "prices",
    "publish",
    "read_rows",
    "read_values",
    "save_recipe",
]
