"""Damaged and lying files: an ordinary error each time, never an answer."""

import os
import random
import resource
import socket
import struct
import tempfile
import unittest

from bloomfilter import BloomFilter, BloomFilterError, InvalidFilterError

from . import support

SEED = 20240229


class HostileFiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "f.bloom")
        self.sound = support.integers(range(30))

    def refused(self, data, rule=None):
        with open(self.path, "wb") as file:
            file.write(data)
        for copy in (False, True):
            with self.assertRaises(InvalidFilterError) as caught:
                BloomFilter.open(self.path, copy=copy)
            if rule:
                self.assertEqual(caught.exception.rule, rule)
        with self.assertRaises(InvalidFilterError):
            BloomFilter.from_bytes(data)

    def test_sound_file_opens(self):
        with open(self.path, "wb") as file:
            file.write(self.sound)
        for options in ({}, {"copy": True}, {"verify": False}):
            self.assertIn(7, BloomFilter.open(self.path, **options))

    def test_empty_file(self):
        self.refused(b"", "short")

    def test_every_truncation(self):
        for length in range(len(self.sound)):
            self.refused(self.sound[:length], "short" if length < 64 else "size")

    def test_bytes_after_the_end(self):
        for tail in (b"\0", b"\n", bytes(64)):
            self.refused(self.sound + tail, "size")

    def test_every_bit_of_the_header_and_random_bits(self):
        generator = random.Random(SEED)
        flips = list(range(512))
        flips += [generator.randrange(len(self.sound) * 8) for _ in range(500)]
        for bit in flips:
            damaged = bytearray(self.sound)
            damaged[bit >> 3] ^= 1 << (bit & 7)
            with self.subTest(bit=bit, seed=SEED):
                with self.assertRaises(InvalidFilterError):
                    BloomFilter.from_bytes(damaged)

    def test_random_bytes(self):
        generator = random.Random(SEED)
        for length in (1, 63, 64, 65, 128, 1000):
            self.refused(generator.randbytes(length))

    def test_lying_header_allocates_nothing(self):
        blocks = struct.pack("<I", 8388543)
        lying = support.sealed_again(self.sound[:8] + blocks + self.sound[12:])
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self.refused(lying, "size")
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self.assertLess(after - before, 50_000)

    def test_huge_sparse_file(self):
        with open(self.path, "wb") as file:
            file.write(self.sound[:64])
            file.truncate(17 << 30)
        with self.assertRaises(InvalidFilterError) as caught:
            BloomFilter.open(self.path, copy=True)
        self.assertEqual(caught.exception.rule, "size")

    def test_not_regular_files(self):
        fifo = os.path.join(os.path.dirname(self.path), "fifo")
        os.mkfifo(fifo)
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(fifo + ".socket")
            for path in (fifo, fifo + ".socket", "/dev/null", "/dev/zero", self.path):
                with self.assertRaises((BloomFilterError, OSError)):
                    BloomFilter.open(path)

    def test_without_verification_the_header_still_counts(self):
        for row in support.rows("invalid.tsv"):
            if row["rule"] in ("bits_set", "checksum"):
                continue
            with self.subTest(row["name"]):
                with self.assertRaises(InvalidFilterError) as caught:
                    BloomFilter.from_bytes(bytes.fromhex(row["filter_hex"]), verify=False)
                self.assertEqual(caught.exception.rule, row["rule"])

    def test_a_changed_source_does_not_change_the_filter(self):
        source = bytearray(self.sound)
        filter_ = BloomFilter.from_bytes(source)
        source[64:] = bytes(len(source) - 64)
        self.assertIn(7, filter_)

    def test_replacing_by_rename_keeps_the_old_answers(self):
        with open(self.path, "wb") as file:
            file.write(self.sound)
        filter_ = BloomFilter.open(self.path)
        with open(self.path + ".new", "wb") as file:
            file.write(BloomFilter.build([], 100).to_bytes())
        os.replace(self.path + ".new", self.path)
        self.assertIn(7, filter_)

    def test_a_copy_survives_truncation(self):
        with open(self.path, "wb") as file:
            file.write(self.sound)
        filter_ = BloomFilter.open(self.path, copy=True)
        os.truncate(self.path, 0)
        self.assertIn(7, filter_)
