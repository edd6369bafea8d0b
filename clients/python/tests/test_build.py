"""Building: the same bytes as SQL makes, and files that are there whole or not at all."""

import array
import datetime
import os
import uuid

from bloomfilter_reader import BloomFilter, BloomFilterError, Key, KeyTypeError, KeyValueError

from . import support


class Build(support.InFolder):
    def test_n_and_p_give_the_size(self):
        info = BloomFilter.build(range(2000), 1000, 0.001, seed=-5).info
        self.assertEqual((info.n, info.p, info.seed, info.key_type, info.over_capacity), (1000, 0.001, -5, "integer", True))
        self.assertGreater(info.fpr, info.p)
        self.assertAlmostEqual(info.cardinality, 2000, delta=100)

    def test_without_n_the_different_keys_count(self):
        self.assertEqual(BloomFilter.build([1, 2, 2, 3, 1]).info.n, 3)
        self.assertEqual(BloomFilter.build(iter([1, 2])).info.n, 2)
        empty = BloomFilter.build([])
        self.assertEqual((empty.info.n, empty.info.key_type), (1, "none"))
        self.assertNotIn("anything", empty)

    def test_keys_of_all_kinds(self):
        for key in (1, "a", b"a", 1.5, (1, "a"), (7,), uuid.uuid4(), datetime.date(2024, 1, 1)):
            self.assertIn(key, BloomFilter.build([key]))
        self.assertTrue(all(BloomFilter.build(array.array("q", range(50))).contains_many(range(50))))

    def test_a_changed_source_does_not_change_the_filter(self):
        source = bytearray(support.integers([7]))
        filter_ = BloomFilter.from_bytes(source)
        source[64:] = bytes(len(source) - 64)
        self.assertIn(7, filter_)

    def test_errors(self):
        with self.assertRaisesRegex(KeyTypeError, "^key 1: keys of one call are of one type, integer or text"):
            BloomFilter.build([1, "a"])
        with self.assertRaisesRegex(KeyValueError, "^key 2: "):
            BloomFilter.build([1, 2, 2**64], 10)
        with self.assertRaisesRegex(TypeError, "one key"):
            BloomFilter.build("abc", 10)
        for n, p in ((0, 0.01), (-1, 0.01), (2**63, 0.01), (10, 0), (10, 1), (10, float("nan"))):
            with self.assertRaises(ValueError):
                BloomFilter.build([1], n, p)
        with self.assertRaisesRegex(ValueError, "65535 parts"):
            BloomFilter.build([1], 10, parts=2**32 + 1)
        with self.assertRaisesRegex(BloomFilterError, "larger than 512 MiB"):
            BloomFilter.build([1], 10**10, 0.001)
        with self.assertRaisesRegex(BloomFilterError, "no filter reaches"):
            BloomFilter.build([1], 10, 1e-300)

    def test_write(self):
        for keys in ([1], [1, 2]):
            built = BloomFilter.build(keys, 100)
            built.write(self.path)
            self.assertEqual(os.listdir(self.folder), ["f.bloom"])
            self.assertEqual(BloomFilter.open(self.path).to_bytes(), built.to_bytes())
        copy = BloomFilter.open(self.path, copy=True)
        os.truncate(self.path, 0)
        self.assertIn(2, copy)
        self.assertEqual(os.stat(self.path).st_mode & 0o400, 0o400)
        with self.assertRaises(OSError):
            built.write(os.path.join(self.folder, "missing", "f.bloom"))
        with self.assertRaises(OSError):
            built.write(self.folder)
        self.assertEqual(os.listdir(self.folder), ["f.bloom"])

    def test_sets(self):
        built = BloomFilter.build(range(1000), 1000, parts=3)
        built.write(self.path)
        for copy in (False, True):
            opened = BloomFilter.open(self.path, copy=copy)
            self.assertTrue(all(opened.contains_many(range(1000))))
            self.assertEqual(opened.info, built.info)
        with self.assertRaises(BloomFilterError):
            built.to_bytes()
