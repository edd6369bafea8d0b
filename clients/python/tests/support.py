"""What the tests share: golden rows, and files of followed lists in their place."""

import os
import struct
import tempfile
import unittest
from typing import Dict, Iterable, List

import xxhash

from bloomfilter_reader import BloomFilter

HERE = os.path.dirname(os.path.abspath(__file__))
VECTORS = os.environ.get(
    "BLOOMFILTER_VECTORS", os.path.join(HERE, "..", "..", "..", "test", "vectors")
)

# In the page of a followed list.
PAGE, SERIAL, SAVED, HOW = 4096, 520, 1024, 1536


class InFolder(unittest.TestCase):
    """A test with a folder of its own, and the path of a filter in it."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(self.folder, "f.bloom")


def rows(name: str) -> List[Dict[str, str]]:
    """The rows of a golden file, by column name."""
    with open(os.path.join(VECTORS, name), encoding="utf-8", newline="\n") as file:
        lines = file.read().split("\n")[:-1]
    columns = lines[0].lstrip("#").split("\t")
    return [dict(zip(columns, line.split("\t"))) for line in lines[1:]]


def key_list(text: str) -> List[bytes]:
    return [] if text == "-" else [bytes.fromhex(key) for key in text.split(",")]


def integers(numbers: Iterable[int]) -> bytes:
    """The bytes of a filter of these, in few blocks and always of the same shape."""
    return BloomFilter.build(numbers, 100).to_bytes()


def xxh64(data: bytes) -> bytes:
    return struct.pack("<Q", xxhash.xxh64_intdigest(data, 0))


def this_boot() -> bytes:
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return bytes.fromhex(file.read().strip().replace("-", ""))


def write_list(path: str, data: bytes, where: str = "here") -> None:
    """Puts a followed list's file in place, as if the reader stood where `where` says."""
    new = path + ".new"
    with open(new, "wb") as file:
        file.write(data)
    if where != "nobody" and len(data) >= PAGE:
        stat = os.stat(new)
        boot = bytearray(this_boot())
        boot[0] ^= where == "boot"
        place = bytes(boot) + struct.pack("<QQ", stat.st_dev + (where == "device"),
                                          stat.st_ino + (where == "copy"))
        page = bytearray(data[:PAGE])
        right = page[504:512] == xxh64(page[:504])
        page[48:80] = place
        if right:
            page[504:512] = xxh64(page[:504])
        if page[SAVED + 56:SAVED + 64] != bytes(8):
            page[SAVED + 56:SAVED + 64] = xxh64(page[SAVED:SAVED + 56] + page[24:32] + page[72:80])
        put(new, 0, page)
    os.replace(new, path)


def put(path: str, at: int, data: bytes) -> None:
    with open(path, "r+b") as file:
        file.seek(at)
        file.write(data)
