"""The making of a release: ``make`` renders groups, checks and recounts the finished rows; ``widen`` makes cells wider than they need to be.

Called by the engines, for a whole table or for each fragment. It does not know where rows come from or where they are written.
"""
