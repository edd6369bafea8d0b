"""What look-ups of integers cost in Python, the contenders in turns in one process.

    questions.py KEYS ROUNDS CONTENDER...

A contender is a file that holds 1 to KEYS; or `set` or `flor` (Debian's python3-flor), which are filled
with them. Prints contender, operation and ns per look-up of each round.
"""

import random
import struct
import sys
import time
from functools import partial

import flor
from bloomfilter_reader import BloomFilter

ASKED = 200_000


def create(contender, count):
    """The ways to look up keys: its name and an operation's begin, what makes a key of an integer, and what asks."""
    if contender == "set":
        yield "set\t", int, partial(ask_singly, set(range(1, count + 1)))
    elif contender == "flor":
        encode = struct.Struct("<q").pack
        known = flor.BloomFilter(2 * count, 0.01)    # it counts its own errors as keys, and then is full
        for key in range(1, count + 1):
            known.add(encode(key))
        yield "flor\t", encode, partial(ask_singly, known)
    else:
        known = BloomFilter.open(contender)
        yield f"{contender}\t", int, partial(ask_singly, known)
        yield f"{contender}\tbatch ", int, known.contains_many


def ask_singly(known, keys):
    for key in keys:
        key in known


def main():
    count, rounds = map(int, sys.argv[1:3])
    ways = [way for contender in sys.argv[3:] for way in create(contender, count)]
    numbers = {"there": lambda: random.randint(1, count), "absent": lambda: random.getrandbits(62)}
    for _ in range(rounds):
        for operation, number in numbers.items():
            for name, key_of, ask in ways:
                # Others each time: what was just asked is in the processor's cache.
                keys = [key_of(number()) for _ in range(ASKED)]
                start = time.perf_counter()
                ask(keys)
                print(f"{name}{operation}\t{(time.perf_counter() - start) / ASKED * 1e9:.2f}")


if __name__ == "__main__":
    main()
