"""The object itself: both engines, misuse, memory."""

import array
import gc
import multiprocessing
import os
import pickle
import tempfile
import unittest
import weakref

import bloomfilter
from bloomfilter import BloomFilter, KeyTypeError, KeyValueError, WatchedBloomFilter, _pure
from bloomfilter._format import read_header

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
            header = read_header(data[:64], len(data))
            pure = _pure.Prober([header], [data], 1, bloomfilter.keys.key_bytes, None)
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

    def test_an_error_names_the_key_of_a_batch(self):
        filter_ = BloomFilter.from_bytes(support.build([]))
        for bad, error in ((2**63, KeyValueError), ("a", KeyTypeError)):
            for at in (0, 40, 300):
                with self.assertRaisesRegex(error, f"^key {at}: ") as caught:
                    filter_.contains_many([*range(at), bad, 1])
                self.assertEqual(caught.exception.index, at)
        with self.assertRaises(KeyTypeError) as caught:
            "a" in filter_
        self.assertIsNone(caught.exception.index)

    def test_one_key_is_no_batch(self):
        filter_ = BloomFilter.from_bytes(support.build([], 2))
        for keys in ("abc", b"abc", bytearray(b"abc")):
            with self.assertRaisesRegex(TypeError, "is one key"):
                filter_.contains_many(keys)

    def test_arrays_of_numbers(self):
        members = [-128, -1, 0, 1, 42, 127]
        filter_ = BloomFilter.from_bytes(support.build(support.integers(members)))
        for code in "bhilq":
            keys = array.array(code, [*members, 3, -77])
            self.assertEqual(filter_.contains_many(keys), filter_.contains_many(list(keys)), code)
            view = memoryview(keys)[::-2]
            self.assertEqual(filter_.contains_many(view), filter_.contains_many(view.tolist()))
        for code in "BHILQ":
            keys = array.array(code, [0, 1, 42, 127, 3, 200])
            self.assertEqual(filter_.contains_many(keys), filter_.contains_many(list(keys)), code)
        with self.assertRaisesRegex(KeyValueError, "^key 1: ") as caught:
            filter_.contains_many(array.array("Q", [1, 2**63]))
        self.assertEqual(caught.exception.index, 1)
        with self.assertRaisesRegex(KeyTypeError, "^key 0: bloomfilter holds integer"):
            filter_.contains_many(array.array("d", [1.0]))

    def test_arrays_of_floats(self):
        data = support.build([bloomfilter.keys.float_bytes(x) for x in (0.1, 0.0, 1.5)], 6)
        filter_ = BloomFilter.from_bytes(data)
        for code in "fd":
            keys = array.array(code, [0.1, -0.0, 1.5, 2.5])
            self.assertEqual(filter_.contains_many(keys), filter_.contains_many(list(keys)))
        with self.assertRaises(KeyTypeError):
            filter_.contains_many(array.array("q", [1]))

    def test_numpy(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("numpy is not installed")
        filter_ = BloomFilter.from_bytes(support.build(support.integers(range(50))))
        for dtype in ("int64", "int32", "uint8", ">i8"):
            keys = numpy.arange(100).astype(dtype)
            expected = filter_.contains_many(range(100))
            self.assertEqual(filter_.contains_many(keys), expected)
            self.assertEqual(filter_.contains_many(keys[::3]), expected[::3])
            self.assertEqual(keys[7] in filter_, True)
        floats = BloomFilter.from_bytes(
            support.build([bloomfilter.keys.float_bytes(float(numpy.float32(0.1)))], 6))
        self.assertIn(numpy.float32(0.1), floats)
        self.assertNotIn(numpy.float64(0.1), floats)

    def test_a_closed_filter_is_not_asked(self):
        with BloomFilter.from_bytes(support.build(support.integers([1]))) as filter_:
            self.assertIn(1, filter_)
        filter_.close()
        for ask in (filter_.contains, filter_.__contains__, lambda key: filter_.contains_many([key])):
            with self.assertRaisesRegex(ValueError, "closed"):
                ask(1)
        self.assertEqual(filter_.info.n, 100)

    def test_closing_waits_for_a_question(self):
        """The keys of a batch are made by Python code, which may close the filter."""
        filter_ = BloomFilter.from_bytes(support.build(support.integers(range(300))))

        def keys():
            yield from range(150)
            filter_.close()
            yield from range(150, 300)

        try:
            self.assertEqual(filter_.contains_many(keys()), [True] * 300)
        except ValueError:
            self.assertFalse(bloomfilter.NATIVE)
        with self.assertRaises(ValueError):
            filter_.contains(1)

    def test_filters_travel_between_processes(self):
        data = support.build(support.integers([1]))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "f.bloom")
            with open(path, "wb") as file:
                file.write(data)
            by_path = pickle.dumps(BloomFilter.open(path, verify=False))
            self.assertLess(len(by_path), 300)
            watched = pickle.dumps(WatchedBloomFilter(path))
            parts = support.build_set(3, support.integers([1]))
            for pickled in (by_path, watched, pickle.dumps(BloomFilter.from_bytes(data)),
                            pickle.dumps(BloomFilter.from_parts(parts))):
                self.assertIn(1, pickle.loads(pickled))
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                self.assertEqual(pool.map(BloomFilter.open(path).contains, [1, 2]), [True, False])

    def test_what_others_libraries_users_type(self):
        with self.assertRaisesRegex(TypeError, "opened and then asked"):
            BloomFilter(1000, 0.01)
        with self.assertRaisesRegex(TypeError, "filter::bytea"):
            BloomFilter.from_bytes("QkxNRgE=")
        with self.assertRaisesRegex(ValueError, "filter::bytea"):
            BloomFilter.from_bytes(b"QkxNRgE=")

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
        with self.assertRaises(AttributeError):
            filter_.myself = filter_
        del filter_
        gc.collect()
        self.assertIsNone(reference())

    def test_repr_and_info(self):
        filter_ = BloomFilter.from_bytes(support.build(support.integers(range(10))))
        self.assertEqual(repr(filter_), "<BloomFilter for 100 integer keys, 320 bytes>")
        self.assertAlmostEqual(filter_.info.cardinality, 10, delta=1)
        self.assertEqual(filter_.info.over_capacity, False if bloomfilter.NATIVE else None)
        self.assertEqual(BloomFilter.from_bytes(support.build([], seed=2**64 - 5)).info.seed, -5)
        self.assertGreater(filter_.info.fill, 0)
