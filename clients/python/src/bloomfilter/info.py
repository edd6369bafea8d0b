"""What a filter says about itself: the columns of SQL's bloom_stats."""

import math
import struct
from dataclasses import dataclass, replace
from typing import Optional, Sequence, Tuple

from ._engine import native, xxh64
from ._format import Header


@dataclass(frozen=True)
class Info:
    """A filter, or the parts of a set taken as one."""

    n: int
    """Keys it was sized for, of all open parts."""
    p: float
    """The rate it was sized for; the highest of the parts."""
    bits: int
    bytes: int
    """Of all files, headers included."""
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
    fpr: Optional[float]
    """The rate to be expected with the keys in it now; None without the extension module."""
    over_capacity: Optional[bool]
    """Whether it surely holds more keys than it was sized for; None without the module."""
    part: int
    parts: int
    format_version: int
    checksum: str
    """16 hexadecimal digits; filters that have the same hold the same bytes."""
    filters: Tuple["Info", ...] = ()
    """The open parts one by one; none for one of them."""


def describe(key_type: str, headers: Sequence[Header], starts: Sequence[bytes]) -> Info:
    """starts are the bytes of the headers."""
    parts = (
        _describe(header.key_type, [header], [start]) for header, start in zip(headers, starts)
    )
    return replace(_describe(key_type, headers, starts), filters=tuple(parts))


def _describe(key_type: str, headers: Sequence[Header], starts: Sequence[bytes]) -> Info:
    first = headers[0]
    bits = sum(header.bits for header in headers)
    bits_set = sum(header.bits_set for header in headers)
    cardinality, fpr, over_capacity = _estimate(headers, starts)
    return Info(
        n=sum(header.n for header in headers),
        p=max(header.p for header in headers),
        bits=bits,
        bytes=sum(header.size for header in headers),
        hashes=first.k,
        block_bits=1 << first.log2_block_bits,
        blocks=sum(header.blocks for header in headers),
        seed=first.seed - (1 << 64 if first.seed >> 63 else 0),
        key_type=key_type,
        bits_set=bits_set,
        fill=bits_set / bits,
        cardinality=cardinality,
        fpr=fpr,
        over_capacity=over_capacity,
        part=first.part if len(headers) == 1 else 0,
        parts=first.parts,
        format_version=first.version,
        checksum=_checksum(headers),
    )


def _checksum(headers: Sequence[Header]) -> str:
    """Of a set: each part's, hashed with that of those before it."""
    whole = headers[0].checksum
    for header in headers[1:]:
        whole = xxh64(struct.pack("<QQ", whole, header.checksum), 0)
    return f"{whole:016x}"


def _estimate(
    headers: Sequence[Header], starts: Sequence[bytes]
) -> Tuple[float, Optional[float], Optional[bool]]:
    if native is None:
        return sum(map(_cardinality, headers)), None, None
    cardinalities, rates, overs = zip(*map(native.estimate, starts))
    # An absent key goes to each part as likely.
    return sum(cardinalities), sum(rates) / len(rates), any(overs)


def _cardinality(header: Header) -> float:
    """Section 11 of FORMAT.md.  A full filter is taken for one that misses half a bit."""
    share = min(header.bits_set, header.bits - 0.5) / header.bits
    hit = -math.expm1(header.k * math.log1p(-header.blocks / header.bits))
    return math.log1p(-share) / math.log1p(-hit / header.blocks)
