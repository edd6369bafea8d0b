"""Reload: a swap under readers, and the old filter kept on any error."""

import os
import tempfile
import threading
import unittest

from bloomfilter import BloomFilterError, LiveBloomFilter

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
        live.reload()
        self.assertIn(3, live)
        self.assertEqual(live.contains_many([1, 2, 3]), [False, True, True])
        self.assertTrue(live.contains(2))
        self.assertEqual(live.info, live.current.info)
        self.assertIn(1, before)

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
