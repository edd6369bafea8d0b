"""Reload: a swap under readers, and the old filter kept on any error."""

import os
import pickle
import threading

from bloomfilter_reader import BloomFilter, BloomFilterError, WatchedBloomFilter

from . import support


class Watched(support.InFolder):
    def setUp(self):
        super().setUp()
        self.replace(support.integers([1, 2]))

    def replace(self, data):
        with open(self.path + ".new", "wb") as file:
            file.write(data)
        os.replace(self.path + ".new", self.path)

    def test_reload_takes_the_new_file(self):
        watched = WatchedBloomFilter(self.path)
        before = watched.current
        self.replace(support.integers([2, 3]))
        watched.reload()
        self.assertIn(3, watched)
        self.assertEqual(watched.contains_many([1, 2, 3]), [False, True, True])
        self.assertTrue(watched.contains(2))
        self.assertEqual(watched.info, watched.current.info)
        self.assertIn(1, before)

    def test_wait_for_the_first_file(self):
        os.rename(self.path, self.path + ".later")
        with self.assertRaises(FileNotFoundError):
            WatchedBloomFilter.wait(self.path, 0.2)
        comes = threading.Timer(0.2, os.rename, (self.path + ".later", self.path))
        comes.start()
        self.assertIn(1, WatchedBloomFilter.wait(self.path, 60))
        comes.join()

    def test_a_relative_path_after_chdir(self):
        here = os.getcwd()
        self.addCleanup(os.chdir, here)
        os.chdir(os.path.dirname(self.path))
        watched = WatchedBloomFilter("f.bloom")
        os.chdir("/")
        self.replace(support.integers([2, 3]))
        self.assertIs(watched.reload(), True)
        self.assertIn(3, watched)

    def test_any_error_keeps_the_old_filter(self):
        watched = WatchedBloomFilter(self.path)
        for data in (b"", b"BLMF", support.integers([1])[:-1]):
            self.replace(data)
            with self.assertRaises(BloomFilterError):
                watched.reload()
            self.assertIn(self.path, watched.error)
            self.assertIn(1, watched)
        os.remove(self.path)
        with self.assertRaises(OSError):
            watched.reload()
        self.assertIn(1, watched)
        self.replace(support.integers([1, 4]))
        watched.reload()
        self.assertIsNone(watched.error)
        self.assertIn(4, watched)

    def test_pickle_and_close(self):
        with WatchedBloomFilter(self.path) as watched:
            self.assertIn(1, pickle.loads(pickle.dumps(watched)))
            self.assertIn(1, pickle.loads(pickle.dumps(watched.current)))
        self.assertIn(1, watched)
        with BloomFilter.open(self.path) as filter_:
            self.assertIn(1, pickle.loads(pickle.dumps(filter_)))
        for ask in (filter_.contains, filter_.contains_many, filter_.explain):
            with self.assertRaisesRegex(ValueError, "closed"):
                ask([1] if ask == filter_.contains_many else 1)

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
            self.replace(support.integers([2, 3 if round_ % 2 else 1]))
            watched.reload()
        stop.set()
        for reader in readers:
            reader.join()
        self.assertEqual(wrong, [])
        self.assertGreater(asked[0], 0)
