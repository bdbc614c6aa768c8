"""Kernels compiled ahead of time: for this user, or for a wheel.

::

    jobs.py        small jobs that between them call every kernel that Python calls
    listing.py     runs them with numba off and lists the kernels, with the types of their arguments
    processes.py   compiles the kernels of a list in several processes
    shipping.py    puts kernels compiled for any processor of a kind into a wheel
"""

from shoal.methods import DEFAULT_METHOD, REGISTRY

EFFORT_PARTS = ("fast", "balanced", "best")
PART_NAMES = (
    "demo",
    *EFFORT_PARTS,
    *(name for name in REGISTRY.own if name != DEFAULT_METHOD),
    "narrow",
    "models",
    "measures",
)
"""What can be compiled ahead: the demo, the optimizer by effort, every other method, tables of one quasi-identifier (of which numba
makes other types), models beyond k with people, and what looks at releases or treats other columns."""
