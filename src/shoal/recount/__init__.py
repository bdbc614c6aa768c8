"""The checks of finished rows: they read the released table again and share no code with the coding or the search.

``rows`` counts the released combinations; ``cover`` and ``typical`` check that cells contain, or stand for, their values; ``fit`` finds
the original records that fit released combinations; ``crowds`` counts the people of a population by the cells alone; ``tuples`` groups rows.
Called before every release, by the audit and by ``shoal verify``. It does not know labels, methods or recipes.
"""
