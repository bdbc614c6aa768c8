"""The plan of a table: learned, cut into fragments by content, grouped fragment by fragment, combined, and counted as a whole.

``coding`` learns and merges batches, ``contents`` samples them, ``steps`` and ``cuts`` cut the table, ``copies`` puts equal records together, ``fragments``
joins leaves that cannot stand alone, ``pieces`` renders one, ``judged`` asks the models, ``table`` takes all steps in memory. Called by the engines and
``learning``; none of the steps cares where it runs. It knows coded tables, methods and models, and neither recipes, files nor results.
"""
