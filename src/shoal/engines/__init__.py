"""Who runs the plan of a table: ``stream`` with rows on disk, ``spark`` on a cluster, and ``memory``. All find the same groups.

An engine reads rows, runs the steps of ``shoal.plan`` where they are, counts the released rows again and says what came out. Called by the
API and the command line, found by the entry point ``shoal.engines``; an engine does not know either of them.
"""
