"""What can go wrong.  Each class is also the builtin that it resembles."""


class BloomFilterError(Exception):
    """Base of all errors of this package."""


class InvalidFilterError(BloomFilterError, ValueError):
    """The bytes are not a valid filter.

    `rule` is the word of the first broken rule in section 7 of FORMAT.md.
    """

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(message)
        self.rule = rule


class InvalidSetError(BloomFilterError, ValueError):
    """A manifest or folder is not exactly one whole set of filters."""


class KeyTypeError(BloomFilterError, TypeError):
    """The filter holds keys of another type, or the object is no key at all."""


class KeyValueError(BloomFilterError, ValueError):
    """A value that PostgreSQL's type can't have, such as an int above 64 bits."""


class PartError(BloomFilterError, LookupError):
    """The key belongs to a part of the set that is not open."""
