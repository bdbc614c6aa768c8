"""Tables to try shoal on, all made here from a seed."""

from shoal.datasets._adult import AdultLike, adult_like
from shoal.datasets._hospital import Hospital, hospital
from shoal.datasets._scaled import scaled_tuples
from shoal.datasets._synthetic import gaussian, uniform

__all__ = ["AdultLike", "Hospital", "adult_like", "gaussian", "hospital", "scaled_tuples", "uniform"]
