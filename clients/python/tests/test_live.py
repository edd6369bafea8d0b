"""Reload: a swap under readers, and the old filter kept on any error."""

import os
import queue
import shutil
import signal
import tempfile
import threading
import unittest

from bloomfilter import BloomFilterError, LiveBloomFilter, _source

from . import support


class Live(unittest.TestCase):
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
        live = LiveBloomFilter(self.path)
        before = live.current
        self.replace(support.build(support.integers([2, 3])))
        self.assertNotIn(3, live)
        self.assertIs(live.reload(), True)
        self.assertIn(3, live)
        self.assertEqual(live.contains_many([1, 2, 3]), [False, True, True])
        self.assertTrue(live.contains(2))
        self.assertEqual(live.info, live.current.info)
        self.assertIn(1, before)

    def test_reload_reads_nothing_where_nothing_changed(self):
        live = LiveBloomFilter(self.path)
        before, read = live.current, _source.read_path
        _source.read_path = None
        try:
            self.assertIs(live.reload(), False)
        finally:
            _source.read_path = read
        self.assertIs(live.current, before)

    def test_the_same_bytes_in_a_new_file_change_nothing(self):
        live = LiveBloomFilter(self.path)
        good = self.path + ".copy"
        shutil.copy(self.path, good)
        with open(self.path, "r+b") as file:  # as nobody should
            file.seek(64)
            file.write(bytes(256))
        self.assertNotIn(1, live)
        os.replace(good, self.path)
        self.assertIs(live.reload(), False)
        self.assertIn(1, live)

    def test_follow(self):
        changes, errors = queue.Queue(), queue.Queue()
        with LiveBloomFilter(self.path) as live:
            live.follow(0.01, on_change=changes.put, on_error=errors.put)
            self.replace(b"BLMF")
            self.assertIsInstance(errors.get(timeout=30), BloomFilterError)
            self.assertIn(1, live)
            self.replace(support.build(support.integers([2, 3])))
            self.assertIs(changes.get(timeout=30), live.current)
            self.assertIn(3, live)
        follower = [thread for thread in threading.enumerate() if "bloomfilter" in thread.name]
        self.assertEqual(follower, [])
        self.assertIn(3, live)
        with self.assertRaises(ValueError):
            live.follow(0)

    def test_what_a_follower_calls_may_fail(self):
        changes = queue.Queue()

        def fail(filter_):
            changes.put(filter_)
            raise OSError("mine")

        with LiveBloomFilter(self.path) as live, self.assertLogs("bloomfilter") as logs:
            live.follow(0.01, on_change=fail)
            for key in (3, 4):
                self.replace(support.build(support.integers([2, key])))
                changes.get(timeout=30)
        self.assertIn("OSError: mine", logs.output[0])

    def test_a_follower_ends_with_its_filter(self):
        live = LiveBloomFilter(self.path)
        live.follow(0.01)
        thread = live._follower._thread
        del live
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
        live = LiveBloomFilter(self.path)

        def reload():
            return live.contains(2) and live.reload() is False

        live._reloading.acquire()  # as another thread holds it at the fork
        self.in_child(reload)
        live._reloading.release()

    def test_a_forked_child_follows(self):
        with LiveBloomFilter(self.path) as live:
            changed = threading.Event()
            live.follow(0.01, on_change=lambda _: changed.set())

            def sees_the_new_file():
                self.replace(support.build(support.integers([2, 7])))
                return changed.wait(50) and 7 in live

            self.in_child(sees_the_new_file)

    def test_any_error_keeps_the_old_filter(self):
        live = LiveBloomFilter(self.path)
        for data in (b"", b"BLMF", support.build([])[:-1]):
            self.replace(data)
            with self.assertRaises(BloomFilterError):
                live.reload()
            self.assertIn(1, live)
        os.remove(self.path)
        with self.assertRaises(OSError):
            live.reload()
        self.assertIn(1, live)

    def test_readers_see_no_wrong_no(self):
        """Key 2 is in every filter; 1 and 3 are in one each, never in neither."""
        live = LiveBloomFilter(self.path)
        stop = threading.Event()
        wrong, asked = [], [0]

        def ask():
            while not stop.is_set():
                one, two, three = live.contains_many([1, 2, 3])
                asked[0] += 1
                if 2 not in live or not two or one == three:
                    wrong.append((one, two, three))

        readers = [threading.Thread(target=ask) for _ in range(4)]
        for reader in readers:
            reader.start()
        for round_ in range(30):
            self.replace(support.build(support.integers([2, 3 if round_ % 2 else 1])))
            live.reload()
        stop.set()
        for reader in readers:
            reader.join()
        self.assertEqual(wrong, [])
        self.assertGreater(asked[0], 0)
