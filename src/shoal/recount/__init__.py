"""The checks of finished rows: they read the released table again.

``rows`` counts the released combinations; ``cover`` and ``typical`` check that cells contain, or stand for, their values; ``fit`` finds the original
records that fit released combinations; ``crowds`` counts the people of a population by the cells alone; ``tuples`` groups rows. Called before every
release and when a file is looked at again. It does not know the coding or the search, and shares no code with them.
"""
