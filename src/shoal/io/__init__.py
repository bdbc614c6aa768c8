"""Where tables live: files, folders, addresses and databases, one source each; see ``registry``.

Nothing is imported here, so that a command can write into a folder without loading pyarrow.
"""
