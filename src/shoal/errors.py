"""All errors and warnings of shoal.

Each error is also the builtin a Python programmer would expect::

    ShoalError
    ├── ParameterError        (ValueError)    a parameter is out of its range or of the wrong type
    ├── ColumnError           (KeyError)      a column is unknown, or has two roles
    ├── DataError             (ValueError)    the table cannot be read as what it should be
    │   └── AmbiguousNotationError            values can be read in two ways; the user must say which
    ├── HierarchyError        (ValueError)    a hierarchy is not a tree, or does not cover the data
    ├── FileError             (OSError)       a file cannot be read or written
    │   └── DatabaseError                     a database refuses, or cannot be reached
    ├── PrivacyError          (RuntimeError)  the promise cannot be kept; nothing is released
    ├── CancelledError        (RuntimeError)  somebody set the cancel token; nothing is released
    └── MissingExtraError     (ImportError)   an optional part is not installed

    ShoalWarning              (UserWarning)
    ├── ColumnLeftOutWarning  a column without a role was left out of the release
    ├── ExtensionWarning      what another package registers cannot be imported, and is left out
    ├── NotationNotice        how values of the table were understood: text as numbers, dates, times, missing; numbers as codes
    ├── PrivacyWarning        a choice weakens the protection
    │   └── RepeatedPersonWarning             people seem to have several records, and no person column is named
    ├── PublicationWarning    something in a release to look at before it is published
    └── SpreadsheetWarning    cells of a text file would be run as formulas by a spreadsheet

A message says what is wrong, what was got and what to do; it never shows a confidential value.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Sequence
from pathlib import Path

_PACKAGE = str(Path(__file__).parent / "_")[:-1]


def warn(message: str, kind: type[ShoalWarning]) -> None:
    """Warn at the line that called shoal, however many of shoal's own calls lie between."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, kind, stacklevel=level)


class ShoalError(Exception):
    """Base of every error shoal raises.

    Examples
    --------
    >>> import shoal
    >>> try:
    ...     shoal.anonymize({"age": [30, 40]}, k=1, quasi_identifiers=["age"])
    ... except shoal.ShoalError as fault:
    ...     print(fault)
    The 'k' parameter of Anonymizer must be an int of at least 2. Got 1 instead.
    Hint: k = 1 protects nobody; 5 to 20 are common choices.
    """

    def __init__(self, message: str, hint: str | None = None, *, values: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.values = tuple(values)
        """Cells of the table the message is about. They are not a part of its text; a caller who may see them asks for them."""

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\nHint: {self.hint}"


class ParameterError(ShoalError, ValueError):
    """A parameter is out of its range or of the wrong type."""


class ColumnError(ShoalError, KeyError):
    """A column is unknown, or has two roles."""


class DataError(ShoalError, ValueError):
    """The table cannot be read as what it should be."""


class AmbiguousNotationError(DataError):
    """Values can be read in two ways; the user must say which."""


class HierarchyError(ShoalError, ValueError):
    """A hierarchy is not a tree, or does not cover the data."""


class FileError(ShoalError, OSError):
    """A file cannot be read or written."""


class DatabaseError(FileError):
    """A database refuses, or cannot be reached."""


class PrivacyError(ShoalError, RuntimeError):
    """The promise cannot be kept; nothing is released."""


class CancelledError(ShoalError, RuntimeError):
    """Somebody set the cancel token; nothing is released."""


class MissingExtraError(ShoalError, ImportError):
    """An optional part is not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the package {package!r}, which is not installed.",
            hint=f'pip install "shoal-privacy[{extra}]"',
        )


class ShoalWarning(UserWarning):
    """Base of every warning shoal gives.

    Examples
    --------
    >>> import shoal
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", shoal.ShoalWarning)
    ...     result = shoal.anonymize({"age": [30, 40], "name": ["Ada", "Bo"]}, k=2, quasi_identifiers=["age"])
    >>> list(result.data)
    ['age']
    """


class ColumnLeftOutWarning(ShoalWarning):
    """A column without a role was left out of the release."""


class ExtensionWarning(ShoalWarning):
    """Another package registers a method, a model or a source that cannot be imported."""


class NotationNotice(ShoalWarning):
    """How values of the table were understood: text as numbers, dates, times or missing values, numbers as codes or quantities."""


class PrivacyWarning(ShoalWarning):
    """A choice weakens the protection."""


class PublicationWarning(ShoalWarning):
    """Something in a release to look at before it is published; the report says the same."""


class RepeatedPersonWarning(PrivacyWarning):
    """A table seems to hold several records of one person, and no person column is given."""


class SpreadsheetWarning(ShoalWarning):
    """Cells of a text file would be run as formulas by a spreadsheet."""
