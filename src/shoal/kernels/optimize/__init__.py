"""The optimizer's kernels: groups that change, regions of near groups, and a bound."""
