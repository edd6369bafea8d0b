"""Sets of parts: whole or refused, and asked as one."""

import os
import tempfile
import threading
import unittest
from unittest.mock import patch

from bloomfilter import (
    BloomFilter,
    BloomFilterError,
    InvalidFilterError,
    InvalidSetError,
    KeyTypeError,
    PartError,
    _source,
)

from . import support

MEMBERS = range(300)
STRANGERS = range(10**6, 10**6 + 300)


class Sets(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.parts = support.build_set(3, support.integers(MEMBERS))

    def write(self, name, data):
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(data)
        return os.path.join(self.folder, name)

    def write_parts(self, parts, form="p{}.bloom"):
        for number, part in enumerate(parts):
            self.write(form.format(number), part)

    def manifest(self, *names, first="bloomfilter-set 1", end="\n", name="manifest"):
        return self.write(name, ("\n".join((first, *names)) + end).encode())

    def check_whole(self, filter_):
        self.assertTrue(all(key in filter_ for key in MEMBERS))
        self.assertEqual(filter_.contains_many(MEMBERS), [True] * len(MEMBERS))
        singles = [key in filter_ for key in STRANGERS]
        self.assertEqual(filter_.contains_many(STRANGERS), singles)
        self.assertLess(sum(singles), 30)
        self.assertEqual(filter_.info.parts, 3)
        self.assertEqual(len(filter_.info.filters), 3)
        self.assertAlmostEqual(filter_.info.cardinality, len(MEMBERS), delta=30)

    def test_one_checksum_for_a_set(self):
        """The same in all readers and on the command line."""
        first = bytes.fromhex(
            "424c4d46010709000100000000000200000000000000000032000000000000007b"
            "14ae47e17a843f0000000000000000010000007fa7c6555f1e5710152920cf"
        ) + bytes(64)
        rows = {row["name"]: row for row in support.rows("filters.tsv")}
        second = bytes.fromhex(rows["empty_part_1_of_2"]["filter_hex"])
        info = BloomFilter.from_parts([first, second]).info
        self.assertEqual(info.checksum, "aad0582a58c07fa2")
        parts = [(part.part, part.checksum, part.filters) for part in info.filters]
        wanted = [(0, "cf20291510571e5f", ()), (1, rows["empty_part_1_of_2"]["checksum_hex"], ())]
        self.assertEqual(parts, wanted)

    def test_manifest_folder_and_bytes(self):
        self.write_parts(self.parts, "any name {}")
        path = self.manifest("any name 0", "any name 1", "any name 2", name="nightly")
        self.check_whole(BloomFilter.open(path))
        self.check_whole(BloomFilter.from_parts(self.parts))
        self.manifest("any name 0", "any name 1", "any name 2", end="")
        self.check_whole(BloomFilter.open(self.folder))
        self.check_whole(BloomFilter.open(self.folder, copy=True, verify=False))

    def test_notes_in_a_manifest(self):
        self.write_parts(self.parts)
        self.manifest("# generation 17", "p0.bloom", "p1.bloom", "#", "p2.bloom")
        self.check_whole(BloomFilter.open(self.folder))

    def test_a_part_of_another_build(self):
        names = []
        for part in self.parts:
            names.append(f"p.{int.from_bytes(part[56:64], 'little'):016x}.bloom")
            self.write(names[-1], part)
        path = self.manifest(*names)
        self.check_whole(BloomFilter.open(path))
        self.write(names[1], support.build([], 1, 1, 3))
        with self.assertRaisesRegex(InvalidSetError, "another filter than its name says"):
            BloomFilter.open(path)

    def test_a_folder_without_manifest_is_refused(self):
        self.write("one.bloom", support.build(support.integers(MEMBERS)))
        with self.assertRaisesRegex(InvalidSetError, "opened by its file 'manifest'"):
            BloomFilter.open(self.folder)

    def test_a_part_without_keys(self):
        self.parts[1] = support.build([], 0, 1, 3)
        whole = BloomFilter.from_parts(self.parts)
        self.assertEqual(whole.info.key_type, "integer")
        with self.assertRaises(KeyTypeError):
            "text" in whole

    def test_one_part_alone(self):
        alone = BloomFilter.open(self.write("p1", self.parts[1]))
        found = refused = 0
        for key in MEMBERS:
            try:
                self.assertIn(key, alone)
                found += 1
            except PartError:
                refused += 1
        self.assertGreater(min(found, refused), 50)

    def test_incomplete_and_mixed_sets(self):
        other_seed = support.build([], 1, 2, 3, seed=5)
        other_parts = support.build([], 1, 2, 4)
        other_type = support.build([], 2, 2, 3)
        first, second, third = self.parts
        cases = [
            [],
            [first],
            [first, second],
            [first, second, second],
            [second, first, third],
            [first, second, third, third],
            [first, second, other_seed],
            [first, second, other_parts],
            [first, second, other_type],
        ]
        for number, case in enumerate(cases):
            with self.subTest(case=number):
                with self.assertRaises(InvalidSetError):
                    BloomFilter.from_parts(case)

    def test_a_damaged_member_is_named(self):
        self.write_parts(self.parts)
        path = self.manifest("p0.bloom", "p1.bloom", "p2.bloom")
        self.write("p1.bloom", self.parts[1][:-1])
        with self.assertRaisesRegex(InvalidFilterError, "p1.bloom: not a valid filter"):
            BloomFilter.open(self.folder)
        self.write("p1.bloom", self.parts[0])
        with self.assertRaisesRegex(InvalidSetError, f"{path}: part 0 is where"):
            BloomFilter.open(path)

    def test_many_lines_are_refused_before_the_second_file_is_opened(self):
        self.write("p", support.build(support.integers([1])))
        path = self.manifest(*["p"] * 65535)
        looked, look = [], _source._stamp
        with patch.object(_source, "_stamp", lambda file: looked.append(file) or look(file)):
            with self.assertRaisesRegex(InvalidSetError, "65535 filters of a set of 1 parts"):
                BloomFilter.open(path)
        self.assertEqual(looked, [os.path.join(self.folder, "p")])

    def test_bad_manifests(self):
        self.write_parts(self.parts)
        names = ("p0.bloom", "p1.bloom", "p2.bloom")
        self.write("inner", b"bloomfilter-set 1\np0.bloom\n")
        os.mkdir(os.path.join(self.folder, "sub"))
        cases = [
            dict(names=names[:2]),
            dict(names=()),
            dict(names=names + ("",)),
            dict(names=(names[1], names[0], names[2])),
            dict(names=("../" + names[0], *names[1:])),
            dict(names=("sub/../p0.bloom", *names[1:])),
            dict(names=("missing", *names[1:])),
            dict(names=("sub", *names[1:])),
            dict(names=(".", *names[1:])),
            dict(names=("..", *names[1:])),
            dict(names=("p0\0", *names[1:])),
            dict(names=("inner",)),
            dict(names=names, first="bloomfilter-set 2"),
            dict(names=names, first="bloomfilter-set 10"),
            dict(names=names, first="bloomfilter-set 1 "),
        ]
        for case in cases:
            with self.subTest(**case):
                path = self.manifest(*case.pop("names"), **case)
                for place in (path, self.folder):
                    with self.assertRaises((BloomFilterError, OSError)):
                        BloomFilter.open(place)

    def test_a_set_that_is_replaced_while_it_is_opened(self):
        """As `bloomfilter pull` does it: new names, the manifest last, the old parts deleted.

        The writer gets one turn an opening and saves up one at most, so that an opening
        meets two changes, never as many as it has attempts.
        """
        builds = [support.build_set(3, support.integers([*MEMBERS, more])) for more in (500, 600)]
        turn = threading.Event()
        failed = threading.Event()
        swaps = range(1, 300)

        def publish(swap):
            names = [f"{swap}.{part}" for part in range(3)]
            for name, part in zip(names, builds[swap % 2]):
                self.write(name, part)
            os.replace(self.manifest(*names, name="next"), os.path.join(self.folder, "manifest"))
            return names

        def take_turns(old):
            for swap in swaps:
                turn.wait()
                turn.clear()
                if failed.is_set():
                    return
                new = publish(swap)
                for name in old:
                    os.remove(os.path.join(self.folder, name))
                old = new

        writer = threading.Thread(target=take_turns, args=(publish(0),))
        writer.start()
        try:
            while writer.is_alive():
                turn.set()
                filter_ = BloomFilter.open(self.folder)
                self.assertNotEqual(500 in filter_, 600 in filter_)
                self.assertTrue(all(filter_.contains_many(MEMBERS)))
        finally:
            failed.set()
            turn.set()
            writer.join()
        self.assertIn(f"{swaps[-1]}.0", os.listdir(self.folder), "the writer has come to its end")

    def test_errors_of_a_set_that_stays_are_raised(self):
        with self.assertRaisesRegex(FileNotFoundError, "missing"):
            BloomFilter.open(self.manifest("missing", "p1", "p2"))
