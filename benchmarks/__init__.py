"""Measurements of time, memory and information loss."""
