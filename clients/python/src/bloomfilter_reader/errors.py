"""What can go wrong.  Each class is also the builtin that it resembles."""

from typing import Optional


class BloomFilterError(Exception):
    """Base of all errors of this package."""

    index: Optional[int] = None
    """In a batch: the number, from 0, of the key that it is about."""

    def __str__(self) -> str:
        text = super().__str__()
        return text if self.index is None else f"key {self.index}: {text}"


class InvalidFilterError(BloomFilterError, ValueError):
    """The bytes are not a valid filter.

    `rule` is the word of the first broken rule in section 7 of FORMAT.md; "page" or "set"
    where the page of a followed list is damaged, or its parts are damaged or none of one set.
    """

    rule = ""


class KeyTypeError(BloomFilterError, TypeError):
    """The filter holds keys of another type, or the object is no key at all."""


class KeyValueError(BloomFilterError, ValueError):
    """A value that PostgreSQL's type can't have, such as an int above 64 bits."""


class PartError(BloomFilterError, LookupError):
    """The key belongs to a part of the set that is not open."""


class FollowedError(BloomFilterError):
    """The file changes while it is read, so it has no bytes that stay: open it with copy=True."""


class ChangedFileError(BloomFilterError):
    """Somebody cut or overwrote a followed file that is open, or its follower found it damaged."""


class ChangesError(BloomFilterError):
    """The table of changes by day of a followed file is damaged."""


_RULES = (
    "short magic version header_checksum hash probes block_bits key_type columns blocks size "
    "part capacity rate bits_set empty_key_type checksum directory levels"
).split()
_CLASSES = {-5: FollowedError, -22: ChangesError, -23: ChangedFileError, -10: KeyTypeError, -11: KeyValueError, -12: PartError}
_SYSTEM = -2
_BROKEN = {-20: "page", -21: "set", -24: "identity", **{-101 - i: rule for i, rule in enumerate(_RULES)}}


def error_of(code: int, text: str, number: int) -> Exception:
    """For a bloomfilter_error of the library; number is errno."""
    if code == _SYSTEM:
        return OSError(number, text)
    if code in _BROKEN:
        error = InvalidFilterError(text)
        error.rule = _BROKEN[code]
        return error
    return _CLASSES.get(code, BloomFilterError)(text)
