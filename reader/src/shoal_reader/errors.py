"""What the reader raises and warns with. A message says what is wrong, what was given and what to do."""

from __future__ import annotations


class ReleaseError(ValueError):
    """A release, its dictionary or a question about it cannot be understood."""


class DictionaryWarning(UserWarning):
    """A release is read without its dictionary, so some facts about its columns are unknown."""


class TooLittleKnownWarning(UserWarning):
    """Estimates are withheld, because too little of what they depend on is in the release."""
