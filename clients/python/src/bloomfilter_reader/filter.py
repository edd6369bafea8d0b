"""The classes that programs use: a filter, and one that is replaced while it is asked."""

import os
import time
import uuid
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from typing import Any, Iterable, Optional, Tuple, Type, TypeVar, Union

from . import _native, keys
from .errors import BloomFilterError, error_of

PathLike = Union[str, bytes, "os.PathLike[Any]"]
Data = Union[bytes, bytearray, memoryview]
Identity = Union[None, str, uuid.UUID]
_Self = TypeVar("_Self", bound="_Asked")

_native.setup(keys.encode, error_of)

# Between two attempts of `wait`.
_WAIT_SECONDS = 0.1
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_PLACES = (None, "here", "other boot", "copy")
_SERIALS = (None, "now", "saved", "born")


@dataclass(frozen=True)
class Info:
    """A filter, or the parts of a set taken as one: the columns of SQL's bloom_stats."""

    n: int
    """Keys it was sized for, of all open parts."""
    p: float
    """The rate it was sized for; the highest of the parts."""
    bits: int
    bytes: int
    """Headers included."""
    hashes: int
    """Bits of a key; the first part's, as is block_bits."""
    block_bits: int
    blocks: int
    seed: int
    """Signed, as SQL has it."""
    key_type: str
    bits_set: int
    fill: float
    """The share of bits that are set; close to 1/2 when n keys are in."""
    cardinality: float
    """The number of different keys in it, estimated from the bits set."""
    fpr: float
    """The rate to be expected with the keys in it now."""
    over_capacity: bool
    """Whether it surely holds more keys than it was sized for."""
    part: int
    parts: int
    format_version: int
    checksum: str
    """16 hexadecimal digits; filters that have the same hold the same bytes."""
    exact: bool = False
    """Whether it is right for each key that it was built of: members and others."""
    others: int = 0
    """Those that are no members, for which an exact one was sized."""
    filters: Tuple["Info", ...] = ()
    """The open parts one by one; none for one of them."""


@dataclass(frozen=True)
class Status:
    """Which content of which list a filter is, and how fresh.  None is what isn't known."""

    list: Optional[str]
    identity: Optional[str]
    """Of the list: a UUID."""
    serial: Optional[int]
    """All that the list had at this serial is found."""
    serial_kind: Optional[str]
    """now: of the last bits that came; saved: that are surely on the disk; born: of a copy."""
    place: Optional[str]
    """here: where its follower keeps it; other boot: it did before a boot; copy: anywhere else."""
    true_at: Optional[datetime]
    """What was committed before is found."""
    looked: Optional[datetime]
    """The follower, with success."""
    age: Optional[timedelta]
    """Since then, by the clock that says more."""
    every: Optional[timedelta]
    heartbeat: Optional[timedelta]
    expires: Optional[datetime]
    since: Optional[datetime]
    """When reason came."""
    failures: int
    """Looks that failed since looked."""
    superseded: bool
    """Another file took this one's place."""
    reason: Optional[str]
    """What is wrong: no-look, old, back, signature, identity, damaged, disk, clock, waiting."""
    message: Optional[str]
    """It in a sentence."""
    changes: int
    """Keys that were changed by day since the list was published."""


def _moment(microseconds: int) -> Optional[datetime]:
    try:
        return _EPOCH + timedelta(microseconds=microseconds) if microseconds else None
    except OverflowError:
        return None


def _span(microseconds: int) -> Optional[timedelta]:
    return timedelta(microseconds=microseconds) if microseconds else None


def _flags(verify: bool, copy: bool) -> int:
    return (0 if verify else _native.SKIP_CHECK) | (_native.COPY if copy else 0)


class _Asked(_native.Filter):
    """What both classes have beside questions."""

    _origin: Optional[Tuple[str, bool, bool, Identity, bool]] = None

    @classmethod
    def _open_path(
        cls: Type[_Self], path: PathLike, verify: bool, copy: bool, identity: Identity, watched: bool
    ) -> _Self:
        wanted = None if identity is None else str(identity).lower()
        self = cls._open(path, _flags(verify, copy), watched, wanted)
        if not watched and wanted is not None and self.status.identity != wanted:
            self.close()
            raise error_of(-24, f"{os.fsdecode(path)}: it is not the list {identity}", 0)
        self._origin = (os.path.join(os.getcwd(), os.fsdecode(path)), verify, copy, identity, watched)
        return self

    def __reduce__(self) -> Tuple[Any, ...]:
        """By path where it was opened by one: the other process opens it itself."""
        if self._origin is not None:
            return type(self)._open_path, self._origin
        return type(self)._from_bytes, (self.to_bytes(), _native.COPY)

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def info(self) -> Info:
        """What it says about itself; of a followed list, counted now."""
        own = self._describe(-1)
        parts = [self._describe(part) for part in range(own["open_parts"])]
        whole, *filters = (Info(**{name: of[name] for name in of if name != "open_parts"}) for of in (own, *parts))
        return replace(whole, filters=tuple(filters))

    @property
    def status(self) -> Status:
        """Which content of which list it is, and how fresh."""
        told = self._tell()
        told.update((name, told[name] or None) for name in ("list", "identity", "serial", "reason", "message"))
        told.update((name, _moment(told[name])) for name in ("true_at", "expires", "since"))
        told.update((name, _span(told[name])) for name in ("every", "heartbeat"))
        told["age"] = timedelta(microseconds=told["age"]) if told["looked"] else None
        told["looked"] = _moment(told["looked"])
        told["serial_kind"], told["place"] = _SERIALS[told["serial_kind"]], _PLACES[told["place"]]
        return Status(**told)


