"""What a filter says about itself."""

import math
from dataclasses import dataclass
from typing import Optional, Sequence, Tuple

from ._format import Header


@dataclass(frozen=True)
class Info:
    """A filter, or a set of parts taken as one."""

    key_type: str
    seed: int
    parts: int
    n: int
    """Keys it was sized for, of all open parts."""
    p: float
    """The rate it was sized for; the highest of the parts."""
    size: int
    """Bytes of all files."""
    bits: int
    bits_set: int
    estimated_keys: Optional[float]
    """From the bits set; None if all bits of a part are set."""
    filters: Tuple[Header, ...]
    """The headers of the open parts."""

    @property
    def fill(self) -> float:
        """The share of bits that are set; close to 1/2 when n keys are in."""
        return self.bits_set / self.bits


def describe(key_type: str, headers: Sequence[Header]) -> Info:
    estimates = [estimate_keys(header) for header in headers]
    return Info(
        key_type=key_type,
        seed=headers[0].seed,
        parts=headers[0].parts,
        n=sum(header.n for header in headers),
        p=max(header.p for header in headers),
        size=sum(header.size for header in headers),
        bits=sum(header.bits for header in headers),
        bits_set=sum(header.bits_set for header in headers),
        estimated_keys=None if None in estimates else sum(estimates),
        filters=tuple(headers),
    )


def estimate_keys(header: Header) -> Optional[float]:
    """Section 11 of FORMAT.md."""
    if header.bits_set == header.bits:
        return None
    block_bits = 1 << header.log2_block_bits
    keys_missing_a_bit = math.log1p(-header.bits_set / header.bits)
    bits_of_a_key = -math.expm1(header.k * math.log1p(-1 / block_bits))
    return -keys_missing_a_bit * header.blocks / bits_of_a_key
