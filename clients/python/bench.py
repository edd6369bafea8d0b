#!/usr/bin/env python3
"""Nanoseconds per look-up, beside a Python set, as ratios of one run.

    bench.py [KEYS_OF_FILTER] [KEYS_IN_SET]

The filter is sized for so many keys at 1 % and has 200,000 of them: where its bits lie
decides how long a look-up takes, not how many are set.  Keys are asked in random order.
"""

import os
import random
import sys
import tempfile
import time

from bloomfilter import BloomFilter, WatchedBloomFilter

ASKED = 200_000


def nanoseconds(action, count):
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - start)
    return best / count * 1e9


def ask_singly(container, asked):
    for key in asked:
        key in container


def report(name, container, members, strangers, base):
    line = f"{name:28}"
    for asked in (members, strangers):
        took = nanoseconds(lambda: ask_singly(container, asked), len(asked))
        line += f"{took:9.0f} ns ({took / base:4.1f})"
    if hasattr(container, "contains_many"):
        took = nanoseconds(lambda: container.contains_many(members), len(members))
        line += f"{took:9.0f} ns ({took / base:4.1f})"
    print(line)


def main():
    sized_for = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000_000
    in_set = int(sys.argv[2]) if len(sys.argv) > 2 else 4_000_000
    generator = random.Random(1)
    members = [generator.getrandbits(62) for _ in range(ASKED)]
    strangers = [-generator.getrandbits(62) for _ in range(ASKED)]
    all_keys = set(members)
    all_keys.update(generator.getrandbits(62) for _ in range(in_set - len(all_keys)))

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "bench.bloom")
        BloomFilter.build(members, sized_for).write(path)
        start = time.perf_counter()
        filter_ = BloomFilter.open(path)
        opened = time.perf_counter() - start
        base = nanoseconds(lambda: ask_singly(all_keys, members), ASKED)
        print(f"filter of {filter_.info.bytes} bytes, opened and verified in {opened:.2f} s;"
              f" set of {in_set} ints; (times the set's)")
        print(f"{'':28}{'one, there':>19}{'one, not there':>19}{'batch, there':>19}")
        report("set", all_keys, members, strangers, base)
        report("BloomFilter", filter_, members, strangers, base)
        report("WatchedBloomFilter", WatchedBloomFilter(path), members, strangers, base)


if __name__ == "__main__":
    main()
