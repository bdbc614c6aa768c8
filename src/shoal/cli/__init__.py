"""The command line: a module for each command, and what commands share.

``options``, ``choices`` and ``target_options`` declare options, ``targets`` refuses them before the work, ``showing`` and ``console`` print.
Called by ``__main__``. Each command is imported when it is asked for, and imports what it needs when it runs. Nothing else may
know the command line.
"""
