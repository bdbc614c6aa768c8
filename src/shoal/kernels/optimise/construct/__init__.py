"""First groupings for the optimiser to improve."""
