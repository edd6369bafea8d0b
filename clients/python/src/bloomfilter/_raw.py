"""Which bytes a key can have: section 3 of FORMAT.md, read the other way round."""

import re
import struct
from typing import Callable, Dict, List, Optional, Tuple

_NUMERIC = re.compile(rb"0|-?[1-9][0-9]*|-?(0|[1-9][0-9]*)\.[0-9]*[1-9]|NaN|-?Infinity")
_NAN = struct.pack("<Q", 0x7FF8000000000000)
_COLUMN = struct.Struct("<BI")

_ROW = 12


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return not data.endswith(b" ")


def _is_float(data: bytes) -> bool:
    """One zero, and one NaN."""
    if len(data) != 8:
        return False
    value = struct.unpack("<d", data)[0]
    if value != value:
        return data == _NAN
    return value != 0 or data == bytes(8)


def _is_inet(data: bytes) -> bool:
    return (len(data) == 6 and data[0] == 4 and data[1] <= 32) or (
        len(data) == 18 and data[0] == 6 and data[1] <= 128
    )


def _is_macaddr(data: bytes) -> bool:
    return len(data) == 6 or (len(data) == 8 and data[3:5] != b"\xff\xfe")


def _is_count(data: bytes) -> bool:
    return len(data) == 8


# By the number of the key type.
_CHECKS: Dict[int, Callable[[bytes], bool]] = {
    1: _is_count,
    2: _is_text,
    3: lambda data: True,
    4: lambda data: len(data) == 16,
    5: lambda data: _NUMERIC.fullmatch(data) is not None,
    6: _is_float,
    7: _is_count,
    8: _is_count,
    9: _is_count,
    10: _is_inet,
    11: _is_macaddr,
}


def is_key(key_type: int, data: bytes) -> bool:
    """Whether a key of this type has these bytes."""
    return columns_of(data) is not None if key_type == _ROW else _CHECKS[key_type](data)


def columns_of(data: bytes) -> Optional[List[int]]:
    """The key types of a row's columns, or None if these are the bytes of no row."""
    columns: List[int] = []
    at = 0
    while at + _COLUMN.size <= len(data):
        column, length = _COLUMN.unpack_from(data, at)
        at += _COLUMN.size
        own = data[at : at + length]
        if column not in _CHECKS or len(own) != length or not _CHECKS[column](own):
            return None
        columns.append(column)
        at += length
    return columns if at == len(data) and 1 <= len(columns) <= 6 else None


def row_of(columns: List[Tuple[int, bytes]]) -> bytes:
    """Of the key type and the key bytes of each column."""
    return b"".join(_COLUMN.pack(number, len(own)) + own for number, own in columns)
