"""Spark: tables too large for one machine. The same parameters, plan and groups as on one machine; a DataFrame in, a DataFrame out.

::

    engine.py     release: which way a table takes, and that nothing stays if a release fails; runs on the driver, which never collects rows
    work.py       one release as its steps see it: rows, request, what comes out
    whole.py      all records in one task, with the engine for memory in it
    fragments.py  learn, cut, group, stage, count again
    recoding.py   global recodings: combinations of values with their counts, then a map
    bundles.py    rows that travel together between tasks, so that a shuffle does not handle each record by itself
    tasks.py      what executors do with the rows of a partition; knows Arrow, not Spark
    people.py     whose records are, how many people there are, and which fragments have enough of them
    counting.py   the count of a release by released combination
    auditing.py   audit: the same count of any DataFrame
    result.py     SparkResult: the released DataFrame, its figures, and where it can be written
    staging.py    where a release is until it is counted
    targets.py    what a release may replace
    sessions.py   what is asked of Spark itself
    probing.py    what executors have, asked before any work
    cancelling.py jobs end when the token is set
    reading.py    sessions and tables by name, for the command line

Only the DataFrame API is used (``mapInArrow``), so that all of it works through Spark Connect too. Executors need shoal and its requirements.
"""

from __future__ import annotations

from shoal.engines.spark.auditing import audit
from shoal.engines.spark.result import SparkResult

__all__ = ["SparkResult", "audit"]
