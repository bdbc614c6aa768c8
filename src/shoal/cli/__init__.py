"""The command line. Each command is imported when it is asked for, and imports what it needs when it runs."""
