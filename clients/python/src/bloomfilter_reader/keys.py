"""Key bytes: section 3 of FORMAT.md for Python's own types.

Equal in SQL means equal bytes.  A value that PostgreSQL's type can't have is
refused: to answer "no" for it would hide a mistake of the caller.
"""

import datetime
import decimal
import ipaddress
import numbers
import operator
import struct
import uuid
from typing import Any, Callable, Dict, Tuple, Type, Union

from . import _native
from .errors import KeyTypeError, KeyValueError

INTEGER, TEXT, BYTEA, UUID, NUMERIC, FLOAT = 1, 2, 3, 4, 5, 6
DATE, TIMESTAMP, TIMESTAMPTZ, INET, MACADDR, ROW = 7, 8, 9, 10, 11, 15
KEY_TYPES = {ROW: "row", **dict(enumerate((
    "none", "integer", "text", "bytea", "uuid", "numeric", "float", "date", "timestamp",
    "timestamptz", "inet", "macaddr")))}
_NUMBERS = {name: number for number, name in KEY_TYPES.items() if number > 0}

_INT64 = struct.Struct("<q")
_EPOCH_ORDINAL = datetime.date(1970, 1, 1).toordinal()
_EPOCH = datetime.datetime(1970, 1, 1)
_EPOCH_UTC = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_MICROSECOND = datetime.timedelta(microseconds=1)
_COLUMN = struct.Struct("<BI")


class Key:
    """A key whose SQL type is said: by key bytes, or by PostgreSQL's text.

    key_type is a name such as "numeric", or its number.  Bytes that no key of
    the type has are refused: no filter holds them, and "no" would hide a mistake.
    """

    __slots__ = ("_data", "_number")

    def __init__(self, key_type: Union[str, int], data: Union[bytes, bytearray, memoryview]) -> None:
        self._number = _key_type_number(key_type)
        self._data = bytes(data)
        if self._number == TEXT:
            self._data = self._data.rstrip(b" ")
        if not _native.is_key(self._number, self._data):
            raise KeyValueError(f"no key of type {self.key_type} has the bytes {_shown(self._data)}")

    @classmethod
    def parse(cls, key_type: str, text: str) -> "Key":
        """The key that PostgreSQL's type reads from a text, or "real" the type real.

        doc/KEYS.md has the forms that are taken, such as "infinity" for a date.
        """
        return cls(*_parse(key_type, text))

    @property
    def key_type(self) -> str:
        return KEY_TYPES[self._number]

    @property
    def data(self) -> bytes:
        return self._data

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, Key) and self._number == other._number
                and self._data == other._data)

    def __hash__(self) -> int:
        return hash((self._number, self._data))

    def __reduce__(self) -> Tuple[Any, ...]:
        return Key, (self._number, self._data)

    def __repr__(self) -> str:
        return f"Key({self.key_type!r}, {self._data!r})"


def _parse(key_type: str, text: str) -> Tuple[int, bytes]:
    if not isinstance(text, str):
        raise KeyTypeError(f"an object of type {type(text).__name__} is no text of a key")
    try:
        return _native.parse(str(key_type), _utf8(text))
    except KeyValueError as error:
        raise KeyValueError(f"{_shown(text)}: {error}") from None
    except LookupError:
        raise KeyTypeError(f"unknown key type {key_type!r}") from None


def _key_type_number(key_type: Union[str, int]) -> int:
    if isinstance(key_type, str) and key_type in _NUMBERS:
        return _NUMBERS[key_type]
    if isinstance(key_type, int) and key_type > 0 and key_type in KEY_TYPES:
        return key_type
    raise KeyTypeError(f"unknown key type {key_type!r}")


def _shown(data: Union[str, bytes]) -> str:
    text = repr(data[:60])
    return text if len(data) <= 60 else text + "..."


class Real(float):
    """The value of a column of type `real`, which drivers give as another number.

    A `real` that prints as 0.1 is 0.10000000149011612, the nearest number of 32
    bits, and 0.1 is not.  `Real(0.1)` is the number that the column holds.
    """

    def __new__(cls, value: Any) -> "Real":
        number = float(value)
        try:
            nearest = struct.unpack("<f", struct.pack("<f", number))[0]
        except OverflowError:
            nearest = 0.0
        if nearest == 0.0 and number != 0.0:
            raise KeyValueError(f"{number} is outside of real's range")
        return super().__new__(cls, nearest)


