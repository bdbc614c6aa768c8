"""Everything shoal raises or warns with.

Each error is also the builtin a Python programmer would expect::

    ShoalError
    ├── ParameterError        (ValueError)    a parameter is out of its range or of the wrong type
    ├── ColumnError           (KeyError)      a column is unknown, or has two roles
    ├── DataError             (ValueError)    the table cannot be read as what it should be
    ├── HierarchyError        (ValueError)    a hierarchy is no tree, or does not cover the data
    ├── FileError             (OSError)       a file cannot be read or written
    ├── PrivacyError          (RuntimeError)  the promise cannot be kept; nothing is released
    └── MissingExtraError     (ImportError)   an optional part is not installed

    ShoalWarning              (UserWarning)
    ├── ColumnLeftOutWarning  a column without a role was left out of the release
    └── PrivacyWarning        a choice weakens the protection

A message says what is wrong, what was got and what to do; it never shows a confidential value.
"""

from __future__ import annotations


class ShoalError(Exception):
    """Base of every error shoal raises."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\nHint: {self.hint}"


class ParameterError(ShoalError, ValueError):
    """A parameter is out of its range or of the wrong type."""


class ColumnError(ShoalError, KeyError):
    """A column is unknown, or has two roles."""


class DataError(ShoalError, ValueError):
    """The table cannot be read as what it should be."""


class HierarchyError(ShoalError, ValueError):
    """A hierarchy is no tree, or does not cover the data."""


class FileError(ShoalError, OSError):
    """A file cannot be read or written."""


class PrivacyError(ShoalError, RuntimeError):
    """The promise cannot be kept; nothing is released."""


class MissingExtraError(ShoalError, ImportError):
    """An optional part is not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the package {package!r}, which is not installed.",
            hint=f'pip install "shoal[{extra}]"',
        )


class ShoalWarning(UserWarning):
    """Base of every warning shoal gives."""


class ColumnLeftOutWarning(ShoalWarning):
    """A column without a role was left out of the release."""


class PrivacyWarning(ShoalWarning):
    """A choice weakens the protection."""
