"""What the tests share: golden rows, and a builder that is slow and simple."""

import os
import struct
import unittest
from typing import Dict, Iterable, List, Tuple

import bloomfilter
from bloomfilter import _engine, _format, _pure

HERE = os.path.dirname(os.path.abspath(__file__))
VECTORS = os.environ.get(
    "BLOOMFILTER_VECTORS", os.path.join(HERE, "..", "..", "..", "test", "vectors")
)
needs_native = unittest.skipUnless(bloomfilter.NATIVE, "takes the extension module")
MULTIPLIER = 0x9E3779B97F4A7C15


def rows(name: str) -> List[Dict[str, str]]:
    """The rows of a golden file, by column name."""
    with open(os.path.join(VECTORS, name), encoding="utf-8", newline="\n") as file:
        lines = file.read().split("\n")[:-1]
    columns = lines[0].lstrip("#").split("\t")
    return [dict(zip(columns, line.split("\t"))) for line in lines[1:]]


def key_list(text: str) -> List[bytes]:
    return [] if text == "-" else [bytes.fromhex(key) for key in text.split(",")]


def number(hexadecimal: str) -> int:
    return int(hexadecimal, 16)


def positions(hash_: int, k: int, log2_block_bits: int) -> List[int]:
    out = []
    for _ in range(k):
        hash_ = hash_ * MULTIPLIER % 2**64
        out.append(hash_ >> (64 - log2_block_bits))
    return out


def build(
    key_bytes: Iterable[bytes],
    key_type: int = 1,
    part: int = 0,
    parts: int = 1,
    seed: int = 0,
    k: int = 7,
    log2_block_bits: int = 9,
    blocks: int = 4,
    columns: Tuple[int, ...] = (),
) -> bytes:
    """A valid filter of those keys that belong to the part."""
    size = 1 << (log2_block_bits - 3)
    body = bytearray(blocks * size)
    for key in key_bytes:
        hash_ = _engine.xxh64(key, seed)
        if _pure.part_of(hash_, parts) != part:
            continue
        start = _pure.block_of(hash_, blocks) * size
        for bit in positions(hash_, k, log2_block_bits):
            body[start + (bit >> 3)] |= 1 << (bit & 7)
    shape = (k, log2_block_bits, key_type, blocks, part, parts, seed)
    return seal(shape, bytes(body), columns)


def seal(shape: Tuple[int, ...], body: bytes, columns: Tuple[int, ...] = ()) -> bytes:
    """Header and checksums around blocks; n and p do not matter here."""
    count = _engine.count_bits(bytes(64) + body)
    head = struct.pack("<4sBBBBIHHQQdQB", b"BLMF", 1, *shape, 100, 0.01, count, 1)
    head += (_format.make_kind(0, columns) >> 8).to_bytes(3, "little")
    head += struct.pack("<I", _format.header_checksum(head))
    checksum = _engine.checksum(head + bytes(8) + body)
    return head + struct.pack("<Q", checksum) + body


def sealed_again(data: bytes) -> bytes:
    """With the header's checksum made right."""
    return data[:52] + struct.pack("<I", _format.header_checksum(data)) + data[56:]


def integers(numbers: Iterable[int]) -> List[bytes]:
    return [struct.pack("<q", value) for value in numbers]


def build_set(parts: int, keys: List[bytes], key_type: int = 1) -> List[bytes]:
    return [build(keys, key_type, part, parts, blocks=64) for part in range(parts)]
