"""The two classes that programs use: a filter, and one that can be reloaded."""

import os
import threading
from typing import Any, Iterable, List, NoReturn, Sequence, Union

from . import _source
from ._format import KEY_TYPES
from ._source import Filter, PathLike
from .errors import PartError
from .info import Info, describe
from .keys import key_bytes

# BLOOMFILTER_PURE=1 tells to do without the extension module, as the tests do.
if os.environ.get("BLOOMFILTER_PURE"):
    from ._pure import Prober

    NATIVE = False
else:
    try:
        from ._native import Prober

        NATIVE = True
    except ImportError:
        from ._pure import Prober

        NATIVE = False


def _missing_part(part: int) -> NoReturn:
    raise PartError(f"key belongs to part {part} of the set, which is not open")


class BloomFilter(Prober):
    """A filter, or a set of parts asked as one.  It never changes.

    `key in f` is False if the key was surely never added, and True if it
    probably was.  Made by `open`, `from_bytes` or `from_parts`; any number of
    threads may ask it.
    """

    info: Info

    @classmethod
    def open(
        cls, path: PathLike, *, verify: bool = True, copy: bool = False
    ) -> "BloomFilter":
        """Open a filter file, a set's manifest, or a folder of one set.

        `verify=False` skips the popcount and the checksum, which read the whole
        file.  `copy=True` reads it into memory instead of mapping it: then
        nothing that happens to the file later matters.
        """
        return cls._of(_source.read_path(path, verify, copy))

    @classmethod
    def from_bytes(
        cls, data: Union[bytes, bytearray, memoryview], *, verify: bool = True
    ) -> "BloomFilter":
        """A filter from its bytes, as a query returns them."""
        return cls._of([_source.read_bytes(data, verify)])

    @classmethod
    def from_parts(
        cls,
        parts: Iterable[Union[bytes, bytearray, memoryview]],
        *,
        verify: bool = True,
    ) -> "BloomFilter":
        """A whole set from the bytes of its parts, in their order."""
        filters = [_source.read_bytes(part, verify) for part in parts]
        _source.check_set(filters)
        return cls._of(filters)

    @classmethod
    def _of(cls, filters: Sequence[Filter]) -> "BloomFilter":
        headers = [filter_.header for filter_ in filters]
        buffers = [filter_.data for filter_ in filters]
        key_type = _source.common_key_type(filters)
        self = cls.__new__(cls, headers, buffers, key_type, key_bytes, _missing_part)
        self.info = describe(KEY_TYPES[key_type], headers)
        return self

    def __repr__(self) -> str:
        info = self.info
        return f"<BloomFilter of {info.n} {info.key_type} keys, {info.size} bytes>"


class LiveBloomFilter:
    """A filter that is replaced by newer ones while threads ask it.

    Each question is answered by one whole filter, the old or the new one.
    """

    def __init__(self, path: PathLike, *, verify: bool = True, copy: bool = False) -> None:
        self._path = path
        self._options = {"verify": verify, "copy": copy}
        self._reloading = threading.Lock()
        self._current = BloomFilter.open(path, **self._options)

    @property
    def current(self) -> BloomFilter:
        """The filter of this moment; keep it to ask several questions of one."""
        return self._current

    @property
    def info(self) -> Info:
        return self._current.info

    def reload(self) -> None:
        """Open the path again and take what is there now.

        On any error the old filter stays and the error is raised.
        """
        with self._reloading:
            # One assignment: readers see the old filter or the new one.
            self._current = BloomFilter.open(self._path, **self._options)

    def __contains__(self, key: Any) -> bool:
        return key in self._current

    def contains(self, key: Any) -> bool:
        return key in self._current

    def contains_many(self, keys: Iterable[Any]) -> List[bool]:
        return self._current.contains_many(keys)
