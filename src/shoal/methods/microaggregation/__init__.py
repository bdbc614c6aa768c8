"""Microaggregation: groups of at least k with small sums of squares within."""
