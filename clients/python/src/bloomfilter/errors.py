"""What can go wrong.  Each class is also the builtin that it resembles."""

from typing import Optional


class BloomFilterError(Exception):
    """Base of all errors of this package."""

    index: Optional[int] = None
    """In a batch: the number, from 0, of the key that it is about."""

    path: Optional[str] = None
    """The file that it is about, where it is about one."""

    def __str__(self) -> str:
        text = super().__str__()
        if self.index is not None:
            text = f"key {self.index}: {text}"
        return text if self.path is None else f"{self.path}: {text}"


class InvalidFilterError(BloomFilterError, ValueError):
    """The bytes are not a valid filter.

    `rule` is the word of the first broken rule in section 7 of FORMAT.md.
    """

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(message)
        self.rule = rule


class InvalidSetError(BloomFilterError, ValueError):
    """A manifest is none, or its files are not exactly one whole set of filters."""


class KeyTypeError(BloomFilterError, TypeError):
    """The filter holds keys of another type, or the object is no key at all."""


class KeyValueError(BloomFilterError, ValueError):
    """A value that PostgreSQL's type can't have, such as an int above 64 bits."""


class PartError(BloomFilterError, LookupError):
    """The key belongs to a part of the set that is not open."""
