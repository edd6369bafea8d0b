"""The working copy: bits that are set in place, and copies that are not taken."""

import os
import struct
import tempfile
import threading
import unittest

from bloomfilter import BloomFilter, InvalidFilterError, WatchedBloomFilter, _working
from bloomfilter._engine import xxh64

from . import support

ROWS = support.rows("working.tsv")


class WorkingCopies(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(folder.name, "f")

    def write(self, name, data):
        """By rename, as a follower does it."""
        path = os.path.join(self.folder, name)
        with open(path + ".new", "wb") as file:
            file.write(data)
        os.replace(path + ".new", path)

    def write_row(self, row):
        files = [bytes.fromhex(text) for text in row["base_hex"].split(",")]
        if len(files) == 1:
            self.write("f", files[0])
        else:
            names = [f"p{number}.bloom" for number in range(len(files))]
            for name, data in zip(names, files):
                self.write(name, data)
            self.write("f", "\n".join(["bloomfilter-set 1", *names, ""]).encode())
        self.write("f.working", self.working_of(row))

    @staticmethod
    def working_of(row):
        data = bytearray(b"" if row["working_hex"] == "-" else bytes.fromhex(row["working_hex"]))
        if row["boot"] == "this" and len(data) >= 128:
            data[48:64] = _working._this_boot()
            if row["word"] != "header_checksum":
                struct.pack_into("<Q", data, 120, xxh64(bytes(data[:120]), 0))
        return bytes(data)

    def row(self, name):
        return next(row for row in ROWS if row["name"] == name)

    def test_vectors(self):
        for row in ROWS:
            for copy in (False, True):
                with self.subTest(row["name"], copy=copy):
                    self.write_row(row)
                    keys = [int(key) for key in row["keys"].split(",")]
                    new = [] if row["new_keys"] == "-" else [int(key) for key in row["new_keys"].split(",")]
                    if row["word"] not in ("-", "file"):
                        with self.assertRaises(InvalidFilterError) as caught:
                            BloomFilter.open(self.path, copy=copy)
                        self.assertEqual(caught.exception.rule, row["word"])
                        continue
                    filter_ = BloomFilter.open(self.path, copy=copy)
                    taken = row["word"] == "-"
                    self.assertEqual(filter_._working is not None, taken)
                    if row["name"] != "no_bits":
                        self.assertTrue(all(key in filter_ for key in keys))
                    self.assertEqual([key in filter_ for key in new], [taken] * len(new))

    def test_bits_that_are_set_in_place_are_seen(self):
        row = self.row("no_bits")
        self.write_row(row)
        full = self.working_of(self.row("one"))
        watched, copied = WatchedBloomFilter(self.path), BloomFilter.open(self.path, copy=True)
        keys = [int(key) for key in self.row("one")["new_keys"].split(",")]
        self.assertFalse(any(key in watched for key in keys))
        serial = watched.status.serial
        begun, wrong, seen = threading.Event(), [], []

        def ask():
            while len(seen) < len(keys):
                # The serial comes first: what it announces must be there.
                announced = watched.status.serial
                found = [key in watched for key in keys]
                begun.set()
                if announced > serial and not all(found):
                    wrong.append(found)
                if all(found) and announced > serial:
                    seen.append(found)

        threads = [threading.Thread(target=ask) for _ in range(2)]
        for thread in threads:
            thread.start()
        self.assertTrue(begun.wait(60))
        with open(self.path + ".working", "r+b") as file:
            for at in range(4096 + 64, len(full)):
                file.seek(at)
                file.write(full[at:at + 1])
                file.flush()
            file.seek(128)
            file.write(struct.pack("<Q", serial + 1))
        for thread in threads:
            thread.join(60)
        self.assertEqual(wrong, [])
        self.assertEqual(len(seen) >= len(keys), True)
        self.assertIs(watched.reload(), False, "the same file, with more bits")
        self.assertFalse(any(key in copied for key in keys), "a copy stays what it was")
        self.assertEqual(watched.info.bits_set, BloomFilter.from_bytes(watched.current.to_bytes()).info.bits_set)

    def test_a_superseded_copy_is_left(self):
        self.write_row(self.row("one"))
        watched = WatchedBloomFilter(self.path)
        new = [int(key) for key in self.row("one")["new_keys"].split(",")]
        self.assertTrue(all(key in watched for key in new))
        with open(self.path + ".working", "r+b") as file:
            file.seek(176)
            file.write(struct.pack("<Q", 1))
        self.assertIs(watched.reload(), True)
        self.assertIsNone(watched.current._working)
        self.assertTrue(all(int(key) in watched for key in self.row("one")["keys"].split(",")))

    @unittest.skipUnless(hasattr(os, "geteuid") and os.geteuid() == 0, "needs root")
    def test_what_another_user_put_where_a_link_leads_is_not_taken(self):
        self.write_row(self.row("no_bits"))
        planted = os.path.join(self.folder, "planted")
        os.rename(self.path + ".working", planted)
        os.symlink(planted, self.path + ".working")
        self.assertIsNotNone(BloomFilter.open(self.path)._working)
        os.chown(planted, 65534, -1)
        filter_ = BloomFilter.open(self.path)
        self.assertIsNone(filter_._working)
        self.assertTrue(all(int(key) in filter_ for key in self.row("one")["keys"].split(",")))

    def test_status_of_a_working_copy(self):
        self.write_row(self.row("one"))
        status = WatchedBloomFilter(self.path).status
        self.assertEqual(status.identity, "0f8fad5b-d9cb-469f-a165-70867728950e")
        self.assertGreater(status.serial, 10**15)


if __name__ == "__main__":
    unittest.main()
