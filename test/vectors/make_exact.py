#!/usr/bin/python3
"""Makes exact.tsv, from section "Exact filters" of FORMAT.md.

    make_exact.py            # write the file
    make_exact.py --check    # compare; exit 1 on a difference

It shares no code with the implementations, and needs Python with Debian's python3-xxhash.
"""

import struct

import make_vectors as v

PLUS = 0x9E3779B97F4A7C15


def mixed(hash64, level, salt):
    """The hash that a level (1 to 3) uses for a key's hash."""
    if level == 1:
        return hash64
    h = (hash64 + (level - 1 + (64 * salt if level == 3 else 0)) * PLUS) & v.MASK64
    h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9 & v.MASK64
    h = (h ^ h >> 27) * 0x94D049BB133111EB & v.MASK64
    return h ^ h >> 31


class Level:
    def __init__(self, k, log2_block_bits, blocks, n):
        self.k, self.log2_block_bits, self.blocks, self.n = k, log2_block_bits, blocks, n
        self.bits = bytearray(blocks << (log2_block_bits - 3))

    def positions(self, hash64):
        first = v.block_of(hash64, self.blocks) << self.log2_block_bits
        return [first + bit for bit in v.probes_of(hash64, self.log2_block_bits, self.k)]

    def add(self, hash64):
        for position in self.positions(hash64):
            self.bits[position >> 3] |= 1 << (position & 7)

    def contains(self, hash64):
        return all(self.bits[position >> 3] >> (position & 7) & 1 for position in self.positions(hash64))


class Exact:
    def __init__(self, name, shapes, seed=0, p=0.01, planned=0, part=0, parts=1, key_type=v.INTEGER):
        self.name, self.seed, self.p, self.planned = name, seed, p, planned
        self.part, self.parts, self.key_type, self.salt = part, parts, key_type, 0
        self.levels = [Level(*shape) for shape in shapes]
        self.members, self.others = [], []

    def hash_of(self, key, level):
        return mixed(v.xxh64(key, self.seed), level + 1, self.salt)

    def in_level(self, key, level):
        return self.levels[level].contains(self.hash_of(key, level))

    def answer(self, key):
        if not self.in_level(key, 0):
            return False
        return not self.in_level(key, 1) or self.in_level(key, 2)

    def build(self, members, others):
        self.members, self.others = members, others
        for key in members:
            self.levels[0].add(self.hash_of(key, 0))
        second = [key for key in others if self.in_level(key, 0)]
        for key in second:
            self.levels[1].add(self.hash_of(key, 1))
        third = [key for key in members if self.in_level(key, 1)]
        size = len(self.levels[2].bits)
        for self.salt in range(256):
            self.levels[2].bits = bytearray(size)
            for key in third:
                self.levels[2].add(self.hash_of(key, 2))
            if not any(self.in_level(key, 2) for key in second):
                break
        else:
            raise AssertionError("level 3 doesn't close")
        assert all(self.answer(key) for key in members)
        assert not any(self.answer(key) for key in others)
        return self

    def to_bytes(self):
        first = self.levels[0]
        header = v.HEADER.pack(b"BLMF", 2, first.k, first.log2_block_bits, self.key_type, first.blocks,
                               self.part, self.parts, self.seed, first.n, self.p, v.popcount(first.bits), 1,
                               b"\0\0\0", 0, 0)
        directory = struct.pack("<BB6xQ", self.salt, 3, self.planned)
        for level in self.levels[1:]:
            directory += struct.pack("<BBHIIQ", level.k, level.log2_block_bits, 0, level.blocks, level.n,
                                     v.popcount(level.bits))
        return sealed(header + directory + bytes(8) + b"".join(bytes(level.bits) for level in self.levels))


def sealed(data):
    """The same bytes with the right checksums: the header's, the directory's, that of all."""
    data = data[:52] + struct.pack("<I", v.header_checksum_of(data)) + data[56:]
    data = data[:120] + struct.pack("<Q", v.xxh64(data[:56] + data[64:120], 0)) + data[128:]
    return v.checksummed(data)


def in_part(keys, seed, part, parts):
    return [key for key in keys if v.part_of(v.xxh64(key, seed), parts) == part]


ROUGH = ((2, 9, 1, 60), (1, 9, 1, 60), (12, 9, 1, 20))
SMALL = ((7, 9, 2, 100), (4, 9, 1, 20), (20, 9, 1, 8))


