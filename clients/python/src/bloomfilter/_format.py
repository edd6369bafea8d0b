"""Format version 1: the header and the rules of section 7 of FORMAT.md."""

import struct
from dataclasses import dataclass
from typing import List, Sequence, Tuple, Union

from ._engine import checksum, count_bits, xxh64
from .errors import InvalidFilterError

Buffer = Union[bytes, memoryview]

HEADER_BYTES = 64
MAGIC = b"BLMF"
MAX_BYTES = 512 * 1024 * 1024 - 4096

KEY_TYPES = (
    "none",
    "integer",
    "text",
    "bytea",
    "uuid",
    "numeric",
    "float",
    "date",
    "timestamp",
    "timestamptz",
    "inet",
    "macaddr",
    "row",
)

ROW = KEY_TYPES.index("row")
MAX_COLUMNS = 6

_LAYOUT = struct.Struct("<4sBBBBIHHQQdQB3sIQ")
_HEADER_CHECKSUM_AT = 52


@dataclass(frozen=True)
class Header:
    """The fields of one filter file, as they are stored."""

    version: int
    k: int
    log2_block_bits: int
    key_type_number: int
    blocks: int
    part: int
    parts: int
    seed: int
    n: int
    p: float
    bits_set: int
    hash: int
    columns: Tuple[int, ...]
    """The numbers of the key types of a row's columns."""
    checksum: int

    @property
    def kind(self) -> int:
        """What keys it holds as one number: see `make_kind`."""
        return make_kind(self.key_type_number, self.columns)

    @property
    def key_type(self) -> str:
        return kind_name(self.kind)

    @property
    def bits(self) -> int:
        return self.blocks << self.log2_block_bits

    @property
    def size(self) -> int:
        """Bytes of header and blocks together."""
        return HEADER_BYTES + self.bits // 8


def make_kind(key_type: int, columns: Sequence[int] = ()) -> int:
    """A key type and above it, in 4 bits each, the types of a row's columns."""
    return key_type | sum(column << (8 + 4 * at) for at, column in enumerate(columns))


def kind_name(kind: int) -> str:
    """Such as "integer" or "row(integer, text)"."""
    name = KEY_TYPES[kind & 0xFF]
    columns = [KEY_TYPES[column] for column in _nibbles(kind >> 8) if column]
    return f"{name}({', '.join(columns)})" if columns else name


def _nibbles(number: int) -> List[int]:
    return [number >> (4 * at) & 15 for at in range(MAX_COLUMNS)]


def header_checksum(start: bytes) -> int:
    """The low half of XXH64, seed 0, of the bytes before it."""
    return xxh64(start[:_HEADER_CHECKSUM_AT], 0) & 0xFFFFFFFF


def read_header(start: bytes, length: int) -> Header:
    """Check rules 1 to 14 of a filter of `length` bytes.

    `start` has the first 64 bytes, or all where there are fewer.
    """
    _require(length >= HEADER_BYTES, "short", "shorter than the 64-byte header")
    magic, version, *middle, hash_id, packed, own_checksum, checksum = _LAYOUT.unpack(start)
    _require(magic == MAGIC, "magic", "does not start with BLMF")
    _require(version == 1, "version", f"unsupported format version {version}")
    _require(
        header_checksum(start) == own_checksum,
        "header_checksum",
        "header checksum does not match",
    )
    _require(hash_id == 1, "hash", f"unsupported hash function {hash_id}")
    nibbles = _nibbles(int.from_bytes(packed, "little"))
    columns = tuple(nibbles[: nibbles.index(0)] if 0 in nibbles else nibbles)
    header = Header(version, *middle, hash_id, columns, checksum)
    _check_geometry(header, nibbles, length)
    _check_parameters(header)
    return header


def _require(condition: bool, rule: str, message: str) -> None:
    if not condition:
        raise InvalidFilterError(rule, f"not a valid filter: {message}")


def _check_geometry(header: Header, nibbles: List[int], length: int) -> None:
    _require(1 <= header.k <= 32, "probes", f"{header.k} probes are not 1 to 32")
    _require(
        9 <= header.log2_block_bits <= 16,
        "block_bits",
        f"block size 2^{header.log2_block_bits} bits is not 2^9 to 2^16",
    )
    _require(
        header.key_type_number < len(KEY_TYPES),
        "key_type",
        f"unknown key type {header.key_type_number}",
    )
    _require(
        not any(nibbles[len(header.columns) :])
        and all(column < ROW for column in header.columns)
        and (header.key_type_number == ROW) == bool(header.columns),
        "columns",
        "columns do not match the key type",
    )
    _require(header.blocks >= 1, "blocks", "number of blocks is zero")
    _require(
        header.size == length <= MAX_BYTES,
        "size",
        f"length is {length} and the header says {header.size}, at most {MAX_BYTES}",
    )


def _check_parameters(header: Header) -> None:
    _require(
        header.part < header.parts,
        "part",
        f"part {header.part} is not below the number of parts {header.parts}",
    )
    _require(1 <= header.n < 1 << 63, "capacity", f"capacity {header.n} is not valid")
    _require(0.0 < header.p < 1.0, "rate", f"rate {header.p} is not between 0 and 1")


def check_blocks(header: Header, data: Buffer, verify: bool) -> None:
    """Check rules 15 to 17; without `verify` only what the header tells."""
    counted = count_bits(data) if verify else min(header.bits_set, header.bits)
    _require(
        counted == header.bits_set,
        "bits_set",
        "number of set bits does not match the blocks",
    )
    _require(
        header.key_type_number != 0 or header.bits_set == 0,
        "empty_key_type",
        "bits are set and no key type is named",
    )
    if verify:
        _require(
            checksum(data) == header.checksum,
            "checksum",
            "checksum does not match",
        )
