"""Ask the filters of the PostgreSQL extension `bloomfilter`.

    from bloomfilter import BloomFilter

    customers = BloomFilter.open("customers.bloom")
    if 42 in customers:
        ...
"""

from ._format import Header
from ._version import __version__
from .errors import (
    BloomFilterError,
    InvalidFilterError,
    InvalidSetError,
    KeyTypeError,
    KeyValueError,
    PartError,
)
from ._status import Status
from .filter import NATIVE, BloomFilter
from .info import Info
from .keys import Key, MacAddress, Real
from .watched import WatchedBloomFilter

__all__ = [
    "NATIVE",
    "BloomFilter",
    "BloomFilterError",
    "Header",
    "Info",
    "InvalidFilterError",
    "InvalidSetError",
    "Key",
    "KeyTypeError",
    "KeyValueError",
    "WatchedBloomFilter",
    "MacAddress",
    "PartError",
    "Real",
    "Status",
    "__version__",
]
