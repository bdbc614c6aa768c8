"""Compiled inner loops: arrays in, arrays out.

``space`` holds codes, boxes and their costs; ``common`` and ``search`` are shared; all others belong to the method, the model or the measure they
are named after. Called by methods, enforcement, models and measures. Nothing here knows a table, a column's name or a parameter's default.
"""