def filters():
    yield Exact("small", SMALL, planned=1000).build(v.numbers(1, 100), v.numbers(1000, 1000))
    yield Exact("no_others", SMALL).build(v.numbers(1, 100), [])
    yield Exact("no_members", SMALL, planned=100).build([], v.numbers(1000, 100))
    yield Exact("nothing", SMALL, key_type=0).build([], [])
    yield Exact("crowded", ((2, 9, 1, 100), (1, 9, 2, 300), (12, 9, 4, 60)), seed=v.SEEDS[4], p=0.4,
                planned=600).build(v.numbers(1, 100), v.numbers(1000, 600))
    yield Exact("salted", ((1, 9, 1, 60), (1, 9, 1, 200), (1, 9, 1, 20)), seed=7, p=0.2,
                planned=1000).build(v.numbers(1, 60), v.numbers(1000, 1000))
    yield Exact("blocks", ((2, 10, 1, 200), (2, 11, 1, 200), (9, 12, 1, 60)), seed=2**63, p=0.2,
                planned=900).build(v.numbers(1, 200), v.numbers(1000, 900))
    for part in range(3):
        yield Exact("part_%d" % part, ROUGH, part=part, parts=3, planned=300).build(
            in_part(v.numbers(1, 150), 0, part, 3), in_part(v.numbers(1000, 600), 0, part, 3))
    yield Exact("texts", ROUGH, key_type=v.TEXT, planned=300).build(
        [b"user%d" % i for i in range(60)], [b"other%d" % i for i in range(300)])


def changed(data, offset, new_bytes):
    """The same bytes with some changed, and the right checksums."""
    return sealed(data[:offset] + new_bytes + data[offset + len(new_bytes):])


def invalid():
    data = next(filters()).to_bytes()
    nothing = list(filters())[3].to_bytes()
    yield "short", "short", data[:63]
    yield "version_3", "version", changed(data, 4, b"\3")
    yield "no_directory", "directory", data[:127]
    yield "directory_checksum", "directory", data[:120] + bytes([data[120] ^ 1]) + data[121:]
    yield "salt_changed", "directory", data[:64] + b"\1" + data[65:]
    yield "level_2_changed", "directory", data[:84] + b"\2" + data[85:]
    yield "two_levels", "levels", changed(data, 65, b"\2")
    yield "four_levels", "levels", changed(data, 65, b"\4")
    for at in range(66, 72):
        yield "zero_%d" % at, "levels", changed(data, at, b"\1")
    for name, at in (("level_2", 80), ("level_3", 100)):
        yield name + "_zero", "levels", changed(data, at + 2, b"\1")
        yield name + "_zero_high", "levels", changed(data, at + 3, b"\x80")
        yield name + "_no_probes", "probes", changed(data, at, b"\0")
        yield name + "_probes", "probes", changed(data, at, b"\x21")
        yield name + "_small_blocks", "block_bits", changed(data, at + 1, b"\x08")
        yield name + "_large_blocks", "block_bits", changed(data, at + 1, b"\x11")
        yield name + "_no_blocks", "blocks", changed(data, at + 4, struct.pack("<I", 0))
        yield name + "_one_more_block", "size", changed(data, at + 4, struct.pack("<I", 2))
        yield name + "_most_blocks", "size", changed(data, at + 4, struct.pack("<I", 2**32 - 1))
        yield name + "_wrapping_blocks", "size", changed(data, at + 4, struct.pack("<I", 2**26 + 1))
        yield name + "_bits_set_beyond", "bits_set", changed(data, at + 12, struct.pack("<Q", 513))
        yield name + "_bits_set", "bits_set", changed(data, at + 12, struct.pack("<Q", 1))
    yield "one_byte_more", "size", sealed(data + b"\0")
    yield "one_byte_less", "size", sealed(data[:-1])
    yield "part", "part", changed(data, 12, struct.pack("<H", 1))
    yield "capacity", "capacity", changed(data, 24, bytes(8))
    yield "rate", "rate", changed(data, 32, struct.pack("<d", 1.0))
    yield "level_1_bits_set", "bits_set", changed(data, 40, struct.pack("<Q", 1))
    yield "bits_of_no_type", "empty_key_type", changed(data, 7, b"\0")
    last = bytearray(nothing)
    last[-1] = 128
    yield "bits_of_no_type_3", "empty_key_type", changed(bytes(last), 112, struct.pack("<Q", 1))
    yield "checksum", "checksum", data[:56] + bytes([data[56] ^ 1]) + data[57:]
    swapped = bytearray(data)
    swapped[128], swapped[129] = swapped[129], swapped[128]
    yield "bytes_swapped", "checksum", bytes(swapped)


def rows():
    yield ("#name", "word", "key_type", "seed", "members_hex", "others_hex", "strangers_hex", "filter_hex")
    for f in filters():
        strangers = [key for key in in_part(v.numbers(10**6, 300), f.seed, f.part, f.parts) if not f.answer(key)]
        if f.key_type == v.TEXT:
            strangers = [key for key in (b"stranger%d" % i for i in range(60)) if not f.answer(key)]
        yield (f.name, "-", str(f.key_type), str(f.seed), v.hex_list(f.members), v.hex_list(f.others),
               v.hex_list(strangers[:40]), f.to_bytes().hex())
    for name, word, data in invalid():
        yield (name, word, "0", "0", "-", "-", "-", data.hex() or "-")


def files():
    return [("exact.tsv", v.table(rows()))]


if __name__ == "__main__":
    v.main(__doc__, files)
