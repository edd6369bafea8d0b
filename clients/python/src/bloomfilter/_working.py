"""The working copy of a host: a file in memory in which a follower sets bits while
readers look keys up.  Section 18 of FORMAT.md."""

import mmap
import os
import stat
import struct
import sys
import uuid
from typing import List, Optional, Sequence, Tuple

from ._engine import checksum, count_bits, xxh64
from ._format import HEADER_BYTES, Header, header_checksum, read_header
from .errors import InvalidFilterError, InvalidSetError

_PAGE = 4096
_HEADER = struct.Struct("<4sIQIIQ16s16s56sQ")
_CHECKSUM_AT = 120
_WORDS_AT, _WORDS_END = 128, 200
_SERIAL, _BASE, _TRUE_AT, _LOOKED, _, _FAILURES, _SUPERSEDED = range(7)
_MAX_PARTS = 65535
_BOOT_ID = "/proc/sys/kernel/random/boot_id"

# Whether it is another file, or is given up: None where there is none.
Stamp = Optional[Tuple[int, int, int, int]]


class Working:
    """A mapped working copy.  Its words change under us: one load each."""

    def __init__(self, view: memoryview, identity: bytes) -> None:
        self._words = view[_WORDS_AT:_WORDS_END].cast("Q")
        self.identity = str(uuid.UUID(bytes=identity))

    def _load(self, word: int) -> int:
        value = self._words[word]
        if sys.byteorder == "big":
            value = int.from_bytes(value.to_bytes(8, "big"), "little")
        return value

    @property
    def serial(self) -> int:
        return self._load(_SERIAL)

    @property
    def true_at(self) -> int:
        """Microseconds since 1970; 0 if not known."""
        return self._load(_TRUE_AT)

    @property
    def looked(self) -> int:
        """Microseconds since 1970."""
        return self._load(_LOOKED)

    @property
    def failures(self) -> int:
        return self._load(_FAILURES)


class Copied:
    """What stays known of a working copy whose bits were copied."""

    looked = failures = true_at = 0

    def __init__(self, working: Working, serial: int) -> None:
        self.serial = serial
        self.identity = working.identity


def path_of(file: str) -> str:
    return file + ".working"


def look(file: str) -> Stamp:
    """What the working copy of a file is now; None where there is none."""
    try:
        descriptor = _open_working(path_of(file))
    except OSError:
        return None
    try:
        status = os.fstat(descriptor)
        words = os.pread(descriptor, _WORDS_END - _WORDS_AT, _WORDS_AT)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    if len(words) < _WORDS_END - _WORDS_AT:
        return status.st_dev, status.st_ino, 0, 0
    base, superseded = struct.unpack_from("<Q", words, 8)[0], struct.unpack_from("<Q", words, 48)[0]
    return status.st_dev, status.st_ino, base, superseded


def open_working(
    file: str, checksums: Sequence[int]
) -> Optional[Tuple[Working, List[Tuple[Header, memoryview]]]]:
    """The working copy of a file whose filters have these checksums, or None where
    there is none, or none of them in use."""
    path = path_of(file)
    try:
        view = _map(path)
        if view is None:
            return None
        identity, boot, parts = _check(view)
        filters = _parts(view, parts)
    except InvalidFilterError as error:
        error.path = path
        raise
    working = Working(view, identity)
    base = xxh64(struct.pack(f"<{len(checksums)}Q", *checksums), 0)
    if boot != _this_boot() or working._load(_SUPERSEDED) or working._load(_BASE) != base:
        return None
    return working, filters


def snapshot(data: memoryview) -> bytes:
    """One part as a filter of its own, with the bits that are set now."""
    copy = bytearray(data)
    struct.pack_into("<Q", copy, 40, count_bits(copy))
    struct.pack_into("<I", copy, 52, header_checksum(bytes(copy[:HEADER_BYTES])))
    struct.pack_into("<Q", copy, 56, checksum(copy))
    return bytes(copy)


def _open_working(path: str) -> int:
    flags = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(path, flags)
    try:
        # A link may lead to a name that any user can take: what another one put there is none.
        if os.fstat(descriptor).st_uid != os.lstat(path).st_uid:
            raise FileNotFoundError(path)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _map(path: str) -> Optional[memoryview]:
    try:
        descriptor = _open_working(path)
    except FileNotFoundError:
        return None
    try:
        status = os.fstat(descriptor)
        _require(stat.S_ISREG(status.st_mode) and status.st_size >= _PAGE, "length",
                 "it is too short")
        return memoryview(mmap.mmap(descriptor, status.st_size, access=mmap.ACCESS_READ))
    finally:
        os.close(descriptor)


def _require(condition: bool, rule: str, message: str) -> None:
    if not condition:
        raise InvalidFilterError(rule, f"not a valid working copy: {message}")


def _check(view: memoryview) -> Tuple[bytes, bytes, int]:
    """Identity, boot and number of parts."""
    fields = _HEADER.unpack_from(view)
    magic, version, length, parts, zero, _epoch, identity, boot, zeros, own = fields
    _require(magic == b"BLML", "magic", "it does not start with BLML")
    _require(version == 1, "version", f"unsupported version {version}")
    _require(own == xxh64(bytes(view[:_CHECKSUM_AT]), 0), "header_checksum",
             "header checksum does not match")
    _require(length == len(view), "length", f"its length is {len(view)}, not {length}")
    _require(1 <= parts <= _MAX_PARTS and zero == 0 and not any(zeros), "header",
             "a field of its header is wrong")
    return identity, boot, parts


def _parts(view: memoryview, count: int) -> List[Tuple[Header, memoryview]]:
    filters = []
    at = end = _PAGE
    for part in range(count):
        header = _part_header(view, at)
        first = filters[0][0] if filters else header
        _require((header.part, header.parts, header.seed) == (part, count, first.seed), "part",
                 f"part {part} is not of the set")
        end = at + header.size
        filters.append((header, view[at:end]))
        at = -(-end // _PAGE) * _PAGE
    _require(end == len(view), "part", "it goes on behind its last part")
    return filters


def _part_header(view: memoryview, at: int) -> Header:
    start = bytes(view[at:at + HEADER_BYTES])
    try:
        _require(len(start) == HEADER_BYTES and 9 <= start[6] <= 16, "part", "no part is there")
        size = HEADER_BYTES + (int.from_bytes(start[8:12], "little") << (start[6] - 3))
        _require(size <= len(view) - at, "part", "a part is longer than the file")
        return read_header(start, size)
    except InvalidFilterError as error:
        raise InvalidFilterError("part", str(error)) from error


def _this_boot() -> bytes:
    try:
        with open(_BOOT_ID, encoding="ascii") as file:
            return uuid.UUID(file.read().strip()).bytes
    except (OSError, ValueError):
        return bytes(16)
