"""Keys from the text that PostgreSQL prints for them.

For keys that come as text, in a file or from a command, and for values that
Python's own types can't have: infinities, years before 1 and after 9999.
"""

import decimal
import ipaddress
import re
import struct
import uuid
from typing import Any, Callable, Dict

from . import keys
from ._format import KEY_TYPES
from .errors import KeyTypeError, KeyValueError
from .keys import Key, MacAddress

_INFINITIES = {"infinity": 2**63 - 1, "-infinity": -(2**63)}
_DAY = 86400 * 10**6
_DATE = re.compile(r"(\d{4,7})-(\d\d)-(\d\d)( BC)?", re.ASCII)
_TIMESTAMP = re.compile(
    r"(?P<date>\d{4,7}-\d\d-\d\d)[ T](\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?"
    r"(?P<zone>Z|[+-]\d\d(?::?\d\d(?::?\d\d)?)?)?(?P<era> BC)?",
    re.ASCII,
)
_ZONE = re.compile(r"([+-])(\d\d):?(\d\d)?:?(\d\d)?", re.ASCII)
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
_DECIMAL = re.compile(
    r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity)|nan",
    re.ASCII | re.IGNORECASE,
)

# What PostgreSQL's types can hold, in days since 1970-01-01.
_FIRST_DAY = -2440588  # 4714-11-24 BC
_LAST_DATE = 2145042905  # 5874897-12-31
_LAST_TIMESTAMP_DAY = 106762939  # 294276-12-31


def parse_key(key_type: str, text: str) -> Key:
    """The key that PostgreSQL's type reads from this text."""
    if key_type not in _PARSERS:
        raise KeyTypeError(f"unknown key type {key_type!r}")
    try:
        data = _PARSERS[key_type](text)
    except KeyValueError:
        raise
    except (ValueError, ArithmeticError) as error:
        raise KeyValueError(f"not a key of type {key_type}: {text!r}") from error
    return Key(KEY_TYPES.index(key_type), data)


def _match(pattern: "re.Pattern[str]", text: str) -> "re.Match[str]":
    match = pattern.fullmatch(text)
    if match is None:
        raise ValueError(text)
    return match


def _integer(text: str) -> bytes:
    return keys.integer_bytes(int(_match(_INTEGER, text)[0]))


def _bytea(text: str) -> bytes:
    return bytes.fromhex(text[2:] if text.startswith("\\x") else text)


def _numeric(text: str) -> bytes:
    return keys.numeric_bytes(decimal.Decimal(_match(_DECIMAL, text)[0]))


def _float(text: str) -> bytes:
    return keys.float_bytes(float(_match(_DECIMAL, text)[0]))


def _inet(text: str) -> bytes:
    address, slash, prefix = text.partition("/")
    if slash and not (prefix.isascii() and prefix.isdigit()):
        raise ValueError(text)
    key: Any = ipaddress.ip_interface(text) if slash else ipaddress.ip_address(address)
    return keys.encode(key)[1]


def _pack(count: int) -> bytes:
    """8 bytes, mod 2^64: PostgreSQL's last years lie past 2^63 microseconds."""
    return struct.pack("<Q", count % 2**64)


def days_from_civil(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 in the proleptic Gregorian calendar; year 0 is 1 BC."""
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    lengths = (31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    if not (1 <= month <= 12 and 1 <= day <= lengths[month - 1]):
        raise ValueError("no such day")
    before = year - 1
    days = before * 365 + before // 4 - before // 100 + before // 400
    return days + sum(lengths[: month - 1]) + day - 719163


def _days(text: str, last: int) -> int:
    year, month, day, era = _match(_DATE, text).groups()
    if int(year) == 0:
        raise ValueError("there is no year 0")
    days = days_from_civil(1 - int(year) if era else int(year), int(month), int(day))
    if not _FIRST_DAY <= days <= last:
        raise ValueError("out of range")
    return days


def _date(text: str) -> bytes:
    if text in _INFINITIES:
        return _pack(_INFINITIES[text])
    return _pack(_days(text, _LAST_DATE))


def _clock(hour: int, minute: int, second: int, microsecond: int) -> int:
    count = (hour * 3600 + minute * 60 + second) * 10**6 + microsecond
    if minute > 59 or second > 59 or count > _DAY:
        raise ValueError("no such time of day")
    return count


def _zone_offset(zone: str) -> int:
    """Microseconds that the zone is ahead of UTC."""
    if zone == "Z":
        return 0
    sign, hours, minutes, seconds = _match(_ZONE, zone).groups("0")
    offset = _clock(int(hours), int(minutes), int(seconds), 0)
    return -offset if sign == "-" else offset


def _moment(text: str, zoned: bool) -> bytes:
    if text in _INFINITIES:
        return _pack(_INFINITIES[text])
    match = _match(_TIMESTAMP, text)
    if zoned != bool(match["zone"]):
        raise ValueError("time zone missing or too much")
    days = _days(match["date"] + (match["era"] or ""), _LAST_TIMESTAMP_DAY)
    hour, minute, second = (int(match[group]) for group in (2, 3, 4))
    fraction = int((match[5] or "").ljust(6, "0"))
    count = days * _DAY + _clock(hour, minute, second, fraction)
    return _pack(count - (_zone_offset(match["zone"]) if zoned else 0))


_PARSERS: Dict[str, Callable[[str], bytes]] = {
    "integer": _integer,
    "text": lambda text: text.encode("utf-8"),
    "bytea": _bytea,
    "uuid": lambda text: uuid.UUID(text).bytes,
    "numeric": _numeric,
    "float": _float,
    "date": _date,
    "timestamp": lambda text: _moment(text, zoned=False),
    "timestamptz": lambda text: _moment(text, zoned=True),
    "inet": _inet,
    "macaddr": lambda text: MacAddress(text).data,
}
