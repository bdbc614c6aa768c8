"""Addresses of databases, which never hold a password."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from shoal.errors import DatabaseError, ParameterError
from shoal.io.location import Location

EMBEDDED = frozenset({"sqlite", "duckdb"})
"""Schemes of databases that are a file of this machine."""
_SECRETS = frozenset({"password", "passwd", "pwd", "sslpassword", "passfile_content"})


def check_address(location: Location, help_text: str) -> None:
    """Refuse an address with a password in it: it would be in the history of the shell and the list of processes."""
    parts = urlsplit(location.text)
    named = {key.lower() for key, _ in parse_qsl(parts.query)}
    if parts.password or named & _SECRETS:
        raise ParameterError("The address of the database holds a password. Leave it out.", hint=help_text)


def database_path(location: Location) -> str:
    """Return the file of an embedded database, named by a path or as ``sqlite:///file`` (``sqlite:////`` from the root)."""
    if not location.scheme:
        return location.text
    return location.text.split("://", 1)[1].split("?")[0].removeprefix("/")


def new_file(location: Location) -> Path | None:
    """Return the file of an embedded database that is not there yet; None for any other database."""
    if location.scheme.partition("+")[0] not in EMBEDDED:
        return None
    path = Path(database_path(location))
    return None if path.exists() else path


def explain(fault: Exception, what: str) -> DatabaseError:
    """Return the error for what a database refused; its own words may hold values, so they are not passed on."""
    text, state = str(fault).lower(), str(getattr(fault, "sqlstate", None) or "")
    for states, signs, sentence, hint in _FAULTS:
        if state in states or any(sign in text for sign in signs):
            return DatabaseError(sentence.format(what=what), hint=hint)
    told = f"SQLSTATE {state}" if state else type(fault).__name__
    return DatabaseError(f"The database refused {what} ({told}).", hint="try the same with its own client.")


_FAULTS = (
    (
        ("28P01", "28000"),
        ("password authentication failed", "access denied", "no password supplied", "login failed"),
        "The database does not accept the user or the password.",
        "set the password in the environment (PGPASSWORD; SHOAL_DB_PASSWORD for others), or in ~/.pgpass.",
    ),
    (
        ("57P01", "57P02", "08006", "08003"),
        ("terminating connection", "server closed", "lost connection", "connection to server was lost", "eof detected"),
        "The connection to the database was lost at {what}. Nothing was changed there.",
        "try again when the server is up.",
    ),
    (
        ("55P03",),
        ("is locked", "could not set lock", "conflicting lock", "lock timeout", "lock wait timeout"),
        "Another program has locked the database at {what}.",
        "close that program, or try again when it is done.",
    ),
    (
        (),
        ("different configuration than existing connections",),
        "This program itself has the database open at {what}.",
        "close its own connection first.",
    ),
    (
        ("08001",),
        (
            "connection refused",
            "failed to connect",
            "could not translate",
            "can't connect",
            "timed out",
            "timeout expired",
        ),
        "The database cannot be reached.",
        "check host, port and name of the database.",
    ),
    (
        ("25006",),
        ("read-only", "readonly", "read only"),
        "The database lets nothing be changed at {what}.",
        "a query may only read; to write, take a user who may create tables.",
    ),
    (
        (),
        ("disabled through configuration", "disabled by configuration", "external access", "has been disabled"),
        "The database reads files or addresses outside of itself at {what}, which shoal does not let it do.",
        "load what is to be read into a table of the database first.",
    ),
    (
        ("42501",),
        ("permission denied", "command denied"),
        "The user may not do this in the database: {what}.",
        "ask for the right.",
    ),
    (
        ("42703",),
        ("no such column", "unknown column", "referenced column"),
        "The query names a column that the database does not have.",
        "check the names of its columns.",
    ),
    (
        ("42P01", "42S02", "3D000"),
        ("no such table", "does not exist", "doesn't exist", "unknown database"),
        "The database has nothing of this name at {what}.",
        "check the name; write schema.table if it is not in the usual schema.",
    ),
    (
        ("42601",),
        ("syntax error", "sql syntax", "parser error", "binder error"),
        "The query is not SQL the database understands.",
        "try it with its own client.",
    ),
    (
        ("53100",),
        ("disk full", "database or disk is full", "no space left"),
        "The disk of the database is full. Nothing was changed there.",
        "free some space.",
    ),
)