class BloomFilter(_Asked):
    """A filter, or a set of parts asked as one.

    `key in f` is False if the key was surely never added, and True if it
    probably was.  Made by `open`, `from_bytes` or `build`; any number of threads may ask it.
    """

    def __new__(cls, *_: Any, **__: Any) -> "BloomFilter":
        raise TypeError("a BloomFilter is opened and then asked: BloomFilter.open(path), or "
                        "from_bytes; BloomFilter.build(keys, n, p) makes one of keys")

    @classmethod
    def open(
        cls, path: PathLike, *, verify: bool = True, copy: bool = False, identity: Identity = None
    ) -> "BloomFilter":
        """Open the file of a filter, of a set or of a followed list.

        `verify=False` skips the checks that read the whole file.  `copy=True` reads it into
        memory instead of mapping it: then nothing that happens to the file later matters.
        `identity` is that of the list, a UUID: the file of another one, or of none, is refused.
        """
        return cls._open_path(path, verify, copy, identity, False)

    @classmethod
    def from_bytes(cls, data: Data, *, verify: bool = True) -> "BloomFilter":
        """A filter from its bytes, as `SELECT filter::bytea` returns them."""
        return cls._from_bytes(data, _flags(verify, True))

    @classmethod
    def build(
        cls, keys: Iterable[Any], n: Optional[int] = None, p: float = 0.01, *, seed: int = 0, parts: int = 1
    ) -> "BloomFilter":
        """A filter of these keys, for n keys at a false-positive rate of at most p.

        Without n for as many different keys as there are.  The bytes are those that SQL
        makes of the same keys.
        """
        if n is not None and not 1 <= n < 2**63:
            raise ValueError(f"n is from 1 to 2^63 - 1 keys, not {n}")
        if not 0.0 < p < 1.0:
            raise ValueError(f"p is between 0 and 1, not {p}")
        if not -(2**63) <= seed < 2**64:
            raise ValueError(f"a seed has 64 bits: {seed}")
        if not 0 <= parts < 2**16:
            raise ValueError(f"a set has up to 65535 parts, not {parts}")
        if parts != 1 and n is None:
            raise ValueError("a set of parts is made for n keys")
        return cls._build(keys, n or 0, p, seed % 2**64, parts)


class WatchedBloomFilter(_Asked):
    """A filter that is replaced by newer ones while threads ask it.

    A question looks at the path if no other did for a second, or as soon as the file's
    follower says that another one took its place; it opens what is new there and asks it.
    No thread is needed, and a forked child goes on by itself.  Each question is answered
    by one whole filter.  On any error the old one stays, and `error` says why.
    """

    def __new__(
        cls, path: PathLike, *, verify: bool = True, copy: bool = False, identity: Identity = None
    ) -> "WatchedBloomFilter":
        return cls._open_path(path, verify, copy, identity, True)

    @classmethod
    def wait(
        cls, path: PathLike, timeout: float, *, verify: bool = True, copy: bool = False, identity: Identity = None
    ) -> "WatchedBloomFilter":
        """The same as soon as there is a file, for a service that starts before the
        first one has come.  After `timeout` seconds the last error is raised."""
        until = time.monotonic() + timeout
        while True:
            try:
                return cls(path, verify=verify, copy=copy, identity=identity)
            except (FileNotFoundError, BloomFilterError):
                left = until - time.monotonic()
                if left <= 0:
                    raise
                time.sleep(min(left, _WAIT_SECONDS))

    @property
    def current(self) -> BloomFilter:
        """The filter of this moment; keep it to ask several questions of one."""
        return self._keep(BloomFilter)

    @property
    def error(self) -> Optional[str]:
        """What the last look at the path ended with; None where it went well."""
        return self._error()

    def reload(self) -> bool:
        """Look at the path now; say whether another filter was taken.

        On any error the old filter stays and the error is raised.
        """
        return self._reload()