class MacAddress(Key):
    """A macaddr or macaddr8: 6 or 8 bytes, or one of PostgreSQL's spellings."""

    __slots__ = ()

    def __init__(self, address: Union[str, bytes]) -> None:
        super().__init__(*_parse("macaddr", address if isinstance(address, str) else address.hex()))


def _integer(value: int) -> Tuple[int, bytes]:
    try:
        return INTEGER, _INT64.pack(value)
    except struct.error:
        raise KeyValueError(f"{value} is outside of bigint's 64 bits") from None


def _float(value: float) -> Tuple[int, bytes]:
    return _native.parse("float", repr(float(value)).encode())


def _numeric(value: decimal.Decimal) -> Tuple[int, bytes]:
    return _parse("numeric", "NaN" if value.is_nan() else str(value))


def _datetime(value: datetime.datetime) -> Tuple[int, bytes]:
    if getattr(value, "nanosecond", 0):
        raise KeyValueError("PostgreSQL's timestamps have no nanoseconds")
    if value.utcoffset() is None:
        naive = value.replace(tzinfo=None)
        return TIMESTAMP, _INT64.pack((naive - _EPOCH) // _MICROSECOND)
    return TIMESTAMPTZ, _INT64.pack((value - _EPOCH_UTC) // _MICROSECOND)


def _inet(key: Any) -> Tuple[int, bytes]:
    """Of an address, which has no prefix, an interface or a network."""
    address = getattr(key, "network_address", key)
    if getattr(address, "scope_id", None) is not None:
        raise KeyValueError("PostgreSQL's inet has no zones")
    prefix = getattr(getattr(key, "network", key), "prefixlen", key.max_prefixlen)
    return INET, bytes((key.version, prefix)) + address.packed


def _row(key: Tuple[Any, ...]) -> Tuple[int, bytes]:
    if not 1 <= len(key) <= 6:
        raise KeyTypeError(f"a row has 1 to 6 columns, not {len(key)}")
    data = b""
    for column in key:
        key_type, own = encode(column)
        if key_type == ROW:
            raise KeyTypeError("a column of a row can't be a row")
        data += _COLUMN.pack(key_type, len(own)) + own
    return ROW, data


def _utf8(value: str) -> bytes:
    try:
        return value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise KeyValueError(f"text with half of a surrogate pair, at {error.start}, "
                            "has no UTF-8") from error


def _refuse_bool(key: bool) -> Tuple[int, bytes]:
    raise KeyTypeError("a bool is not a key: is it an integer or a text?")


# Found by the class or the nearest of its bases.
_ENCODERS: Dict[Type[Any], Callable[[Any], Tuple[int, bytes]]] = {
    bool: _refuse_bool,
    int: _integer,
    str: lambda key: (TEXT, _utf8(key).rstrip(b" ")),
    bytes: lambda key: (BYTEA, bytes(key)),
    bytearray: lambda key: (BYTEA, bytes(key)),
    memoryview: lambda key: (BYTEA, key.tobytes()),
    uuid.UUID: lambda key: (UUID, key.bytes),
    decimal.Decimal: _numeric,
    float: _float,
    datetime.date: lambda key: (DATE, _INT64.pack(key.toordinal() - _EPOCH_ORDINAL)),
    datetime.datetime: _datetime,
    ipaddress.IPv4Address: _inet,  # of which an interface is one
    ipaddress.IPv6Address: _inet,
    ipaddress.IPv4Network: _inet,
    ipaddress.IPv6Network: _inet,
    tuple: _row,
    Key: lambda key: (key._number, key._data),
}


def encode(key: Any) -> Tuple[int, bytes]:
    """The key type and the key bytes of a Python value."""
    for base in type(key).__mro__:
        if base in _ENCODERS:
            return _ENCODERS[base](key)
    if isinstance(key, numbers.Integral):  # such as numpy's
        return _integer(operator.index(key))
    if _is_other_float(key):
        return _float(key)
    raise KeyTypeError(f"an object of type {type(key).__name__} is no key of an SQL type")


def _is_other_float(key: Any) -> bool:
    """A number such as numpy's of 32 bits, which a float holds exactly."""
    return (isinstance(key, numbers.Real) and not isinstance(key, numbers.Rational)
            and (key != key or float(key) == key))
