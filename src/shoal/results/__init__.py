"""The result of a release, and what can be done with it.

``result`` holds rows, measures and audit; ``save`` writes and recounts files; ``verify`` looks at a file again; ``transform`` recodes new records, by
a ``generalization``; ``complete`` draws plausible tables. Called by the API, the command line and the web interface. It does not know engines.
"""
