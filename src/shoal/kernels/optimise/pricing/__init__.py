"""Dual prices of records, and reduced costs of cells."""
