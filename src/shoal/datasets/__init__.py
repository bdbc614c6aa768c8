"""Tables to try shoal on, all made here from a seed.

A hospital's register with a voter list, a census like UCI Adult, numbers without meaning, and a small table blown up. Called by users, the demo,
the warming up of kernels and the benchmarks. It knows tables and hierarchies, and nothing of releases.
"""

from shoal.datasets._adult import AdultLike, adult_like
from shoal.datasets._hospital import Hospital, hospital
from shoal.datasets._scaled import scaled_tuples
from shoal.datasets._synthetic import gaussian, uniform

__all__ = ["AdultLike", "Hospital", "adult_like", "gaussian", "hospital", "scaled_tuples", "uniform"]
