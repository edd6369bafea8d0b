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

from ._engine import require_native
from ._format import KEY_TYPES, MAX_COLUMNS, ROW, kind_name, make_kind
from ._raw import columns_of, is_key, row_of
from .errors import KeyTypeError, KeyValueError

INTEGER, TEXT, BYTEA, UUID, NUMERIC, FLOAT = 1, 2, 3, 4, 5, 6
DATE, TIMESTAMP, TIMESTAMPTZ, INET, MACADDR = 7, 8, 9, 10, 11

_INT64 = struct.Struct("<q")
_DOUBLE = struct.Struct("<d")
_NAN = struct.pack("<Q", 0x7FF8000000000000)
_EPOCH_ORDINAL = datetime.date(1970, 1, 1).toordinal()
_EPOCH = datetime.datetime(1970, 1, 1)
_EPOCH_UTC = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_MICROSECOND = datetime.timedelta(microseconds=1)

_BLANK = b" "

# What numeric can store: digits before the point, and behind it.
_NUMERIC_WHOLE_DIGITS = 131072
_NUMERIC_FRACTION_DIGITS = 16383


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
            self._data = self._data.rstrip(_BLANK)
        if not is_key(self._number, self._data):
            raise KeyValueError(f"no key of type {self.key_type} has the bytes {_show(self._data)}")

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
    """By the C of src/text, which is the grammar of all readers."""
    native = require_native("reading keys from text")
    if not isinstance(text, str):
        raise KeyTypeError(f"an object of type {type(text).__name__} is no text of a key")
    try:
        return native.parse_text(str(key_type), utf8_bytes(text))
    except LookupError:
        raise KeyTypeError(f"unknown key type {key_type!r}") from None
    except KeyValueError:
        raise
    except ValueError as error:
        shown = repr(text if len(text) <= 60 else text[:60] + "...")
        raise KeyValueError(f"{shown} is not a key of type {key_type}: {error}") from None


def _key_type_number(key_type: Union[str, int]) -> int:
    if isinstance(key_type, str) and key_type in KEY_TYPES[1:]:
        return KEY_TYPES.index(key_type)
    if isinstance(key_type, int) and 1 <= key_type < len(KEY_TYPES):
        return key_type
    raise KeyTypeError(f"unknown key type {key_type!r}")


def _show(data: bytes) -> str:
    return repr(data if len(data) <= 40 else data[:40] + b"...")


class Real(float):
    """The value of a column of type `real`, which drivers give as another number.

    A `real` that prints as 0.1 is 0.10000000149011612, the nearest number of 32
    bits, and 0.1 is not.  `Real(0.1)` is the number that the column holds.
    """

    def __new__(cls, value: Any) -> "Real":
        number = float(value)
        try:
            return super().__new__(cls, struct.unpack("<f", struct.pack("<f", number))[0])
        except OverflowError:
            raise KeyValueError(f"{number} is outside of real's range") from None


class MacAddress:
    """A macaddr or macaddr8: 6 or 8 bytes, or one of PostgreSQL's spellings."""

    __slots__ = ("data",)

    def __init__(self, address: Union[str, bytes]) -> None:
        if isinstance(address, str):
            address = _parse("macaddr", address)[1]
        if len(address) not in (6, 8):
            raise KeyValueError("a MAC address has 6 or 8 bytes")
        self.data = _narrow_mac(bytes(address))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MacAddress) and self.data == other.data

    def __hash__(self) -> int:
        return hash(self.data)

    def __repr__(self) -> str:
        return f"MacAddress({self.data.hex(':')!r})"


def _narrow_mac(address: bytes) -> bytes:
    """Eight bytes with ff fe in the middle equal, in SQL, the six around them."""
    if len(address) == 8 and address[3:5] == b"\xff\xfe":
        return address[:3] + address[5:]
    return address


def integer_bytes(value: int) -> bytes:
    try:
        return _INT64.pack(value)
    except struct.error:
        raise KeyValueError(f"{value} is outside of bigint's 64 bits") from None


def float_bytes(value: float) -> bytes:
    if value == 0.0:
        return bytes(8)  # -0 is 0
    return _NAN if value != value else _DOUBLE.pack(value)


