"""Debian's python3-flor: flor_filter.py KEYS ROUNDS; contender, operation, ns per look-up."""

import random
import struct
import sys
import time

from flor import BloomFilter

ASKED = 20_000


def main():
    count, rounds = int(sys.argv[1]), int(sys.argv[2])
    encoded = [struct.pack("<q", key) for key in range(count)]
    known = BloomFilter(2 * count, 0.01)    # it counts its own errors as keys, and then is full
    for key in encoded:
        known.add(key)
    generator = random.Random(1)
    asked = {
        "there": [generator.choice(encoded) for _ in range(ASKED)],
        "absent": [struct.pack("<q", generator.getrandbits(62) + count) for _ in range(ASKED)],
    }
    for _ in range(rounds):
        for operation, keys in asked.items():
            start = time.perf_counter()
            for key in keys:
                key in known
            print(f"flor\t{operation}\t{(time.perf_counter() - start) / ASKED * 1e9:.2f}")


if __name__ == "__main__":
    main()
