"""The look-up in Python, for where the extension module is not compiled.

The same interface and the same answers as `_native.Prober`.
"""

from typing import Any, Callable, Iterable, List, NamedTuple, NoReturn, Optional, Sequence

from ._engine import xxh64
from ._format import HEADER_BYTES, Buffer, Header
from .errors import BloomFilterError

_MASK64 = 2**64 - 1
_PROBE_MULTIPLIER = 0x9E3779B97F4A7C15
_PART_MULTIPLIER = 0xD6E8FEB86659FD93


def block_of(hash_: int, blocks: int) -> int:
    return hash_ * blocks >> 64


def part_of(hash_: int, parts: int) -> int:
    mixed = (hash_ ^ (hash_ >> 32)) * _PART_MULTIPLIER & _MASK64
    return (mixed ^ (mixed >> 32)) * parts >> 64


class File(NamedTuple):
    """What a look-up needs of one filter."""

    data: Buffer
    blocks: int
    block_bytes: int
    shift: int
    probes: range


def _file(header: Header, data: Buffer) -> File:
    bits = header.log2_block_bits
    return File(data, header.blocks, 1 << (bits - 3), 64 - bits, range(header.k))


class Prober:
    """Asks the filters of one set, of which some may be missing.

    key_bytes(key, key_type) makes the bytes or raises; missing_part(part)
    raises the error for a key whose filter is not here.
    """

    _files: Optional[List[Optional[File]]]
    _key_bytes: Callable[[Any, int], bytes]
    _key_type: int
    _missing_part: Callable[[int], NoReturn]
    _parts: int
    _seed: int

    __slots__ = ("_files", "_key_bytes", "_key_type", "_missing_part", "_parts", "_seed")

    def __new__(
        cls,
        headers: Sequence[Header],
        buffers: Sequence[Buffer],
        key_type: int,
        key_bytes: Callable[[Any, int], bytes],
        missing_part: Callable[[int], NoReturn],
    ) -> "Prober":
        self = super().__new__(cls)
        self._key_type = key_type
        self._key_bytes = key_bytes
        self._missing_part = missing_part
        self._seed = headers[0].seed
        files: List[Optional[File]] = [None] * headers[0].parts
        for header, buffer in zip(headers, buffers):
            files[header.part] = _file(header, buffer)
        self._files = files
        self._parts = len(files)
        return self

    def __contains__(self, key: Any) -> bool:
        hash_ = xxh64(self._key_bytes(key, self._key_type), self._seed)
        part = part_of(hash_, self._parts) if self._parts > 1 else 0
        if self._files is None:
            raise ValueError("the filter is closed")
        file = self._files[part]
        if file is None:
            self._missing_part(part)
        data, blocks, block_bytes, shift, probes = file
        start = HEADER_BYTES + (hash_ * blocks >> 64) * block_bytes
        probe = hash_
        for _ in probes:
            probe = probe * _PROBE_MULTIPLIER & _MASK64
            bit = probe >> shift
            if not data[start + (bit >> 3)] >> (bit & 7) & 1:
                return False
        return True

    def contains(self, key: Any) -> bool:
        """Whether the filter may hold the key; `key in filter` is the same."""
        return key in self

    def contains_many(self, keys: Iterable[Any]) -> List[bool]:
        """One answer for each key, in their order."""
        if isinstance(keys, (str, bytes, bytearray)):
            raise TypeError(
                f"keys come in a list or another iterable, and one {type(keys).__name__} is one key"
            )
        contains = self.__contains__
        answers: List[bool] = []
        for key in keys:
            try:
                answers.append(contains(key))
            except BloomFilterError as error:
                error.index = len(answers)
                raise
        return answers

    def close(self) -> None:
        """Lets go of the files; questions are errors from then on."""
        self._files = None
