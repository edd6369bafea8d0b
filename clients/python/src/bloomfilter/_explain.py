"""What a look-up of one key computes and sees: section 20 of FORMAT.md."""

from typing import Any, Optional, Sequence, Tuple

from ._engine import xxh64
from ._format import HEADER_BYTES, Buffer, Header, kind_name
from ._pure import block_of, part_of
from .keys import encode

_MASK64 = 2**64 - 1
_PROBE_MULTIPLIER = 0x9E3779B97F4A7C15

# Bytes of a key that are shown.
_SHOWN = 64


def _bytes_text(data: bytes) -> str:
    if len(data) > _SHOWN:
        return data[:_SHOWN].hex() + "..."
    return data.hex() or "-"


def _probes(header: Header, data: Buffer, hash_: int) -> Sequence[Tuple[int, int]]:
    """The positions in the key's block, and the bits there."""
    start = HEADER_BYTES + (block_of(hash_, header.blocks) << header.log2_block_bits - 3)
    found = []
    probe = hash_
    for _ in range(header.k):
        probe = probe * _PROBE_MULTIPLIER & _MASK64
        bit = probe >> 64 - header.log2_block_bits
        found.append((bit, data[start + (bit >> 3)] >> (bit & 7) & 1))
    return found


def explain(filters: Sequence[Tuple[Header, Buffer]], key: Any) -> str:
    """filters are those of a set that are open; the key's type has been checked."""
    kind, key_bytes = encode(key)
    seed, parts = filters[0][0].seed, filters[0][0].parts
    hash_ = xxh64(key_bytes, seed)
    part = part_of(hash_, parts)
    own: Optional[Tuple[Header, Buffer]] = None
    for filter_ in filters:
        if filter_[0].part == part:
            own = filter_
    header = (own or filters[0])[0]
    lines = [
        ("filter", f"{header.checksum:016x}"),
        ("kind", kind_name(kind)),
        ("length", len(key_bytes)),
        ("bytes", _bytes_text(key_bytes)),
        ("seed", f"{seed:016x}"),
        ("hash", f"{hash_:016x}"),
        ("part", f"{part} of {parts}"),
        ("block", f"{block_of(hash_, header.blocks)} of {header.blocks}"),
    ]
    answer = "other part"
    if own is not None:
        probes = _probes(header, own[1], hash_)
        lines.append(("probes", " ".join(f"{bit}={value}" for bit, value in probes)))
        answer = "true" if all(value for _, value in probes) else "false"
    lines.append(("answer", answer))
    return "\n".join(f"{name:<10}{value}" for name, value in lines)
