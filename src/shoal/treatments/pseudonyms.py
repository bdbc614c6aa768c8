"""Pseudonyms: tokens instead of identifiers, the same for a value wherever the same key is used.

A token is HMAC-SHA-256 of the value's text (RFC 2104), its first 128 bits as hexadecimal digits. Without the key nobody
can make or check one; with the key anybody can try values, so the key is as secret as the identifiers.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import secrets
import stat
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from shoal.encoding import value_texts
from shoal.errors import FileError, ParameterError
from shoal.frames import Frame, encode_dictionary, refuse_nested
from shoal.validation import check_path, refuse_pipe

_KEY_BYTES = 32
_MOST_BYTES = 4_096
_TOKEN_DIGITS = 32
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def make_key(path: str | Path) -> Path:
    """Write a new random key that only its owner may read; an existing file is never replaced."""
    target = check_path("make_key", "path", path)
    try:
        handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, stat.S_IRUSR | stat.S_IWUSR)
    except FileExistsError:
        raise FileError(
            f"The file {target.name!r} exists, and a key is never replaced: tokens made with it could not be made again.",
            hint="choose another name.",
        ) from None
    except OSError as fault:
        raise FileError(f"The key {target.name!r} cannot be written: {fault.strerror}.") from None
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(secrets.token_bytes(_KEY_BYTES))
    except OSError as fault:
        with contextlib.suppress(OSError):
            target.unlink()
        raise FileError(f"The key {target.name!r} cannot be written: {fault.strerror}.") from None
    return target


def read_key(path: str | Path, owner: str = "Anonymizer", name: str = "key") -> bytes:
    """Return a key; refuse one that others may read, or that is too short to be secret."""
    source = check_path(owner, name, path)
    refuse_pipe(source)
    try:
        if os.name == "posix" and source.stat().st_mode & _OTHERS:
            raise FileError(
                f"The key {source.name!r} can be read or changed by others than its owner, so it is not a secret.",
                hint=f"make a new one with shoal key make, or take the rights away: chmod 600 {source.name}",
            )
        with source.open("rb") as stream:
            key = stream.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        raise FileError(
            f"The key {source.name!r} does not exist.", hint=f"make one: shoal key make {source.name}"
        ) from None
    except OSError as fault:
        raise (
            fault
            if isinstance(fault, FileError)
            else FileError(f"The key {source.name!r} cannot be read: {fault.strerror}.")
        ) from None
    if not _KEY_BYTES <= len(key) <= _MOST_BYTES:
        raise FileError(
            f"The key {source.name!r} must have {_KEY_BYTES} to {_MOST_BYTES} bytes. Got {'more' if len(key) > _MOST_BYTES else len(key)}.",
            hint="make one with shoal key make.",
        )
    return key


def check_pseudonyms(names: Sequence[str], key: str | Path | None) -> Path | None:
    """Return the path of the key if there is something to pseudonymize; one needs the other."""
    if names and key is None:
        raise ParameterError(
            "The 'pseudonymize' parameter of Anonymizer needs a key. Got none.",
            hint='make one with shoal key make key.bin, and give key="key.bin".',
        )
    if key is not None and not names:
        raise ParameterError(
            "The 'key' parameter of Anonymizer is for pseudonyms. Got no column to pseudonymize.",
            hint='name one with pseudonymize=["patient_id"], or leave the key out.',
        )
    return None if key is None else check_path("Anonymizer", "key", key)


def pseudonym(key: bytes, text: str) -> str:
    """Return the token of a value's text."""
    return hmac.new(key, text.encode("utf-8"), "sha256").hexdigest()[:_TOKEN_DIGITS]


def pseudonymize_columns(frame: Frame, names: Sequence[str], key: bytes) -> Frame:
    """Return the table with tokens instead of values; what is missing stays missing."""
    refuse_nested(frame, names)
    table = frame.table
    for name in names:
        encoded = encode_dictionary(frame.cells(name))
        tokens = [pseudonym(key, text) for text in value_texts(encoded.dictionary).to_pylist()]
        column = pa.chunked_array([pa.array(tokens, pa.string()).take(encoded.indices)])
        table = table.set_column(table.column_names.index(name), name, column)
    return replace(frame, table=table)
