"""Followed lists and sets in one file: the golden pages, and a list that changes."""

import datetime
import os
import pickle
import struct
import time

from bloomfilter_reader import BloomFilter, BloomFilterError, ChangedFileError, ChangesError, FollowedError, InvalidFilterError, WatchedBloomFilter

from . import support

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
NEW_KEY = 4  # of the list `here`, which has 1 to 5
WHERE = {"here": ("here", "now"), "boot": ("other boot", None), "copy": ("copy", "born"),
         "device": ("copy", "born"), "nobody": (None, "born")}


def numbers(text):
    return [int(number) for number in text.split(",")]


class Lists(support.InFolder):
    def setUp(self):
        super().setUp()
        self.rows = {row["name"]: row for row in support.rows("pages.tsv")}
        self.here = bytes.fromhex(self.rows["here"]["file_hex"])

    def empty(self):
        """The list without a bit, and the bits that it gets."""
        blocks = support.PAGE + 64
        return self.here[:blocks] + bytes(len(self.here) - blocks), self.here[blocks:]

    def test_golden_pages(self):
        taken = 0
        for row in self.rows.values():
            with self.subTest(row["name"]):
                # "-" is where nothing was to be read
                data = bytes.fromhex(row["file_hex"].replace("-", ""))
                support.write_list(self.path, data, row["where"] if row["where"] != "-" else "nobody")
                for copy in (False, True):
                    if row["word"] != "-":
                        with self.assertRaises(InvalidFilterError):
                            BloomFilter.open(self.path, copy=copy)
                        continue
                    filter_ = BloomFilter.open(self.path, copy=copy)
                    self.assertTrue(all(filter_.contains_many(numbers(row["keys"]))))
                    place, kind = WHERE[row["where"]]
                    status = filter_.status
                    self.assertEqual((status.serial, status.place), (int(row["told"]), place))
                    true_at = status.true_at and (status.true_at - EPOCH) // datetime.timedelta(microseconds=1)
                    self.assertEqual((true_at or 0, status.reason or ""), (int(row["true_at"]), row["reason"]))
                    self.assertIn(row["message"], ("", status.message))
                    self.assertEqual(status.serial_kind,
                                     kind or ("saved" if row["told"].endswith("5") else "born"))
                    taken += 1
        self.assertGreater(taken, 20)

    def test_golden_tables(self):
        for row in support.rows("tables.tsv"):
            with self.subTest(row["name"]):
                data = bytes.fromhex(row["file_hex"])
                support.write_list(self.path, data)
                if row["word"] != "-":
                    with self.assertRaises(InvalidFilterError):
                        BloomFilter.open(self.path)
                    continue
                for copy in (False, True):
                    filter_ = BloomFilter.open(self.path, copy=copy)
                    self.assertEqual(filter_.status.changes, struct.unpack_from("<Q", data, 608)[0])
                    for column, answer in (("keys", True), ("absent", False)):
                        keys = numbers(row[column]) if row[column] != "-" else []
                        self.assertEqual(filter_.contains_many(keys), [answer] * len(keys))
                        self.assertEqual([key in filter_ for key in keys], [answer] * len(keys))
                    for key in numbers(row["errors"]) if row["errors"] != "-" else []:
                        with self.assertRaises(ChangesError):
                            filter_.contains(key)

    def test_a_list_that_changes(self):
        data, bits = self.empty()
        support.write_list(self.path, data)
        mapped = BloomFilter.open(self.path)
        copy = BloomFilter.open(self.path, copy=True)
        watched = WatchedBloomFilter(self.path)
        watched_copy = WatchedBloomFilter(self.path, copy=True)
        self.assertNotIn(NEW_KEY, mapped)
        support.put(self.path, support.PAGE + 64, bits)
        support.put(self.path, support.SERIAL, struct.pack("<Q", 1795390000000010))
        for filter_ in (mapped, watched, watched.current):
            self.assertIn(NEW_KEY, filter_)
            self.assertEqual(filter_.status.serial, 1795390000000010)
        self.assertGreater(mapped.info.bits_set, 0)
        self.assertNotIn(NEW_KEY, copy)
        self.assertEqual(copy.status.serial, 1795390000000009)
        self.assertIs(watched_copy.reload(), True)
        self.assertIn(NEW_KEY, watched_copy)
        self.assertIs(watched_copy.reload(), False)
        for refused in (mapped.to_bytes, lambda: mapped.write(self.path + ".out")):
            with self.assertRaises(FollowedError):
                refused()
        copy.write(self.path + ".out")
        self.assertEqual(BloomFilter.open(self.path + ".out").to_bytes(), copy.to_bytes())

    def test_an_overwritten_file_is_an_error_until_there_is_another(self):
        support.write_list(self.path, self.here)
        watched = WatchedBloomFilter(self.path)
        other = bytearray(self.here[:support.PAGE + 64] + bytes(len(self.here) - support.PAGE - 64))
        other[136] ^= 1
        other[504:512] = support.xxh64(other[:504])
        support.put(self.path, 0, other)
        with self.assertRaises(ChangedFileError):
            watched.reload()
        with self.assertRaises(ChangedFileError):
            watched.contains(1)
        support.write_list(self.path, self.here)
        self.assertIs(watched.reload(), True)
        self.assertIn(1, watched)

    def test_a_reader_that_insists_on_a_list(self):
        identity = "0f8fad5b-d9cb-469f-a165-70867728950e"
        support.write_list(self.path, self.here)
        watched = WatchedBloomFilter(self.path, identity=identity)
        elsewhere = pickle.dumps(BloomFilter.open(self.path, identity=identity))
        self.assertIn(1, pickle.loads(elsewhere))
        other = bytearray(self.here)
        other[32] ^= 1
        other[504:512] = support.xxh64(other[:504])
        support.write_list(self.path, other)
        for refused in (watched.reload, lambda: BloomFilter.open(self.path, identity=identity), lambda: pickle.loads(elsewhere)):
            with self.assertRaises(InvalidFilterError) as caught:
                refused()
            self.assertEqual(caught.exception.rule, "identity")
        self.assertIn(1, watched)

    def test_a_forked_child_takes_it_too(self):
        data, _ = self.empty()
        support.write_list(self.path, data)
        watched = WatchedBloomFilter(self.path)
        self.assertNotIn(NEW_KEY, watched)
        pid = os.fork()
        if pid == 0:
            until = time.monotonic() + 60
            while NEW_KEY not in watched and time.monotonic() < until:
                time.sleep(0.01)
            os._exit(NEW_KEY not in watched)
        support.write_list(self.path, self.here)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)

    def test_status(self):
        now = int(time.time() * 1e6)
        how = struct.pack("<7Q16s256s", now - 120_000_000, 0, 3, 1_000_000, 20_000_000, now, now - 5,
                          b"disk", b"no room")
        support.write_list(self.path, self.here)
        support.put(self.path, support.HOW, struct.pack("<Q", 1))
        self.assertEqual(BloomFilter.open(self.path).status.reason, "old")
        support.put(self.path, support.HOW, struct.pack("<3Q", now, int(time.clock_gettime(time.CLOCK_BOOTTIME) * 1e6), 0))
        self.assertIsNone(BloomFilter.open(self.path).status.reason)
        support.put(self.path, support.HOW, how)
        status = BloomFilter.open(self.path).status
        self.assertEqual((status.reason, status.message, status.failures, status.superseded),
                         ("disk", "no room", 3, False))
        self.assertEqual((status.every, status.heartbeat),
                         (datetime.timedelta(seconds=1), datetime.timedelta(seconds=20)))
        self.assertGreaterEqual(status.age, datetime.timedelta(seconds=120))
        self.assertEqual(status.looked.tzinfo, datetime.timezone.utc)
        self.assertEqual(status.list, bytes.fromhex(self.rows["here"]["file_hex"])[136:352].rstrip(b"\0").decode())
        support.put(self.path, support.HOW + 56, bytes(16))
        self.assertEqual(BloomFilter.open(self.path).status.reason, "old")
        self.assertIsNone(BloomFilter.build([1]).status.serial)

    def test_sets(self):
        built = BloomFilter.build(range(1000), 1000, parts=3)
        built.write(self.path)
        for copy in (False, True):
            opened = BloomFilter.open(self.path, copy=copy)
            self.assertTrue(all(opened.contains_many(range(1000))))
            self.assertEqual(opened.info, built.info)
        self.assertEqual([part.part for part in built.info.filters], [0, 1, 2])
        with self.assertRaises(BloomFilterError):
            built.to_bytes()
