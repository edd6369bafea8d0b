"""questions.py FOLLOWED PLAIN PAIRS: a line for each pair, ns per look-up of random integers in each file."""

import random
import sys
import time

from bloomfilter import BloomFilter

ASKED = 200_000


def measure(file, keys):
    start = time.perf_counter()
    for key in keys:
        key in file
    return (time.perf_counter() - start) / ASKED * 1e9


def main():
    files = [BloomFilter.open(path) for path in sys.argv[1:3]]
    keys = [random.getrandbits(62) for _ in range(ASKED)]
    for _ in range(int(sys.argv[3])):
        print(*(f"{measure(file, keys):.3f}" for file in files))


if __name__ == "__main__":
    main()
