"""The class that programs use: a filter, or a set of parts asked as one."""

import os
import tempfile
from typing import TYPE_CHECKING, Any, Iterable, List, NoReturn, Optional, Sequence, Tuple, Type, Union

from . import _build, _explain, _source, _working
from ._engine import NATIVE, native
from ._format import HEADER_BYTES, Header, kind_name
from ._source import Filter, PathLike, Source
from ._status import Status, of_working, read_status
from ._working import Copied, Working
from .errors import BloomFilterError, PartError
from .info import Info, describe
from .keys import key_bytes

if TYPE_CHECKING or native is not None:
    from ._native import Prober
else:
    from ._pure import Prober

__all__ = ["NATIVE", "BloomFilter"]

Data = Union[bytes, bytearray, memoryview]


def _missing_part(part: int) -> NoReturn:
    raise PartError(f"key belongs to part {part} of the set, which is not open")


class BloomFilter(Prober):
    """A filter, or a set of parts asked as one.  It never changes.

    `key in f` is False if the key was surely never added, and True if it
    probably was.  Made by `open`, `from_bytes`, `from_parts` or `build`; any
    number of threads may ask it.
    """

    _filters: List[Filter]
    _headers: List[Header]
    _info: Optional[Info]
    _origin: Optional[Tuple[str, bool, bool]]
    _starts: List[bytes]
    _type_name: str
    _source: Optional[Source]
    _working: Union[Working, Copied, None]

    __slots__ = ("_filters", "_headers", "_info", "_origin", "_source", "_starts", "_type_name",
                 "_working", "__weakref__")

    def __new__(cls, *_: Any, **__: Any) -> "BloomFilter":
        raise TypeError(
            "a BloomFilter is opened and then asked: BloomFilter.open(path), or from_bytes; "
            "BloomFilter.build(keys, n, p) makes one of keys"
        )

    @classmethod
    def open(
        cls, path: PathLike, *, verify: bool = True, copy: bool = False
    ) -> "BloomFilter":
        """Open a filter file, a set's manifest, or a folder with a file `manifest`.

        `verify=False` skips the popcount and the checksum, which read the whole
        file.  `copy=True` reads it into memory instead of mapping it: then
        nothing that happens to the file later matters.
        """
        return cls._open(path, verify=verify, copy=copy)[0]

    @classmethod
    def _open(cls, path: PathLike, *, verify: bool, copy: bool) -> Tuple["BloomFilter", Source]:
        opened = _source.read_path(path, verify, copy)
        origin = (os.path.abspath(os.fsdecode(path)), verify, copy)
        self = cls._of(opened.filters, origin)
        self._source, self._working = opened.source, opened.working
        return self, opened.source

    @classmethod
    def from_bytes(cls, data: Data, *, verify: bool = True) -> "BloomFilter":
        """A filter from its bytes, as `SELECT filter::bytea` returns them."""
        return cls._of([_source.read_bytes(data, verify)])

    @classmethod
    def from_parts(cls, parts: Iterable[Data], *, verify: bool = True) -> "BloomFilter":
        """A whole set from the bytes of its parts, in their order."""
        filters = [_source.read_bytes(part, verify) for part in parts]
        _source.check_set(filters)
        return cls._of(filters)

    @classmethod
    def build(
        cls,
        keys: Iterable[Any],
        n: Optional[int] = None,
        p: float = 0.01,
        *,
        seed: int = 0,
        like: Optional["BloomFilter"] = None,
    ) -> "BloomFilter":
        """A filter of these keys, for n keys at a false-positive rate of at most p.

        Without n for as many different keys as there are.  `like` makes it of
        another filter's size, n, p, seed and part, so that SQL can unite the two.
        The bytes are those that SQL makes of the same keys.
        """
        model = None if like is None else bytes(like._one("built like").data[:HEADER_BYTES])
        return cls.from_bytes(_build.build(keys, n, p, seed, model), verify=False)

    @classmethod
    def _of(
        cls, filters: Sequence[Filter], origin: Optional[Tuple[str, bool, bool]] = None
    ) -> "BloomFilter":
        headers = [filter_.header for filter_ in filters]
        buffers = [filter_.data for filter_ in filters]
        key_type = _source.common_key_type(filters)
        self: BloomFilter = Prober.__new__(cls, headers, buffers, key_type, key_bytes, _missing_part)
        self._filters = list(filters)
        self._headers = headers
        self._starts = [bytes(buffer[:HEADER_BYTES]) for buffer in buffers]
        self._type_name = kind_name(key_type)
        self._info = None
        self._source = self._working = None
        self._origin = origin
        return self

    @property
    def info(self) -> Info:
        """What it says about itself."""
        if isinstance(self._working, Working):
            whole = [_source.read_bytes(_working.snapshot(part.data), False)
                     for part in self._filters]
            return describe(self._type_name, [part.header for part in whole],
                            [bytes(part.data[:HEADER_BYTES]) for part in whole])
        if self._info is None:
            self._info = describe(self._type_name, self._headers, self._starts)
        return self._info

    @property
    def status(self) -> Status:
        """Which content of which list it is, and how fresh: what `bloomfilter pull`
        wrote beside its file."""
        if self._source is None:
            return Status()
        headers = self._headers if self._working is None else ()
        checksum = describe(self._type_name, headers, self._starts).checksum if headers else ""
        status = read_status(self._source.path, self._source.notes, checksum)
        if self._working is None:
            return status
        working = self._working
        return of_working(status, working.identity, working.serial, working.looked,
                          working.failures, working.true_at)

    def explain(self, key: Any) -> str:
        """What a look-up of the key computes and sees.

        The lines are those of SQL's `bloom_explain`, of `bloomfilter explain` and of the
        readers in other languages: where two programs answer differently, the first line
        that differs says why.
        """
        if not self._filters:
            raise ValueError("the filter is closed")
        key_bytes(key, _source.common_key_type(self._filters))
        return _explain.explain([(filter_.header, filter_.data) for filter_ in self._filters], key)

    def to_bytes(self) -> bytes:
        """The bytes of a filter, as its file has them."""
        return self._bytes_of(self._one("made into bytes"))

    def write(self, path: PathLike) -> None:
        """Write its file: beside the path first, then renamed over it."""
        path = os.fsdecode(path)
        data = self._bytes_of(self._one("written"))
        descriptor, new = tempfile.mkstemp(prefix=".", dir=os.path.dirname(path) or ".")
        try:
            with open(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(descriptor)
            os.chmod(new, 0o666 & ~_umask())
            os.replace(new, path)
        except BaseException:
            os.unlink(new)
            raise

    def close(self) -> None:
        """Let go of the files.  Questions are errors from then on."""
        super().close()
        self._filters.clear()

    def __enter__(self) -> "BloomFilter":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Tuple[Any, ...]:
        """By path where it was opened by one: the other process opens it itself."""
        if self._origin is not None:
            return _reopen, (type(self), *self._origin)
        return _from_parts, (type(self), [self._bytes_of(filter_) for filter_ in self._filters])

    def __repr__(self) -> str:
        info = self.info
        return f"<BloomFilter for {info.n} {info.key_type} keys, {info.bytes} bytes>"

    def _differs(self, other: "BloomFilter") -> bool:
        """Of working copies any may differ: they change all the time."""
        if self._working is not None or other._working is not None:
            return self._source is None or other._source is None or (
                self._source.working != other._source.working)
        return self._starts != other._starts

    def _bytes_of(self, part: Filter) -> bytes:
        if isinstance(self._working, Working):
            return _working.snapshot(memoryview(part.data))
        return bytes(part.data)

    def _one(self, done: str) -> Filter:
        if not self._filters:
            raise ValueError("the filter is closed")
        if len(self._filters) > 1:
            raise BloomFilterError(f"one filter can be {done} here, and this is a set of "
                                   f"{len(self._filters)}")
        return self._filters[0]


def _umask() -> int:
    """What this process's new files must not be; there is no other way to ask."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _reopen(cls: Type[BloomFilter], path: str, verify: bool, copy: bool) -> BloomFilter:
    return cls.open(path, verify=verify, copy=copy)


def _from_parts(cls: Type[BloomFilter], parts: List[bytes]) -> BloomFilter:
    if len(parts) == 1:
        return cls.from_bytes(parts[0], verify=False)
    return cls.from_parts(parts, verify=False)
