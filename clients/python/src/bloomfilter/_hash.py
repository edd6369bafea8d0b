"""XXH64, popcount and checksum in Python, for where the extension module is not.

The package `xxhash` does the hashing where it happens to be installed.  Without
it the few lines below do: by the specification "xxHash fast digest algorithm".
"""

import struct
from typing import Callable, List, Union

Data = Union[bytes, bytearray, memoryview]

_HEADER_BYTES = 64
_CHECKSUM_AT = 56
_STRIPE = 32

# Bytes looked at in one step of the checksum and the popcount: few calls, and
# no copy of a large filter.
_STEP = 1 << 20

_MASK = 2**64 - 1
_P1 = 0x9E3779B185EBCA87
_P2 = 0xC2B2AE3D27D4EB4F
_P3 = 0x165667B19E3779F9
_P4 = 0x85EBCA77C2B2AE63
_P5 = 0x27D4EB2F165667C5

_FOUR_WORDS = struct.Struct("<4Q")
_WORD = struct.Struct("<Q")
_HALF = struct.Struct("<I")


def _round(lane: int, word: int) -> int:
    lane = (lane + word * _P2) & _MASK
    return ((lane << 31 | lane >> 33) * _P1) & _MASK


def _start(seed: int) -> List[int]:
    return [(seed + _P1 + _P2) & _MASK, (seed + _P2) & _MASK, seed, (seed - _P1) & _MASK]


def _absorb(lanes: List[int], stripes: Data) -> List[int]:
    """Take a whole number of stripes in."""
    a, b, c, d = lanes
    for w, x, y, z in _FOUR_WORDS.iter_unpack(stripes):
        a = (a + w * _P2) & _MASK
        a = ((a << 31 | a >> 33) * _P1) & _MASK
        b = (b + x * _P2) & _MASK
        b = ((b << 31 | b >> 33) * _P1) & _MASK
        c = (c + y * _P2) & _MASK
        c = ((c << 31 | c >> 33) * _P1) & _MASK
        d = (d + z * _P2) & _MASK
        d = ((d << 31 | d >> 33) * _P1) & _MASK
    return [a, b, c, d]


def _converge(lanes: List[int]) -> int:
    a, b, c, d = lanes
    hash_ = ((a << 1 | a >> 63) + (b << 7 | b >> 57) + (c << 12 | c >> 52)
             + (d << 18 | d >> 46)) & _MASK
    for lane in lanes:
        hash_ = ((hash_ ^ _round(0, lane)) * _P1 + _P4) & _MASK
    return hash_


def _finish(hash_: int, tail: Data) -> int:
    """The last bytes, fewer than a stripe, and the avalanche."""
    at = 0
    while at + 8 <= len(tail):
        hash_ ^= _round(0, _WORD.unpack_from(tail, at)[0])
        hash_ = ((hash_ << 27 | hash_ >> 37) & _MASK) * _P1 + _P4 & _MASK
        at += 8
    if at + 4 <= len(tail):
        hash_ ^= _HALF.unpack_from(tail, at)[0] * _P1 & _MASK
        hash_ = ((hash_ << 23 | hash_ >> 41) & _MASK) * _P2 + _P3 & _MASK
        at += 4
    for byte in tail[at:]:
        hash_ ^= byte * _P5 & _MASK
        hash_ = ((hash_ << 11 | hash_ >> 53) & _MASK) * _P1 & _MASK
    hash_ = (hash_ ^ hash_ >> 33) * _P2 & _MASK
    hash_ = (hash_ ^ hash_ >> 29) * _P3 & _MASK
    return hash_ ^ hash_ >> 32


def python_xxh64(data: Data, seed: int) -> int:
    whole = len(data) // _STRIPE * _STRIPE
    hash_ = _converge(_absorb(_start(seed), data[:whole])) if whole else seed + _P5
    return _finish((hash_ + len(data)) & _MASK, data[whole:])


def python_checksum(data: Data) -> int:
    # The header's 56 bytes and 8 of the blocks are the first two stripes.
    first = bytes(data[:_CHECKSUM_AT]) + bytes(data[_HEADER_BYTES : _HEADER_BYTES + 8])
    view = memoryview(data)[_HEADER_BYTES + 8 :]
    whole = len(view) // _STRIPE * _STRIPE
    hash_ = _converge(_absorb(_absorb(_start(0), first), view[:whole]))
    return _finish((hash_ + len(data) - 8) & _MASK, view[whole:])


xxh64: Callable[[Data, int], int]

try:
    import xxhash
except ImportError:
    xxh64 = python_xxh64
    checksum = python_checksum
else:
    xxh64 = xxhash.xxh64_intdigest

    def checksum(data: Data) -> int:
        """XXH64, seed 0, of the header without its checksum, and the blocks."""
        state = xxhash.xxh64(data[:_CHECKSUM_AT], seed=0)
        for start in range(_HEADER_BYTES, len(data), _STEP):
            state.update(data[start : start + _STEP])
        return state.intdigest()


def count_bits(data: Data) -> int:
    """The number of 1 bits in the blocks."""
    return sum(
        _popcount(int.from_bytes(data[start : start + _STEP], "little"))
        for start in range(_HEADER_BYTES, len(data), _STEP)
    )


def _popcount_by_text(number: int) -> int:
    return bin(number).count("1")


# int.bit_count came with Python 3.10.
_popcount = getattr(int, "bit_count", _popcount_by_text)
