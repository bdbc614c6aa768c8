"""The repair of groups that fail a privacy model: they are joined, divided again, or exchange records with a neighbour."""