def numeric_bytes(value: decimal.Decimal) -> bytes:
    if value.is_nan():
        return b"NaN"
    if value.is_infinite():
        return b"Infinity" if value > 0 else b"-Infinity"
    if not value:
        return b"0"
    _check_numeric_range(value)
    text = format(value, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
        _check_fraction(text)
    return text.encode("ascii")


def _check_numeric_range(value: decimal.Decimal) -> None:
    """Refuse before formatting: 1e999999999 as plain digits fills the memory."""
    if not -_NUMERIC_FRACTION_DIGITS <= value.adjusted() < _NUMERIC_WHOLE_DIGITS:
        raise KeyValueError("value is outside of numeric's range")


def _check_fraction(text: str) -> None:
    if len(text.partition(".")[2]) > _NUMERIC_FRACTION_DIGITS:
        raise KeyValueError("value has more digits than numeric can store")


def date_bytes(value: datetime.date) -> bytes:
    return _INT64.pack(value.toordinal() - _EPOCH_ORDINAL)


def _encode_datetime(value: datetime.datetime) -> Tuple[int, bytes]:
    if getattr(value, "nanosecond", 0):
        raise KeyValueError("PostgreSQL's timestamps have no nanoseconds")
    if value.utcoffset() is None:
        naive = value.replace(tzinfo=None)
        return TIMESTAMP, _INT64.pack((naive - _EPOCH) // _MICROSECOND)
    return TIMESTAMPTZ, _INT64.pack((value - _EPOCH_UTC) // _MICROSECOND)


def _inet_bytes(address: Any, prefix: int) -> bytes:
    if getattr(address, "scope_id", None) is not None:
        raise KeyValueError("PostgreSQL's inet has no zones")
    return bytes((address.version, prefix)) + address.packed


def _encode_key(key: Key) -> Tuple[int, bytes]:
    if key._number == ROW:
        return make_kind(ROW, columns_of(key._data) or ()), key._data
    return key._number, key._data


def _encode_row(key: Tuple[Any, ...]) -> Tuple[int, bytes]:
    if not 1 <= len(key) <= MAX_COLUMNS:
        raise KeyTypeError(f"a row has 1 to {MAX_COLUMNS} columns, not {len(key)}")
    columns = [encode(column) for column in key]
    if any(kind & 0xFF == ROW for kind, _ in columns):
        raise KeyTypeError("a column of a row can't be a row")
    return make_kind(ROW, [kind for kind, _ in columns]), row_of(columns)


def text_bytes(value: str) -> bytes:
    """Without the blanks at the end, as char(n) is compared, and no other white space."""
    return utf8_bytes(value).rstrip(_BLANK)


def utf8_bytes(value: str) -> bytes:
    try:
        return value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise KeyValueError(f"text with half of a surrogate pair, at {error.start}, "
                            "has no UTF-8") from error


def _encode_interface(key: Any) -> Tuple[int, bytes]:
    return INET, _inet_bytes(key, key.network.prefixlen)


def _encode_network(key: Any) -> Tuple[int, bytes]:
    return INET, _inet_bytes(key.network_address, key.prefixlen)


def _encode_address(key: Any) -> Tuple[int, bytes]:
    return INET, _inet_bytes(key, key.max_prefixlen)


def _refuse_bool(key: bool) -> Tuple[int, bytes]:
    raise KeyTypeError("a bool is not a key: is it an integer or a text?")


# Found by the class or the nearest of its bases.
_ENCODERS: Dict[Type[Any], Callable[[Any], Tuple[int, bytes]]] = {
    bool: _refuse_bool,
    int: lambda key: (INTEGER, integer_bytes(key)),
    str: lambda key: (TEXT, text_bytes(key)),
    bytes: lambda key: (BYTEA, bytes(key)),
    bytearray: lambda key: (BYTEA, bytes(key)),
    memoryview: lambda key: (BYTEA, key.tobytes()),
    uuid.UUID: lambda key: (UUID, key.bytes),
    decimal.Decimal: lambda key: (NUMERIC, numeric_bytes(key)),
    float: lambda key: (FLOAT, float_bytes(key)),
    datetime.date: lambda key: (DATE, date_bytes(key)),
    datetime.datetime: _encode_datetime,
    ipaddress.IPv4Address: _encode_address,
    ipaddress.IPv6Address: _encode_address,
    ipaddress.IPv4Interface: _encode_interface,
    ipaddress.IPv6Interface: _encode_interface,
    ipaddress.IPv4Network: _encode_network,
    ipaddress.IPv6Network: _encode_network,
    MacAddress: lambda key: (MACADDR, key.data),
    tuple: _encode_row,
    Key: _encode_key,
}


def encode(key: Any) -> Tuple[int, bytes]:
    """The key type and the key bytes of a Python value.

    The key type of a tuple is that of a row with these columns, see `make_kind`.
    """
    encoder = _ENCODERS.get(type(key))
    if encoder is not None:
        return encoder(key)
    for base in type(key).__mro__:
        if base in _ENCODERS:
            return _ENCODERS[base](key)
    if isinstance(key, numbers.Integral):  # such as numpy's
        return INTEGER, integer_bytes(operator.index(key))
    if _is_other_float(key):
        return FLOAT, float_bytes(float(key))
    raise KeyTypeError(f"an object of type {type(key).__name__} is no key of an SQL type")


def _is_other_float(key: Any) -> bool:
    """A number such as numpy's of 32 bits, which a float holds exactly."""
    return (isinstance(key, numbers.Real) and not isinstance(key, numbers.Rational)
            and (key != key or float(key) == key))


def key_bytes(key: Any, kind: int) -> bytes:
    """The bytes of a key for a filter of this kind of keys; 0 takes all."""
    own_kind, data = encode(key)
    if own_kind != kind and kind != 0:
        raise KeyTypeError(
            f"bloomfilter holds {kind_name(kind)} keys, not {kind_name(own_kind)}"
        )
    return data
