"""Queries of a user: one statement that reads, before a database sees it.

A query becomes ``SELECT * FROM (query)``. Text that closes the bracket, ends the statement and begins another would run with the rights of the user, so a
query may hold no semicolon, also not in quotes: which quotes a database knows is its own affair, and no rule about them could be relied on.
"""

from __future__ import annotations

import re

from shoal.errors import ParameterError

_BEGINS = re.compile(r"\s*\(*\s*(select|with|values|table|from)\b", re.IGNORECASE)
_WRITES = re.compile(r"\b(outfile|dumpfile|load_file)\b", re.IGNORECASE)
"""MySQL's words for files of the server."""
_REACHES_OUT = re.compile(
    r"\b(pg_read_\w+|pg_ls_\w+|pg_stat_file|pg_file_\w+|lo_import|lo_export|lo_from_bytea|lo_put|dblink\w*|pg_execute\w*|pg_terminate_backend|pg_cancel_backend"
    r"|pg_reload_conf|pg_rotate_logfile|set_config|readfile|writefile|load_extension|fts3_tokenizer)\b",
    re.IGNORECASE,
)
"""Functions that read or write files, reach other servers or change the server's settings: PostgreSQL's for superusers, SQLite's."""


def check_query(query: str) -> str:
    """Return a query without the semicolon at its end, or say why it is not one that only reads."""
    text = query.strip().removesuffix(";").strip()
    if ";" in text or "\0" in text:
        raise ParameterError(
            "A query must be one statement. Got a semicolon within it.",
            hint="leave out all but one SELECT; write a semicolon in a text as chr(59) or char(59).",
        )
    if not _BEGINS.match(_without_first_comments(text)):
        raise ParameterError(
            "A query must read rows. Got one that does not begin with SELECT or WITH.", hint="begin it with SELECT."
        )
    if "/*!" in text or "/*m!" in text.lower():
        raise ParameterError("A query must not hold comments that are run (/*! … */).", hint="leave them out.")
    for pattern in (_WRITES, _REACHES_OUT):
        found = pattern.search(text)
        if found:
            raise ParameterError(
                f"A query must only read the database. Got the word {found[0]!r}, which reaches beyond it.",
                hint="leave it out.",
            )
    return text


def _without_first_comments(text: str) -> str:
    return re.sub(r"\A(\s*(--[^\n]*\n|/\*(?!!).*?\*/))+", "", text, flags=re.DOTALL)
