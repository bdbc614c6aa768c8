"""Spark: tables too large for one machine. The same parameters, plan and groups as on one machine; a DataFrame in, a DataFrame out.

::

    engine.py     anonymize: learn, cut, group, stage, count again; runs on the driver and never collects rows
    tasks.py      what executors do with the rows of a partition; knows Arrow, not Spark
    counting.py   audit, and the count of a release by released combination
    result.py     SparkResult: the released DataFrame, its figures, and where it can be written
    sessions.py   what is asked of Spark itself

Only the DataFrame API is used (``mapInArrow``), so that all of it works through Spark Connect too. Executors need shoal and its requirements.
"""

from __future__ import annotations

from shoal.spark.counting import audit
from shoal.spark.engine import anonymize
from shoal.spark.result import SparkResult

__all__ = ["SparkResult", "anonymize", "audit"]
