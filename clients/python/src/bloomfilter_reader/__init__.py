"""Ask the filters of the PostgreSQL extension `bloomfilter`.

    from bloomfilter_reader import BloomFilter

    customers = BloomFilter.open("customers.bloom")
    if 42 in customers:
        ...
"""

from ._version import __version__
from .errors import (
    BloomFilterError, ChangedFileError, ChangesError, FollowedError, InvalidFilterError, KeyTypeError, KeyValueError, PartError)
from .filter import BloomFilter, Info, Status, WatchedBloomFilter
from .keys import Key, MacAddress, Real

__all__ = [
    "BloomFilter", "BloomFilterError", "ChangedFileError", "ChangesError", "FollowedError", "Info", "InvalidFilterError", "Key",
    "KeyTypeError", "KeyValueError", "MacAddress", "PartError", "Real", "Status", "WatchedBloomFilter", "__version__"]
