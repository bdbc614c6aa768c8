"""Generalization of whole values: the distinct tuples, linked by the values they have."""
