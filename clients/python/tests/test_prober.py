"""The object itself: both engines, misuse, memory."""

import gc
import os
import unittest
import weakref

import bloomfilter
from bloomfilter import BloomFilter, _pure

from . import support


class ProberObject(unittest.TestCase):
    def test_the_engine_is_the_one_under_test(self):
        wanted = os.environ.get("BLOOMFILTER_ENGINE")
        self.assertIn(wanted, (None, "native" if bloomfilter.NATIVE else "pure"))

    def test_both_engines_agree(self):
        for log2_block_bits, k in ((9, 7), (11, 14), (16, 32)):
            data = support.build(
                support.integers(range(200)), k=k, log2_block_bits=log2_block_bits, blocks=3
            )
            filter_ = BloomFilter.from_bytes(data)
            pure = _pure.Prober(filter_.info.filters, [data], 1, bloomfilter.keys.key_bytes, None)
            asked = range(-3000, 3000)
            self.assertEqual(filter_.contains_many(asked), pure.contains_many(asked))
            self.assertEqual([key in filter_ for key in asked], pure.contains_many(asked))

    def test_batches_of_all_lengths(self):
        filter_ = BloomFilter.from_bytes(support.build(support.integers(range(0, 100, 2))))
        for length in (0, 1, 31, 32, 33, 64, 65, 100):
            asked = list(range(length))
            self.assertEqual(
                filter_.contains_many(iter(asked)), [key in filter_ for key in asked]
            )

    def test_errors_in_the_middle_of_a_batch(self):
        filter_ = BloomFilter.from_bytes(support.build([]))

        def broken():
            yield from range(40)
            raise KeyError("mine")

        with self.assertRaises(KeyError):
            filter_.contains_many(broken())
        with self.assertRaises(TypeError):
            filter_.contains_many(1)

    def test_false_positives_are_rare(self):
        data = support.build(support.integers(range(5000)), blocks=105)
        found = sum(BloomFilter.from_bytes(data).contains_many(range(10**6, 10**6 + 20000)))
        self.assertLess(found, 20000 * 0.015)

    def test_parts_with_the_same_number_are_refused_below_the_package_too(self):
        if not bloomfilter.NATIVE:
            self.skipTest("a check of the extension module")
        from bloomfilter import _native

        data = support.build([])
        for buffers in ([], [data, data], [data[:-1]], [b""], [None], None):
            with self.assertRaises((ValueError, TypeError)):
                _native.Prober([], buffers, 1, None, None)

    def test_no_reference_is_lost(self):
        filter_ = BloomFilter.from_bytes(support.build([]))
        reference = weakref.ref(filter_)
        filter_.myself = filter_
        del filter_
        gc.collect()
        self.assertIsNone(reference())

    def test_repr_and_info(self):
        filter_ = BloomFilter.from_bytes(support.build(support.integers(range(10))))
        self.assertEqual(repr(filter_), "<BloomFilter of 100 integer keys, 320 bytes>")
        self.assertAlmostEqual(filter_.info.estimated_keys, 10, delta=1)
        self.assertGreater(filter_.info.fill, 0)
