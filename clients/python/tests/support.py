"""What the tests share: a folder, and files to put there."""

import os
import tempfile
import unittest
from typing import Iterable

from bloomfilter_reader import BloomFilter

HERE = os.path.dirname(os.path.abspath(__file__))


class InFolder(unittest.TestCase):
    """A test with a folder of its own, and the path of a filter in it."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(self.folder, "f.bloom")

    def replace(self, data: bytes) -> None:
        with open(self.path + ".new", "wb") as file:
            file.write(data)
        os.replace(self.path + ".new", self.path)


def page() -> bytes:
    """A followed file of the vectors: of the list of 1 to 5, and of another place."""
    path = os.path.join(HERE, "..", "..", "..", "test", "vectors", "pages.tsv")
    with open(path, encoding="utf-8") as lines:
        columns, row = next(lines)[1:].split("\t"), next(lines).split("\t")
    return bytes.fromhex(row[columns.index("file_hex")])


def integers(numbers: Iterable[int]) -> bytes:
    """The bytes of a filter of these, in few blocks and always of the same shape."""
    return BloomFilter.build(numbers, 100).to_bytes()
