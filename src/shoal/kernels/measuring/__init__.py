"""Counts for audits, attacks and query errors."""
