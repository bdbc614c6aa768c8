"""Released cells: how they are written, and how they are read again.

``recode`` writes ranges, nodes and sets; ``representatives`` writes typical values; ``parse`` reads a cell as a recipient would.
Called by all code that makes, checks, attacks or describes a release. It does not know methods or models, and ``parse`` shares no code
with ``recode``, so that the recount is independent of what it counts.
"""
