#!/usr/bin/env python3
"""Nanoseconds per look-up, beside a Python set, as ratios of one run.

    bench.py [MEGABYTES] [KEYS_IN_SET]

The filter's bits are random and half of them are set, as in a full filter of
its size at 1 %; 100,000 keys are added so that there are members to ask for.
Keys are asked in random order.  Engines other than the package's own are
measured in the same run where they are there.
"""

import os
import random
import struct
import sys
import tempfile
import time

import bloomfilter
from bloomfilter import BloomFilter, _engine, _pure, keys
from bloomfilter._format import read_header

K, LOG2_BLOCK_BITS, BLOCK_BYTES = 7, 9, 64
ASKED = 200_000


def make_body(blocks, members):
    body = bytearray(os.urandom(blocks * BLOCK_BYTES))
    for key in members:
        probe = _engine.xxh64(struct.pack("<q", key), 0)
        start = _pure.block_of(probe, blocks) * BLOCK_BYTES
        for _ in range(K):
            probe = probe * 0x9E3779B97F4A7C15 % 2**64
            bit = probe >> (64 - LOG2_BLOCK_BITS)
            body[start + (bit >> 3)] |= 1 << (bit & 7)
    return bytes(body)


def make_filter(megabytes, members):
    blocks = megabytes * 1_000_000 // BLOCK_BYTES
    body = make_body(blocks, members)
    bits_set = _engine.count_bits(bytes(64) + body)
    n = int(blocks * 512 / 9.92)
    fields = (b"BLMF", 1, K, LOG2_BLOCK_BITS, 1, blocks, 0, 1, 0, n, 0.01, bits_set, 1)
    head = struct.pack("<4sBBBBIHHQQdQB3x", *fields)
    head += struct.pack("<I", _engine.xxh64(head, 0) & 0xFFFFFFFF)
    checksum = _engine.checksum(head + bytes(8) + body)
    return head + struct.pack("<Q", checksum) + body


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
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 124
    in_set = int(sys.argv[2]) if len(sys.argv) > 2 else 4_000_000
    generator = random.Random(1)
    members = [generator.getrandbits(62) for _ in range(100_000)]
    members = [generator.choice(members) for _ in range(ASKED)]
    strangers = [-generator.getrandbits(62) for _ in range(ASKED)]
    all_keys = set(members)
    all_keys.update(generator.getrandbits(62) for _ in range(in_set - len(all_keys)))

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "bench.bloom")
        with open(path, "wb") as file:
            file.write(make_filter(megabytes, members))
        start = time.perf_counter()
        filter_ = BloomFilter.open(path)
        opened = time.perf_counter() - start
        base = nanoseconds(lambda: ask_singly(all_keys, members), ASKED)
        print(f"filter {megabytes} MB, opened and verified in {opened:.2f} s;"
              f" set of {in_set} ints; (times the set's)")
        print(f"{'':28}{'one, there':>19}{'one, not there':>19}{'batch, there':>19}")
        report("set", all_keys, members, strangers, base)
        engine = "extension" if bloomfilter.NATIVE else "Python"
        report(f"BloomFilter, {engine}", filter_, members, strangers, base)
        if bloomfilter.NATIVE:
            data = memoryview(open(path, "rb").read())
            header = read_header(bytes(data[:64]), len(data))
            pure = _pure.Prober([header], [data], 1, keys.key_bytes, None)
            report("the same in Python", pure, members, strangers, base)
        size = sys.getsizeof(all_keys) + in_set * sys.getsizeof(members[0])
        per_key = 8 * megabytes * 1e6 / filter_.info.n
        print(f"memory: set {size * 8 / in_set:.0f} bits per key, filter {per_key:.1f}")


if __name__ == "__main__":
    main()
