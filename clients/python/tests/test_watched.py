"""What Python alone has of files: threads, processes, pickles."""

import os
import pickle
import threading
import time
import uuid

from bloomfilter_reader import BloomFilter, FollowedError, InvalidFilterError, WatchedBloomFilter

from . import support


class Watched(support.InFolder):
    def setUp(self):
        super().setUp()
        self.replace(support.integers([1, 2]))

    def test_a_followed_file(self):
        identity = uuid.UUID("0f8fad5b-d9cb-469f-a165-70867728950e")
        self.replace(support.page())
        for kind in (BloomFilter.open, WatchedBloomFilter):
            self.replace(support.page())
            filter_ = kind(self.path, identity=identity)
            self.assertEqual(filter_.status.serial_kind, "born")
            elsewhere = pickle.dumps(filter_)
            self.assertIn(1, pickle.loads(elsewhere))
            self.replace(support.integers([1]))
            with self.assertRaises(InvalidFilterError):
                pickle.loads(elsewhere)
        self.replace(support.page())
        mapped, copy = BloomFilter.open(self.path), BloomFilter.open(self.path, copy=True)
        for refused in (mapped.to_bytes, lambda: mapped.write(self.path + ".out")):
            with self.assertRaises(FollowedError):
                refused()
        copy.write(self.path + ".out")
        self.assertEqual(BloomFilter.open(self.path + ".out").to_bytes(), copy.to_bytes())
        self.assertIsNone(BloomFilter.build([1]).status.serial)

    def test_a_forked_child_takes_a_new_file(self):
        watched = WatchedBloomFilter(self.path)
        self.assertNotIn(3, watched)
        pid = os.fork()
        if pid == 0:
            until = time.monotonic() + 60
            while 3 not in watched and time.monotonic() < until:
                time.sleep(0.01)
            os._exit(3 not in watched)
        self.replace(support.integers([2, 3]))
        self.assertEqual(os.waitpid(pid, 0)[1], 0)

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
