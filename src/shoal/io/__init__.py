"""Where tables live: files, folders, addresses and databases, one source each; see ``registry``.

``transaction`` gives files their names all at once, ``workroom`` keeps temporary rows private. Called by whatever reads or writes a table. It knows
frames, and neither roles nor releases. Nothing is imported here, so that a command can write into a folder without loading pyarrow.
"""
