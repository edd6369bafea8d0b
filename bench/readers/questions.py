"""What look-ups of integers cost in Python, the contenders in turns in one process.

    questions.py KEYS ROUNDS CONTENDER...

A contender is a file that holds 1 to KEYS; or `set` or `flor` (Debian's python3-flor), which are filled
with them. Prints contender, operation and ns per look-up of each round.
"""

import random
import struct
import sys
import time

import flor
from bloomfilter import BloomFilter

ASKED = 200_000


def create(contender, count):
    """What is asked `key in it`, and how it takes an integer."""
    if contender == "set":
        return set(range(1, count + 1)), int
    if contender == "flor":
        encode = struct.Struct("<q").pack
        known = flor.BloomFilter(2 * count, 0.01)    # it counts its own errors as keys, and then is full
        for key in range(1, count + 1):
            known.add(encode(key))
        return known, encode
    return BloomFilter.open(contender), int


def ask_singly(known, keys):
    for key in keys:
        key in known


def measure(name, ask, *arguments):
    start = time.perf_counter()
    ask(*arguments)
    print(f"{name}\t{(time.perf_counter() - start) / ASKED * 1e9:.2f}")


def main():
    count, rounds = map(int, sys.argv[1:3])
    contenders = {name: create(name, count) for name in sys.argv[3:]}
    asked = {"there": [random.randint(1, count) for _ in range(ASKED)],
             "absent": [random.getrandbits(62) for _ in range(ASKED)]}
    for _ in range(rounds):
        for operation, numbers in asked.items():
            for name, (known, key_of) in contenders.items():
                keys = [key_of(number) for number in numbers]
                measure(f"{name}\t{operation}", ask_singly, known, keys)
                if isinstance(known, BloomFilter):
                    measure(f"{name}\tbatch {operation}", known.contains_many, keys)


if __name__ == "__main__":
    main()
