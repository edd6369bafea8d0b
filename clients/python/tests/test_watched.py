"""Reload: a swap under readers, and the old filter kept on any error."""

import os
import queue
import shutil
import signal
import tempfile
import threading
import time
import unittest
from datetime import datetime, timezone
from unittest.mock import patch

from bloomfilter import BloomFilter, BloomFilterError, WatchedBloomFilter, _source
from bloomfilter import watched as watched_module

from . import support


class Watched(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "f.bloom")
        self.replace(support.build(support.integers([1, 2])))

    def replace(self, data):
        with open(self.path + ".new", "wb") as file:
            file.write(data)
        os.replace(self.path + ".new", self.path)

    def test_reload_takes_the_new_file(self):
        watched = WatchedBloomFilter(self.path)
        before = watched.current
        self.replace(support.build(support.integers([2, 3])))
        self.assertNotIn(3, watched)
        self.assertIs(watched.reload(), True)
        self.assertIn(3, watched)
        self.assertEqual(watched.contains_many([1, 2, 3]), [False, True, True])
        self.assertTrue(watched.contains(2))
        self.assertEqual(watched.info, watched.current.info)
        self.assertIn(1, before)

    def test_reload_reads_nothing_where_nothing_changed(self):
        watched = WatchedBloomFilter(self.path)
        before, read = watched.current, _source.read_path
        _source.read_path = None
        try:
            self.assertIs(watched.reload(), False)
        finally:
            _source.read_path = read
        self.assertIs(watched.current, before)

    def test_the_same_bytes_in_a_new_file_change_nothing(self):
        watched = WatchedBloomFilter(self.path)
        good = self.path + ".copy"
        shutil.copy(self.path, good)
        with open(self.path, "r+b") as file:  # as nobody should
            file.seek(64)
            file.write(bytes(256))
        self.assertNotIn(1, watched)
        os.replace(good, self.path)
        self.assertIs(watched.reload(), False)
        self.assertIn(1, watched)

    def test_follow(self):
        changes, errors = queue.Queue(), queue.Queue()
        with WatchedBloomFilter(self.path) as watched:
            watched.follow(0.01, on_change=changes.put, on_error=errors.put)
            self.replace(b"BLMF")
            self.assertIsInstance(errors.get(timeout=30), BloomFilterError)
            self.assertIn(1, watched)
            self.replace(support.build(support.integers([2, 3])))
            self.assertIs(changes.get(timeout=30), watched.current)
            self.assertIn(3, watched)
        follower = [thread for thread in threading.enumerate() if "bloomfilter" in thread.name]
        self.assertEqual(follower, [])
        self.assertIn(3, watched)
        with self.assertRaises(ValueError):
            watched.follow(0)

    def test_what_a_follower_calls_may_fail(self):
        changes = queue.Queue()

        def fail(filter_):
            changes.put(filter_)
            raise OSError("mine")

        with WatchedBloomFilter(self.path) as watched, self.assertLogs("bloomfilter") as logs:
            watched.follow(0.01, on_change=fail)
            for key in (3, 4):
                self.replace(support.build(support.integers([2, key])))
                changes.get(timeout=30)
        self.assertIn("OSError: mine", logs.output[0])

    def test_wait_for_the_first_file(self):
        os.rename(self.path, self.path + ".later")
        with self.assertRaises(FileNotFoundError):
            WatchedBloomFilter.wait(self.path, 0.2)
        comes = threading.Timer(0.2, os.rename, (self.path + ".later", self.path))
        comes.start()
        self.assertIn(1, WatchedBloomFilter.wait(self.path, 60))
        comes.join()

    def test_a_lasting_error_is_logged_again(self):
        with patch.object(watched_module, "_REPEAT_SECONDS", 0.05):
            with WatchedBloomFilter(self.path) as watched, self.assertLogs("bloomfilter") as logs:
                os.unlink(self.path)
                watched.follow(0.01)
                while len(logs.records) < 3:
                    time.sleep(0.01)
        self.assertEqual(len({record.getMessage() for record in logs.records}), 1)

    def test_status(self):
        checksum = BloomFilter.open(self.path).info.checksum
        lines = ["bloomfilter-status 1", "looked 2026-11-22T01:02:03Z", "checksum " + checksum,
                 "list users", "identity 0f8fad5b-d9cb-469f-a165-70867728950e",
                 "serial 1795395655123456", "built 2026-11-21T01:02:03Z", "failures 2",
                 "error no server", "next_checksum 0000000000000001", "next_serial 7", ""]
        watched = WatchedBloomFilter(self.path)
        self.assertIsNone(watched.status.serial)
        with open(self.path + ".status", "w") as file:
            file.write("\n".join(lines))
        status = watched.status
        self.assertEqual((status.list, status.serial, status.failures, status.error),
                         ("users", 1795395655123456, 2, "no server"))
        self.assertEqual(status.identity, "0f8fad5b-d9cb-469f-a165-70867728950e")
        self.assertEqual(status.built, datetime(2026, 11, 21, 1, 2, 3, tzinfo=timezone.utc))
        self.assertEqual(status.looked, datetime(2026, 11, 22, 1, 2, 3, tzinfo=timezone.utc))
        with open(self.path + ".status", "w") as file:
            file.write("\n".join(lines).replace("0000000000000001", checksum)
                       .replace("\nchecksum " + checksum, "\nchecksum 1"))
        self.assertEqual(watched.status.serial, 7)
        self.replace(support.build(support.integers([9])))
        watched.reload()
        self.assertEqual((watched.status.serial, watched.status.failures), (None, 2))

    def test_one_follower_however_many_begin_at_once(self):
        with WatchedBloomFilter(self.path) as watched:
            begin = threading.Barrier(8)

            def follow():
                begin.wait()
                watched.follow(0.01)

            for _ in range(20):
                threads = [threading.Thread(target=follow) for _ in range(8)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
        self.assertEqual([thread for thread in threading.enumerate()
                          if "bloomfilter" in thread.name], [])

    def test_a_relative_path_after_chdir(self):
        here = os.getcwd()
        self.addCleanup(os.chdir, here)
        os.chdir(os.path.dirname(self.path))
        watched = WatchedBloomFilter("f.bloom")
        os.chdir("/")
        self.replace(support.build(support.integers([2, 3])))
        self.assertIs(watched.reload(), True)
        self.assertIn(3, watched)

    def test_a_follower_ends_with_its_filter(self):
        watched = WatchedBloomFilter(self.path)
        watched.follow(0.01)
        thread = watched._follower._thread
        del watched
        thread.join(30)
        self.assertFalse(thread.is_alive())

    def in_child(self, action):
        """A forked child must do it within a minute."""
        pid = os.fork()
        if pid == 0:
            signal.alarm(60)
            os._exit(0 if action() else 1)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)

    def test_reload_in_a_child_that_was_forked_during_a_reload(self):
        watched = WatchedBloomFilter(self.path)

        def reload():
            return watched.contains(2) and watched.reload() is False

        watched._reloading.acquire()  # as another thread holds it at the fork
        self.in_child(reload)
        watched._reloading.release()

    def test_a_forked_child_follows(self):
        with WatchedBloomFilter(self.path) as watched:
            changed = threading.Event()
            watched.follow(0.01, on_change=lambda _: changed.set())

            def sees_the_new_file():
                self.replace(support.build(support.integers([2, 7])))
                return changed.wait(50) and 7 in watched

            self.in_child(sees_the_new_file)

    def test_any_error_keeps_the_old_filter(self):
        watched = WatchedBloomFilter(self.path)
        for data in (b"", b"BLMF", support.build([])[:-1]):
            self.replace(data)
            with self.assertRaises(BloomFilterError):
                watched.reload()
            self.assertIn(1, watched)
        os.remove(self.path)
        with self.assertRaises(OSError):
            watched.reload()
        self.assertIn(1, watched)

    def test_readers_see_no_wrong_no(self):
        """Key 2 is in every filter; 1 and 3 are in one each, never in neither."""
        watched = WatchedBloomFilter(self.path)
        stop = threading.Event()
        wrong, asked = [], [0]

        def ask():
            while not stop.is_set():
                one, two, three = watched.contains_many([1, 2, 3])
                asked[0] += 1
                if 2 not in watched or not two or one == three:
                    wrong.append((one, two, three))

        readers = [threading.Thread(target=ask) for _ in range(4)]
        for reader in readers:
            reader.start()
        for round_ in range(30):
            self.replace(support.build(support.integers([2, 3 if round_ % 2 else 1])))
            watched.reload()
        stop.set()
        for reader in readers:
            reader.join()
        self.assertEqual(wrong, [])
        self.assertGreater(asked[0], 0)
