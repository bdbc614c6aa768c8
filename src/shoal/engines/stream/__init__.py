"""The engine for tables larger than memory: the plan, with rows on disk between its steps.

::

    spool.py       the source is read once: each batch is learned and stored in a private folder
    tasks.py       what workers do: code a batch, sort it by leaf, group a fragment
    workers.py     a pool of processes that end with their parent
    recounting.py  the count of the whole staged release, by value; checking.py: k and models on that count
    excerpts.py    what a report sees of a fragment; reporting.py: the report, and what to look at before publishing
    writing.py     the rows, scattered over the whole release, become one file or a folder of parts
    engine.py      the steps in their order

Rows are on disk twice: as they came, and sorted by leaf. A fragment's rows are then a stretch of each sorted batch, and are read where they are. The rows a
fragment releases are dealt to as many piles as the release has parts, at random, and each part is shuffled: neither order nor file reveals the fragment.
"""
