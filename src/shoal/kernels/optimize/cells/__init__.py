"""Generalization cells: found best first, enumerated depth first, or learned in the neighbourhood of groups."""
