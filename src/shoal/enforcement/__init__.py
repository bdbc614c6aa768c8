"""How groups come to meet privacy models: in the search, by mending the groups of any method, or by withholding records.

``dispatch`` chooses the way; ``guarded`` searches with the models in view, ``carving`` cuts such groups, ``mending`` repairs finished ones,
``withholding`` leaves records out, ``people`` keeps the records of a person together. Called by the plan, the engines and the release. Nothing
here is a method by itself, and nothing here knows tables or files.
"""
