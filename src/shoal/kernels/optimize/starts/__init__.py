"""First groupings for the optimizer to improve: cells from cheap to expensive, cuts, and groups grown record by record."""
