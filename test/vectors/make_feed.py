#!/usr/bin/python3
"""Makes pages.tsv, patches.tsv, changes.tsv, tables.tsv and manifests.tsv, from doc/FEED.md.

    make_feed.py            # write the files
    make_feed.py --check    # compare; exit 1 on a difference

It shares no code with the implementations, and needs Python with Debian's python3-xxhash and
python3-cryptography.
"""

import base64
import hashlib
import struct

import make_exact as e
import make_vectors as v

IDENTITY = bytes.fromhex("0f8fad5bd9cb469fa16570867728950e")
BOOT = bytes.fromhex("11111111222233334444555555555555")
EPOCH = 1795390000000000

# Of looks, whenever the tests run.
PAST, FUTURE = 10**12, 7 * 10**15


def sum_of(bodies, headers=None):
    """The sum of a list's content, section 2; headers are those of plain parts."""
    total = 0
    for part, data in enumerate(bodies):
        if headers:
            total += v.xxh64(headers[part][:24] + headers[part][48:52], part << 32 | 2**32 - 1)
        for number, at in enumerate(range(0, len(data), 4096)):
            total += v.xxh64(bytes(data[at:at + 4096]), part << 32 | number)
    return total % 2**64


def sum_of_parts(filters):
    """The same of plain or exact parts; of exact ones all bytes are content."""
    if isinstance(filters[0], e.Exact):
        return sum_of([f.to_bytes() for f in filters])
    return sum_of([f.bits for f in filters], [bare(f) for f in filters])


def lying(f):
    """A part as it lies in a followed file."""
    return f.to_bytes() if isinstance(f, e.Exact) else bare(f) + bytes(f.bits)


def bare(f):
    """A filter's header with bits set and checksum 0."""
    return with_fields(v.patched(f.to_bytes()[:64], 56, bytes(8)), 40, bytes(8))


def with_fields(header, offset, new):
    """A plain part's header with some of its bytes changed, and the right checksum of the header."""
    data = v.patched(header, offset, new)
    return v.patched(data, 52, struct.pack("<I", v.header_checksum_of(data)))


def flipped(data, at, mask):
    return v.patched(data, at, bytes([data[at] ^ mask]))


# ---------------------------------------------------------------- patches


def varint(number):
    out = bytearray()
    while number >= 128:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def rice(number, width):
    """A list of bits: the high part in ones, a zero, the low bits, lowest first."""
    return [1] * (number >> width) + [0] + [number >> i & 1 for i in range(width)]


def width_for(total, count):
    mean = 709 * total // (1024 * count)
    return max(1, mean).bit_length() - 1


def packed(bits):
    number = sum(bit << i for i, bit in enumerate(bits))
    return number.to_bytes((len(bits) + 7) // 8, "little")


def block_bits(positions, log2_block_bits):
    width = width_for(1 << log2_block_bits, len(positions) + 1)
    out, following = [], 0
    for position in sorted(positions):
        out += rice(position - following, width)
        following = position + 1
    return out


def heading(part, log2_block_bits, blocks, touched, gap_width, count_width, header=b"", level=1):
    return (varint(part) + bytes([level]) + header + bytes([log2_block_bits]) + varint(blocks) +
            varint(touched) + bytes([gap_width, count_width]))


def section(part, log2_block_bits, blocks, touched, header=b"", widths=None):
    """touched: block number -> positions in the block."""
    if widths is None and touched:
        gaps = max(touched) + 1 - len(touched)
        counts = sum(map(len, touched.values())) - len(touched)
        widths = width_for(gaps, len(touched)), width_for(counts, len(touched))
    widths = widths or (0, 0)
    bits, following = [], 0
    for block in sorted(touched):
        bits += rice(block - following, widths[0]) + rice(len(touched[block]) - 1, widths[1])
        bits += block_bits(touched[block], log2_block_bits)
        following = block + 1
    return heading(part, log2_block_bits, blocks, len(touched), *widths, header) + packed(bits)


def patch(sections, positions, kind=1, start=EPOCH, end=EPOCH + 1000, epoch=EPOCH, version=1, zero=0,
          magic=b"BLMP", from_sum=0, to_sum=0, length=None):
    length = 88 + len(sections) if length is None else length
    head = magic + struct.pack("<BBHQ", version, kind, zero, epoch) + IDENTITY
    head += struct.pack("<6Q", start, end, from_sum, to_sum, positions, length)
    return head + struct.pack("<Q", v.xxh64(head + sections, 0)) + sections


def pair_of_parts(added):
    """Two parts, of 5 blocks of 64 bytes and of 3 of 512; some of the bits set."""
    parts = [v.Filter("first", log2_block_bits=9, blocks=5, part=0, parts=2),
             v.Filter("second", log2_block_bits=12, blocks=3, part=1, parts=2)]
    for i in range(1, 9 + added):
        key = v.int64_bytes(i)
        parts[v.part_of(v.xxh64(key, 0), 2)].add(v.INTEGER, [key])
    return parts


def listed(positions):
    """ "0:1,2;1:5" of a list for each part. """
    text = ";".join("%d:%s" % (part, ",".join(map(str, of))) for part, of in enumerate(positions) if of)
    return text or "-"


def changed(blocks, positions, flip):
    out = [bytearray(part) for part in blocks]
    for part, of in enumerate(positions):
        for position in of:
            bit = 1 << (position & 7)
            out[part][position >> 3] = out[part][position >> 3] ^ bit if flip else out[part][position >> 3] | bit
    return out


def by_block(positions, log2_block_bits):
    touched = {}
    for position in positions:
        touched.setdefault(position >> log2_block_bits, []).append(position & (1 << log2_block_bits) - 1)
    return touched


def differences(old, new):
    return [[i for i in range(8 * len(a)) if (a[i >> 3] ^ b[i >> 3]) >> (i & 7) & 1] for a, b in zip(old, new)]


SHAPES = ((9, 5), (12, 3))

# Positions, of both parts.
NOTHING = [[], []]


def set_of(positions, before, headers, **more):
    sections = b"".join(section(part, *SHAPES[part], by_block(of, SHAPES[part][0]))
                        for part, of in enumerate(positions) if of)
    return patch(sections, sum(map(len, positions)), to_sum=sum_of(changed(before, positions, False), headers), **more)


def flip_of(positions, before, headers, **more):
    sections = b"".join(section(part, *SHAPES[part], by_block(of, SHAPES[part][0]), headers[part])
                        for part, of in enumerate(positions))
    return patch(sections, sum(map(len, positions)), kind=2, start=EPOCH - 500, end=EPOCH, from_sum=sum_of(before, headers),
                 to_sum=sum_of(changed(before, positions, True), headers), **more)


def patches():
    """name, word, bytes, positions."""
    old, new = pair_of_parts(0), pair_of_parts(6)
    before = [f.bits for f in old]
    headers = [bare(f) for f in new]
    lists = {
        "one_part": [[0, 511, 519, 2049, 2050, 2051], []],
        "second_part": [[], [8192, 12192, 12287]],
        "both_parts": [[0, 511, 519, 2049, 2050, 2051], [8192, 12192, 12287]],
        "nothing": NOTHING,
        "one_bit": [[1300], []],
        "last_bit": [[], [12287]],
        "whole_block": [[1536 + i for i in range(512)], []],
        "every_bit": [list(range(2560)), list(range(12288))],
    }
    for name, positions in lists.items():
        yield "set_" + name, "-", set_of(positions, before, headers), positions
        yield "flip_" + name, "-", flip_of(positions, before, headers), positions
    real = differences(before, [f.bits for f in new])
    yield "set_real", "-", set_of(real, before, headers), real
    yield "flip_real", "-", flip_of(real, before, headers), real
    touched = {0: [0, 511], 1: [7], 4: [1, 2, 3]}
    first, second = section(0, 9, 5, touched), section(1, 12, 3, {2: [0, 4000, 4095]})
    for name, width in ("other", 31), ("no", 0):
        yield "set_of_%s_widths" % name, "-", patch(
            section(0, 9, 5, touched, widths=(width, width)), 6,
            to_sum=sum_of(changed(before, lists["one_part"], False), headers)), lists["one_part"]
    sound = patch(first + second, 9)
    yield from exact_patches()
    refused = (
        ("empty", "short", b""),
        ("cut_in_header", "short", sound[:87]),
        ("filter", "magic", patch(first, 6, magic=b"BLMF")),
        ("later_version", "version", patch(first, 6, version=2)),
        ("cut_in_section", "length", sound[:-1]),
        ("longer", "length", sound + b"\0"),
        ("other_length", "length", patch(first, 6, length=4096)),
        ("bit_flipped", "checksum", flipped(sound, 95, 4)),
        ("serial_flipped", "checksum", flipped(sound, 40, 4)),
        ("sum_flipped", "checksum", flipped(sound, 56, 4)),
        ("zero_bytes", "header", patch(first, 6, zero=1)),
        ("no_kind", "header", patch(first, 6, kind=0)),
        ("third_kind", "header", patch(first, 6, kind=3)),
        ("no_epoch", "header", patch(first, 6, epoch=0)),
        ("before_epoch", "header", patch(first, 6, start=EPOCH - 1)),
        ("to_is_from", "header", patch(first, 6, end=EPOCH)),
        ("set_with_from_sum", "header", patch(first, 6, from_sum=1)),
        ("flip_to_no_epoch", "header", patch(b"", 0, kind=2, start=EPOCH - 500, end=EPOCH + 1)),
        ("flip_from_nothing", "header", patch(b"", 0, kind=2, start=0, end=EPOCH)))
    for name, word, data in refused:
        yield name, word, data, NOTHING
    yield from broken_sections(first, second)
    yield from broken_flips(headers)


def broken_sections(first, second):
    bits = rice(0, 0) + rice(0, 0)
    one = heading(0, 9, 5, 1, 0, 0)
    broken = {
        "section_cut": (first[:-1], 6),
        "byte_behind": (first + b"\0", 6),
        "parts_fall": (second + first, 9),
        "part_twice": (first + first, 12),
        "no_such_part": (section(2, 9, 5, {0: [1]}), 1),
        "part_beyond": (varint(70000) + first[1:], 6),
        "other_block_bits": (section(0, 10, 5, {0: [1]}), 1),
        "other_blocks": (section(0, 9, 6, {0: [1]}), 1),
        "nothing_touched": (section(0, 9, 5, {}), 0),
        "more_touched_than_blocks": (heading(0, 9, 5, 6, 0, 0) + bytes(100), 1),
        "block_beyond": (section(0, 9, 5, {5: [1]}), 1),
        "gap_width": (heading(0, 9, 5, 1, 32, 0) + bytes(100), 1),
        "count_width": (heading(0, 9, 5, 1, 0, 32) + bytes(100), 1),
        "level_0": (heading(0, 9, 5, 1, 0, 0, level=0) + packed(bits + block_bits([1], 9)), 1),
        "level_2": (heading(0, 9, 5, 1, 0, 0, level=2) + packed(bits + block_bits([1], 9)), 1),
        "position_beyond": (one + packed(bits + rice(512, width_for(512, 2))), 1),
        "second_position_beyond": (one + packed(rice(0, 0) + rice(1, 0) + rice(511, width_for(512, 3)) + rice(0, width_for(512, 3))), 2),
        "count_of_a_block_and_one": (one + packed(rice(0, 0) + rice(512, 0) + [0] * 600), 513),
        "rest_is_not_zero": (one + packed(bits + block_bits([1], 9) + [1]), 1),
        "run_of_gaps": (one + b"\xff" * 1000, 1),
        "run_of_counts": (one + packed([0] + [1] * 8000), 1),
        "run_of_positions": (one + packed(bits + [1] * 8000), 1),
        "run_without_end": (one + b"\xff", 1),
        "no_bits": (one, 1),
        "varint_of_six": (varint(0) + b"\1\x09" + b"\x85\x80\x80\x80\x80\x00" + first[4:], 6),
        "varint_beyond": (varint(0) + b"\1\x09" + varint(1 << 32) + first[4:], 6),
        "positions_too_many": (first, 7),
        "positions_too_few": (first, 5),
    }
    for name, (sections, positions) in broken.items():
        yield name, "section", patch(sections, positions), NOTHING


def broken_flips(headers):
    def with_header(header):
        return section(0, 9, 5, {0: [1]}, header) + second
    second = section(1, 12, 3, {}, headers[1])
    broken = {
        "of_one_part": section(0, 9, 5, {0: [1]}, headers[0]),
        "of_no_part": b"",
        "without_first_part": second,
        "of_damaged_header": with_header(v.patched(headers[0], 5, b"\x28")),
        "of_later_header": with_header(v.patched(headers[0], 4, b"\2")),
        "of_the_other_header": with_header(headers[1]),
        "of_header_with_bits": with_header(pair_of_parts(0)[0].to_bytes()[:64]),
        "without_header": section(0, 9, 5, {0: [1]}) + second,
    }
    for name, sections in broken.items():
        positions = 0 if name in ("of_no_part", "without_first_part") else 1
        yield "flip_" + name, "section", patch(sections, positions, kind=2, start=EPOCH - 500, end=EPOCH), NOTHING


# Exact parts: a flip alone, with a section for each part and level; positions count from the part's first byte on.

LEVELS = ((4, 9, 3, 120), (3, 10, 1, 60), (12, 9, 1, 20))


def exact_pair(added, levels=LEVELS):
    return [e.Exact("exact", levels, part=part, parts=2, planned=300).build(
        e.in_part(v.numbers(1 + added, 200), 0, part, 2), e.in_part(v.numbers(1000, 600), 0, part, 2))
        for part in range(2)]


def level_section(part, level, positions, shapes=LEVELS, front=b""):
    _, log2_block_bits, blocks, _ = shapes[level]
    made = section(part, log2_block_bits, blocks, by_block(positions, log2_block_bits), front)
    return made[:1] + bytes([level + 1]) + made[2:]


def level_sections(old, new, shapes=LEVELS):
    return [[level_section(part, level, differences([a.bits], [b.bits])[0], shapes, b"" if level else new[part].to_bytes()[:128])
             for level, (a, b) in enumerate(zip(old[part].levels, new[part].levels))] for part in range(2)]


def exact_positions(old, new):
    every = differences(*([f.to_bytes() for f in side] for side in (old, new)))
    return [[position for position in of if position >= 8 * 128] for of in every]


def exact_patches():
    old, new, larger = exact_pair(0), exact_pair(20), LEVELS[:2] + ((12, 9, 2, 20),)

    def flip(sections, positions=0, state=old):
        return patch(b"".join(b"".join(part) for part in sections), positions, kind=2, start=EPOCH - 500, end=EPOCH,
                     from_sum=sum_of([f.to_bytes() for f in old]), to_sum=sum_of([f.to_bytes() for f in state]))

    def first(front):
        return level_section(0, 0, [], front=front)
    positions = exact_positions(old, new)
    yield "exact_flip", "-", flip(level_sections(old, new), sum(map(len, positions)), new), positions
    yield "exact_flip_nothing", "-", flip(level_sections(old, old)), NOTHING
    (one, two, three), second = level_sections(old, old)
    broken = {
        "exact_set": patch(level_section(0, 0, [1]), 1),
        "exact_set_of_nothing": patch(b"", 0),
        "exact_levels_missing": flip([[one], second]),
        "exact_last_level_missing": flip([[one, two], second]),
        "exact_first_level_missing": flip([[two, three], second]),
        "exact_part_missing": flip([[one, two, three]]),
        "exact_levels_swapped": flip([[one, three, two], second]),
        "exact_level_twice": flip([[one, two, two, three], second]),
        "exact_fourth_level": flip([[one, two, three, three[:1] + b"\4" + three[2:]], second]),
        "exact_level_of_other_blocks": flip([[one, two, level_section(0, 2, [], larger)], second]),
        "exact_other_directory": flip([[first(exact_pair(0, larger)[0].to_bytes()[:128]), two, three], second]),
        "exact_damaged_directory": flip([[first(flipped(old[0].to_bytes()[:128], 64, 1)), two, three], second]),
        "exact_directory_cut": flip([[one[:100]]]),
        "exact_to_plain": flip([[first(bare(v.Filter("plain", k=4, log2_block_bits=9, blocks=3, part=0, parts=2)))], second]),
        "exact_of_the_other_part": flip([[first(old[1].to_bytes()[:128]), two, three], second]),
    }
    for name, data in broken.items():
        yield name, "section", data, NOTHING


def patches_rows():
    yield ("#name", "word", "headers_hex", "before_hex", "patch_hex", "positions")
    old, exact = pair_of_parts(0), exact_pair(0)
    headers = [bare(f) for f in old], [f.to_bytes()[:128] for f in exact]
    before = [f.bits for f in old], [f.to_bytes() for f in exact]
    for name, word, data, positions in patches():
        which = name.startswith("exact")
        yield (name, word, ",".join(header.hex() for header in headers[which]),
               ",".join(bytes(part).hex() for part in before[which]) if word == "-" else "-", data.hex(), listed(positions))

# ---------------------------------------------------------------- page 0


def content(serial, total, mark):
    return struct.pack("<3Q", serial, total, mark) + hashlib.sha256(b"%d" % mark).digest()


def padded(data):
    return data + bytes(-len(data) % 4096)


def page(filters, body, total, place=(BOOT, 77, 88), born=EPOCH + 1, now=EPOCH + 9, saved=None, superseded=0,
         magic=b"BLML", version=2, length=None, parts=None, zero=b"", name=b"public.users_filter",
         checksum_off=0, changes=4, true_at=EPOCH + 8, looked=0, reason=b"", message=b"",
         log2_slots=0, table=(0, 0, 0, 0)):
    head = magic + struct.pack("<IQIIQ", version, 4096 + len(body) if length is None else length,
                               len(filters) if parts is None else parts, log2_slots, EPOCH) + IDENTITY
    head += place[0] + struct.pack("<2Q", *place[1:])
    head += content(born, total, born) + name
    head += bytes(352 - len(head)) + zero
    head += bytes(504 - len(head))
    head += struct.pack("<Q", v.xxh64(head, 0) ^ checksum_off)
    now_content = content(now, total, now + 1)
    what = struct.pack("<Q", changes) + now_content[:16] + struct.pack("<Q", true_at) + now_content[16:]
    head += what + bytes(600 - 512 - len(what)) + struct.pack("<5Q", superseded, *table)
    head += bytes(1024 - len(head))
    if saved is not None:
        head += content(saved, total, saved)
        head += struct.pack("<Q", v.xxh64(head[1024:1080] + struct.pack("<2Q", EPOCH, place[2]), 0))
    head += bytes(1536 - len(head))
    head += struct.pack("<7Q16s256s", looked, 0, 0, 1000000, 20000000, 0, EPOCH + 2, reason, message)
    head += bytes(4096 - len(head))
    return head + body


WHO_FIELDS = (("magic", 0, "magic"), ("version", 4, "version"), ("version", 7, "version"), ("length", 8, "length"),
              ("length", 15, "length"), ("parts", 18, "who"), ("zero", 20, "who"), ("zero", 23, "who"),
              ("behind_name", 350, "who"), ("behind_name", 351, "who"), ("zero", 352, "who"), ("zero", 503, "who"))

HEADER_FIELDS = (("magic", 0, b"C"), ("version", 4, b"\3"), ("no_probes", 5, b"\0"), ("33_probes", 5, b"\x21"),
                 ("block_bits_8", 6, b"\x08"), ("block_bits_17", 6, b"\x11"), ("key_type", 7, b"\x0e"),
                 ("no_columns", 7, bytes([v.ROW])), ("columns", 49, b"\1"), ("columns", 51, b"\x10"), ("no_blocks", 8, bytes(4)),
                 ("more_blocks", 8, b"\xff" * 4), ("part", 12, b"\1"), ("no_parts", 14, b"\0"), ("two_parts", 14, b"\2"),
                 ("no_n", 24, bytes(8)), ("n", 31, b"\x80"), ("no_p", 32, bytes(8)), ("p", 32, struct.pack("<d", 1.0)),
                 ("p_nan", 32, struct.pack("<d", float("nan"))), ("bits_set", 40, b"\1"), ("bits_set", 47, b"\x80"),
                 ("hash", 48, b"\2"), ("checksum", 56, b"\1"), ("checksum", 63, b"\1"))


def pages():
    """name, word, where the reader stands, filters, bytes."""
    one = [v.Filter("one", seed=7).add(v.INTEGER, [v.int64_bytes(i) for i in (1, 2, 3, 4, 5)])]
    pair = [v.Filter("pair", seed=7, blocks=70, part=i, parts=2) for i in (0, 1)]
    for i in range(1, 9):
        key = v.int64_bytes(i)
        pair[v.part_of(v.xxh64(key, 7), 2)].add(v.INTEGER, [key])

    def body_of(filters):
        data = [lying(f) for f in filters]
        return b"".join(padded(part) for part in data[:-1]) + data[-1]

    def file(filters=one, data=None, **more):
        return page(filters, body_of(filters) if data is None else data, sum_of_parts(filters), **more)

    def of_one(at, value, **more):
        return file(data=with_fields(lying(one[0]), at, value), **more)
    nobody = (bytes(16), 0, 0)
    sound = file()
    yield "here", "-", "here", one, sound
    yield "here_pair", "-", "here", pair, file(pair)
    yield "here_saved", "-", "here", one, file(saved=EPOCH + 5)
    yield "other_boot", "-", "boot", one, file()
    yield "other_boot_saved", "-", "boot", one, file(saved=EPOCH + 5)
    yield "other_boot_saved_pair", "-", "boot", pair, file(pair, saved=EPOCH + 5)
    yield "copy", "-", "copy", one, file(saved=EPOCH + 5)
    yield "other_device", "-", "device", one, file(saved=EPOCH + 5)
    yield "nobodys", "-", "nobody", pair, file(pair, place=nobody)
    yield "changing", "-", "here", one, file(changes=5)
    yield "long_name", "-", "copy", one, file(name=b"n" * 200)
    told = {"reason": b"no-look", "message": b"could not connect\x1b[2J \xc3\xa4\x7f"}
    longest = {"reason": b"r" * 16, "message": b"m" * 256}
    for where in ("here", "boot", "copy", "device", "nobody"):
        at = {"place": nobody} if where == "nobody" else {}
        yield "never_looked_" + where, "-", where, one, file(saved=EPOCH + 5, **at)
        yield "told_" + where, "-", where, one, file(looked=FUTURE, **told, **at)
        yield "told_much_" + where, "-", where, one, file(**longest, **at)
        yield "old_" + where, "-", where, one, file(looked=PAST, **at)
        yield "ahead_" + where, "-", where, one, file(looked=FUTURE, **at)
        yield "true_at_unknown_" + where, "-", where, one, file(true_at=0, **at)
    yield "empty", "short", "-", one, b""
    yield "cut_in_page", "short", "-", one, sound[:4095]
    yield "a_filter", "magic", "-", one, b"BLMX" + sound[4:]
    yield "version_1", "version", "-", one, file(version=1)
    yield "later_version", "version", "-", one, file(version=4)
    yield "checksum", "checksum", "-", one, file(checksum_off=1)
    yield "cut", "length", "-", one, sound[:-1]
    yield "longer", "length", "-", one, sound + b"\0"
    yield "promises_more", "length", "-", one, file(length=1 << 40)
    yield "not_zero", "who", "-", one, file(zero=b"\1")
    yield "no_parts", "who", "-", one, file(parts=0)
    yield "parts_beyond", "who", "-", one, file(parts=70000)
    yield "name_too_long", "who", "-", one, file(name=b"n" * 201)
    yield "name_in_two", "who", "-", one, file(name=b"n\0n")
    yield "one_part_too_many", "part", "-", one, file(parts=2)
    yield "one_part_too_few", "part", "-", pair, file(pair, parts=1)
    yield "part_damaged", "part", "-", one, file(data=v.patched(lying(one[0]), 5, b"\x28"))
    yield "part_with_40_probes", "part", "-", one, of_one(5, b"\x28")
    yield "part_beyond_the_end", "part", "-", one, file(data=bare(pair[0]) + bytes(64))
    yield "part_of_a_set", "part", "-", one, file(data=body_of(pair[:1]))
    yield "parts_swapped", "part", "-", pair, file(pair, data=body_of(pair[::-1]))
    for name, at, value in (("key_type", 7, 1 ^ 3), ("seed", 16, 7 ^ 3)):
        second = with_fields(lying(pair[1]), at, bytes([value]))
        yield "part_with_other_" + name, "part", "-", pair, file(pair, data=padded(body_of(pair[:1])) + second)
    yield "nobodys_damaged", "sum", "nobody", pair, flipped(file(pair, place=nobody), 4096 + 64 + 700, 1)
    for name, at, value in (("probes", 5, 7 ^ 3), ("key_type", 7, 1 ^ 3), ("seed", 16, 7 ^ 3)):
        yield "nobodys_with_other_" + name, "sum", "nobody", one, of_one(at, bytes([value]), place=nobody)
    row = with_fields(v.patched(lying(one[0]), 49, b"\3"), 7, bytes([v.ROW]))
    yield "nobodys_with_other_columns", "sum", "nobody", one, file(place=nobody, data=row)
    yield "nobodys_with_other_n_and_p", "-", "nobody", one, of_one(24, struct.pack("<Qd", 5, 0.5), place=nobody)
    exact = exact_pair(0)
    yield "exact_here", "-", "here", exact, file(exact)
    yield "exact_other_boot_saved", "-", "boot", exact, file(exact, saved=EPOCH + 5)
    yield "exact_copy", "-", "copy", exact, file(exact)
    yield "exact_nobodys", "-", "nobody", exact, file(exact, place=nobody)
    first, second = exact[0].to_bytes(), exact[1].to_bytes()
    yield "exact_cut", "part", "-", exact, file(exact, data=padded(first) + second[:-64])
    yield "exact_longer", "part", "-", exact, file(exact, data=padded(first) + second + bytes(64))
    yield "exact_parts_swapped", "part", "-", exact, file(exact, data=body_of(exact[::-1]))
    for at in (64, 65, 66, 71, 72, 80, 81, 82, 84, 88, 92, 100, 101, 102, 104, 108, 112, 120, 127):
        yield "exact_damaged_at_%d" % at, "part", "-", exact, file(exact, data=padded(flipped(first, at, 16)) + second)
    # A bit of each level, of a file wherever it is; and two, by which the number of bits is right.
    ends = [128 + sum(len(level.bits) for level in exact[0].levels[:n]) for n in (1, 2, 3)]
    for where in ("here", "boot", "copy", "nobody"):
        at = {"place": nobody} if where == "nobody" else {}
        for level, end in enumerate(ends, 1):
            yield "exact_%s_bit_of_level_%d" % (where, level), "part", where, exact, file(
                exact, data=padded(flipped(first, end - 1, 128)) + second, **at)
        place = next(i for i in range(128, ends[0]) if 0 < first[i] < 128)
        moved = v.patched(first, place, bytes([first[place] << 1]))
        yield "exact_%s_bit_moved" % where, "part", where, exact, file(exact, data=padded(moved) + second, **at)
    # Each field of who and of a plain part's header, with right checksums, on this side and on that of its end.
    for name, at, word in WHO_FIELDS:
        damaged = flipped(sound, at, 4)
        checksum = struct.pack("<Q", v.xxh64(damaged[:504], 0))
        yield "who_at_%d_%s" % (at, name), word, "-", one, v.patched(damaged, 504, checksum)
    for name, at, value in HEADER_FIELDS:
        yield "header_with_%s" % name, "part", "-", one, of_one(at, value)


def printable(field):
    return "".join(chr(byte) if 32 <= byte < 127 else "?" for byte in field.split(b"\0")[0])


def health(where, data):
    """true_at, reason and message that a reader there tells."""
    if where == "nobody" or len(data) < 4096:
        return "0", "", ""
    true_at, looked = (int.from_bytes(data[at:at + 8], "little") for at in (536, 1536))
    reason = printable(data[1592:1608]) or {PAST: "old", FUTURE: "clock"}.get(looked, "")
    return str(true_at if where == "here" else 0), reason, printable(data[1608:1864])


def pages_rows():
    yield ("#name", "word", "where", "told", "true_at", "reason", "message", "sum_hex", "file_hex", "keys")
    for name, word, where, filters, data in pages():
        keys = "1,2,3,4,5,6,7,8" if len(filters) == 2 else "1,2,3,4,5"
        saved = data[1024:1032] if data[1024:1032] != bytes(8) else data[80:88]
        told = {"here": data[520:528], "boot": saved}.get(where, data[80:88])
        yield (name, word, where, str(int.from_bytes(told, "little")) if word == "-" else "-", *health(where, data),
               "%016x" % sum_of_parts(filters), data.hex(), keys)

# ---------------------------------------------------------------- changes by day


def entry(key, version, value, hash_of=None, tag=None):
    """Of an integer; seed 7."""
    data = v.int64_bytes(key)
    hashed = v.xxh64(data, 7) if hash_of is None else hash_of
    return struct.pack("<Q", hashed) + (hashlib.sha256(data).digest()[:16] if tag is None else tag) + \
        struct.pack("<Q", version << 1 | value)


def hash_in(data):
    return struct.unpack("<Q", data[:8])[0]


def changes_file(entries, magic=b"BLMC", version=1, serial=EPOCH, count=None, zero=0, checksum_off=0):
    head = magic + struct.pack("<IQ", version, serial) + IDENTITY
    head += struct.pack("<3Q", len(entries) if count is None else count, zero, 0)
    body_of = b"".join(entries)
    return head + struct.pack("<Q", v.xxh64(head + body_of, 0) ^ checksum_off) + body_of


def changes_rows():
    yield ("#name", "word", "changes_hex")
    entries = sorted((entry(key, EPOCH + key, key & 1) for key in range(1, 40)), key=lambda e: (hash_in(e), e[8:24]))
    twins = [entry(5, 9, 1, tag=bytes(15) + b"\1"), entry(5, 8, 0, tag=bytes(14) + b"\1\0")]
    sound = changes_file(entries)
    yield "one", "-", changes_file([entry(42, EPOCH, 0)]).hex()
    yield "none", "-", changes_file([]).hex()
    yield "many", "-", sound.hex()
    yield "one_hash", "-", changes_file(twins).hex()
    yield "least_state", "-", changes_file([entry(42, 1, 0)]).hex()
    yield "greatest_state", "-", changes_file([entry(42, 2**63 - 1, 1)]).hex()
    for name, word, data in (
            ("empty", "short", b""),
            ("cut_in_header", "short", sound[:63]),
            ("patch", "magic", changes_file(entries, magic=b"BLMP")),
            ("later_version", "version", changes_file(entries, version=2)),
            ("cut", "length", sound[:-1]),
            ("longer", "length", sound + b"\0"),
            ("fewer_than_it_says", "length", changes_file(entries, count=40)),
            ("beyond", "length", changes_file(entries, count=2**20 + 1)),
            ("length_wraps", "length", changes_file(entries, count=2**59 + len(entries))),
            ("checksum", "checksum", changes_file(entries, checksum_off=1)),
            ("bit_flipped", "checksum", flipped(sound, 100, 1)),
            ("serial_flipped", "checksum", flipped(sound, 8, 1)),
            ("zero_bytes", "header", changes_file(entries, zero=1)),
            ("no_serial", "header", changes_file(entries, serial=0)),
            ("entries_fall", "entry", changes_file(entries[::-1])),
            ("entry_twice", "entry", changes_file(entries[:1] + entries[:1])),
            ("key_twice", "entry", changes_file([entry(42, 5, 1), entry(42, 6, 0)])),
            ("tags_fall", "entry", changes_file(twins[::-1])),
            ("no_state", "entry", changes_file([entry(42, 0, 0)])),
            ("state_1", "entry", changes_file([entry(42, 0, 1)]))):
        yield name, word, data.hex()


def table_of(entries, log2_slots=10, bits=0):
    """Entries in a table, in this order, and their bytes of bits behind them, which begin as bits."""
    slots = [bytes(32)] * (1 << log2_slots)
    bits = [bits] * len(slots)
    for data in entries:
        at = hash_in(data) >> 64 - log2_slots
        while slots[at] != bytes(32) and slots[at][:24] != data[:24]:
            at = (at + 1) % len(slots)
        slots[at] = data
        bits[hash_in(data) >> 64 - log2_slots] |= 1 << (hash_in(data) >> 61 - log2_slots & 7)
    return slots + [bytes(bits)]


def tables():
    """name, word, bytes, keys that are in, that are not, that are an error."""
    plain = [v.Filter("one", seed=7, blocks=70).add(v.INTEGER, [v.int64_bytes(i) for i in range(1, 9)])]
    exact = [e.Exact("exact", ((4, 9, 8, 60), (3, 9, 2, 20), (3, 9, 1, 20)), planned=90, seed=7).build(
        v.numbers(1, 8), v.numbers(9, 80))]
    absent = [key for key in range(100, 300) if not plain[0].may_contain(v.int64_bytes(key))]

    def file(table=(), filters=None, log2_slots=10, count=None, version=3, more=b"", **others):
        filters = plain if filters is None else filters
        used = [slot for slot in table[:-1] if slot != bytes(32)]
        data = lying(filters[0])
        data = padded(data) + b"".join(table) + more if table else data + more
        total = sum(v.xxh64(slot, 0) for slot in used) % 2**64
        return page(filters, data, sum_of_parts(filters), version=version, log2_slots=log2_slots,
                    table=(len(used) if count is None else count, 77, EPOCH + 500, total), **others)

    def at_end(hashed):
        return hashed | (1 << 64) - (1 << 54)
    first = absent[0]
    changed = [entry(1, 5, 0), entry(2, 5, 1), entry(first, 6, 1), entry(absent[1], 6, 0)]
    twins = [entry(3, 5, 0, tag=bytes(16)), entry(4, 5, 0, tag=b"\1" * 16), entry(4, 4, 0),
             entry(absent[2], 9, 1, tag=bytes(16))]
    # some that end the table, so that the next ones begin it
    wrapping = [entry(key, 9, 1, hash_of=at_end(v.xxh64(v.int64_bytes(key), 7))) for key in range(1000, 1004)]
    last = next(key for key in range(10000, 10**6) if v.xxh64(v.int64_bytes(key), 7) >> 54 == 1023)
    full = table_of([entry(key, 9, 1, hash_of=key << 54 | 5) for key in range(1, 1024)] + [entry(1, 7, 0)], bits=255)
    yield "no_table", "-", file(log2_slots=0, count=0), [1, 2, 8], [first], []
    yield "empty_table", "-", file(table_of([])), [1, 2, 8], [first], []
    yield "changed", "-", file(table_of(changed)), [2, 3, 8, first], [1, absent[1], absent[2]], []
    yield "not_counted", "-", file(table_of(changed), count=0), [1, 2, 8], [first], []
    yield "other_tags", "-", file(table_of(twins)), [3], [4, absent[2]], []
    yield "around_the_end", "-", file(table_of(wrapping + [entry(last, 3, 1), entry(1, 5, 0)])), [2, last], [1], []
    yield "full", "-", file(full), [], [1], [2, 3, first]
    yield "other_bits", "-", file(table_of(changed, bits=255)), [2, 3, 8, first], [1, absent[1], absent[2]], []
    yield "larger", "-", file(table_of(changed, 11), log2_slots=11), [2, 3, 8, first], [1, absent[1]], []
    yield "exact", "-", file(table_of([entry(1, 5, 0), entry(9, 5, 1)]), exact), [2, 3, 9], [1, 10, 11, 80], []
    yield "count_without_table", "-", file(log2_slots=0, count=1), [], [], [1, first]
    yield "version_2_with_table", "who", file(table_of(changed), version=2), [], [], []
    yield "too_few_slots", "who", file(table_of([], 9), log2_slots=9), [], [], []
    yield "too_many_slots", "who", file(log2_slots=23), [], [], []
    yield "table_missing", "part", file(log2_slots=10), [], [], []
    yield "table_cut", "part", file(table_of(changed)[:-1]), [], [], []
    yield "table_of_other_slots", "part", file(table_of(changed), log2_slots=11), [], [], []
    yield "longer", "part", file(table_of([]), more=bytes(32)), [], [], []


def tables_rows():
    yield ("#name", "word", "file_hex", "keys", "absent", "errors")
    for name, word, data, *keys in tables():
        yield (name, word, data.hex(), *(",".join(map(str, of)) or "-" for of in keys))

# ---------------------------------------------------------------- manifests


SEEDS = {"a": bytes(range(32)), "b": bytes(range(32, 64))}
KEY_IDS = {"a": b"keyAAAAA", "b": b"keyBBBBB"}


def secret_key(key):
    # Those who import this file sign nothing, and may lack the module.
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    return Ed25519PrivateKey.from_private_bytes(SEEDS[key])


def key_text(key):
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
    public = secret_key(key).public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    return base64.b64encode(b"Ed" + KEY_IDS[key] + public).decode()


def signature_line(text, key):
    signature = secret_key(key).sign(hashlib.blake2b(text).digest())
    outer = secret_key(key).sign(signature + b"bloomfilter-list 2")
    return b"signature %s %s\n" % (base64.b64encode(b"ED" + KEY_IDS[key] + signature),
                                   base64.b64encode(outer))


def manifest(changes=(), drop=(), add="", signers=(), tail=b""):
    blob = patch(section(0, 9, 5, {0: [0, 511], 1: [7], 4: [1, 2, 3]}), 6, start=EPOCH + 1000, end=EPOCH + 2000)
    values = {
        "name": "public.users_filter", "identity": "0f8fad5b-d9cb-469f-a165-70867728950e",
        "exporter": "5d9f6f3c1b2a4e70", "serial": str(EPOCH + 3000), "content": str(EPOCH + 2000),
        "epoch": str(EPOCH), "sum": "0123456789abcdef", "true_at": str(EPOCH + 2900),
        "poll": "10", "spread": "0", "heartbeat": "20", "expires": str(EPOCH + 86400000000),
        "parts": "1", "whole": "0 %d 384 %s" % (EPOCH, "ab" * 32),
        "patch": "set %d %d 100 %s" % (EPOCH, EPOCH + 1000, "cd" * 32),
        "patch2": "set %d %d %d %s" % (EPOCH + 1000, EPOCH + 2000, len(blob), hashlib.sha256(blob).hexdigest()),
        "inline": base64.b64encode(blob).decode(),
    }
    values.update(changes)
    lines = ["bloomfilter-list 2"]
    lines += ["%s %s" % (word.rstrip("2"), value) for word, value in values.items() if word not in drop]
    text = ("\n".join(lines) + "\n" + add).encode()
    return text + b"".join(signature_line(text, key) for key in signers) + tail


def patch_line(kind, start, end, length=100, digest="ce" * 32):
    return "%s %d %d %d %s" % (kind, EPOCH + start, EPOCH + end, length, digest)


def changes_line(start, end, entries=3, digest="ce" * 32):
    return "change %d %d %d %s" % (start and EPOCH + start, EPOCH + end, 64 + 32 * entries, digest)


def with_changes(*lines, entries=3, row="0123456789abcdef", content=EPOCH + 2000, **more):
    """A manifest of a list that is tracked."""
    text = "".join(line + "\n" for line in ("must-changes %s %s" % (row, entries),) + lines)
    return manifest({"content": str(content), "epoch": str(EPOCH + 2000), "whole": "0 %d 384 %s" % (content, "ab" * 32)},
                    drop=("patch", "patch2", "inline"), add=text, **more)


def inline_changes(entries=3):
    return "inline-changes " + base64.b64encode(bytes(64 + 32 * entries)).decode()


def rows_of_patches(*lines):
    """A manifest whose patches are these."""
    return manifest({"patch": "\npatch ".join(lines)}, drop=("patch2", "inline"))


def whole_files(*serials):
    """The values of a manifest of so many parts, each with its whole file of a serial."""
    lines = ["%d %d 384 %s" % (part, EPOCH + serial, "ab" * 32) for part, serial in enumerate(serials)]
    return {"parts": str(len(serials)), "whole": "\nwhole ".join(lines)}


def manifests():
    """name, verdict without a key, verdict with key a, bytes."""
    yield "unsigned", "-", "signature", manifest()
    yield "signed", "-", "-", manifest(signers="a")
    yield "signed_by_both", "-", "-", manifest(signers="ba")
    yield "signed_by_another", "-", "signature", manifest(signers="b")
    yield "changed_after_signing", "-", "signature", manifest(signers="a").replace(b"poll 10", b"poll 11")
    yield "line_behind_signature", "line", "line", manifest(signers="a", tail=b"poll 1\n")
    yield "note", "-", "-", manifest(add="# .....\n", signers="a")
    yield "unknown_word", "-", "-", manifest(add="colour blue\n", signers="a")
    yield "must_word", "must", "must", manifest(add="must-know x\n", signers="a")
    yield "no_patches", "-", "-", manifest({"content": str(EPOCH)}, drop=("patch", "patch2", "inline"), signers="a")
    yield "no_inline", "-", "-", manifest(drop=("inline",), signers="a")
    yield "no_heartbeat_no_expires_no_rate_no_true_at", "-", "-", manifest(
        drop=("heartbeat", "expires", "true_at"), signers="a")
    yield "longest_waits", "-", "-", manifest({"poll": "3600", "spread": "3600", "heartbeat": "3600"}, signers="a")
    yield "name_of_other_languages", "-", "-", manifest({"name": "\u7528\u6237.\u05de\u05e9\u05ea\u05de\u05e9\u05d9\u05dd"}, signers="a")
    good = {
        "flip": rows_of_patches(patch_line("flip", -500, 0), patch_line("set", 0, 2000)),
        "flip_alone": manifest({"content": str(EPOCH), "patch": patch_line("flip", -500, 0)}, drop=("patch2", "inline")),
        "older_epochs": rows_of_patches(patch_line("set", -9000, -8000), patch_line("flip", -8000, -5000),
                                        patch_line("set", -5000, -500), patch_line("flip", -500, 0),
                                        patch_line("set", 0, 2000)),
        "two_parts": manifest(whole_files(0, 0)),
        "largest_files": manifest({"whole": "0 %d %d %s" % (EPOCH, 2**40, "ab" * 32),
                                   "patch": patch_line("set", 0, 1000, 2**40)}),
    }
    good.update({
        "changes_none": with_changes(entries=0),
        "changes_one": with_changes(changes_line(0, 2500)),
        "changes_row": with_changes(changes_line(0, 2500), changes_line(2500, 2600, 1), changes_line(2600, 3000, 100), entries=104),
        "changes_inline": with_changes(changes_line(0, 2500), changes_line(2500, 2600, 1), inline_changes(1), entries=3),
        "changes_of_before_the_content": with_changes(changes_line(0, 1000)),
        "changes_64": with_changes(*(changes_line(i, i + 1) for i in range(64))),
        "changes_most": with_changes(changes_line(0, 2500, 2**20), entries=2**20),
        "changes_largest_inline": with_changes(changes_line(0, 2500, 126), inline_changes(126), entries=126),
    })
    for name, data in good.items():
        yield name, "-", "signature", data
    bad = {
        "changes_of_no_row": manifest(add=changes_line(0, 1) + "\n"),
        "changes_inline_of_no_row": manifest(add=inline_changes() + "\n"),
        "changes_twice": with_changes("must-changes 0123456789abcdef 0", entries=0),
        "changes_with_a_set": manifest(add="must-changes 0123456789abcdef 0\n"),
        "changes_row_short": with_changes(changes_line(0, 2500), row="0123456789abcde"),
        "changes_row_upper": with_changes(changes_line(0, 2500), row="0123456789ABCDEF"),
        "changes_without_entries": manifest(add="must-changes 0123456789abcdef\n"),
        "changes_begin_late": with_changes(changes_line(1, 2500)),
        "changes_gap": with_changes(changes_line(0, 2500), changes_line(2501, 2600)),
        "changes_over_each_other": with_changes(changes_line(0, 2500), changes_line(2499, 2600)),
        "changes_backwards": with_changes(changes_line(0, 2500), changes_line(2500, 2500)),
        "changes_of_the_future": with_changes(changes_line(0, 3001)),
        "changes_of_nothing": with_changes(changes_line(0, 2500, 0), entries=0),
        "changes_more_than_files": with_changes(changes_line(0, 2500), entries=4),
        "changes_beyond": with_changes(changes_line(0, 2500, 2**20), changes_line(2500, 2600, 1)),
        "changes_65": with_changes(*(changes_line(i, i + 1) for i in range(65))),
        "changes_half_an_entry": with_changes(changes_line(0, 2500).replace(" 160 ", " 161 ")),
        "changes_digest_short": with_changes(changes_line(0, 2500, digest="ce" * 31)),
        "changes_inline_alone": with_changes(inline_changes(), entries=0),
        "changes_inline_of_another_length": with_changes(changes_line(0, 2500), inline_changes(2)),
        "changes_inline_twice": with_changes(changes_line(0, 2500), inline_changes(), inline_changes()),
        "changes_inline_beyond": with_changes(changes_line(0, 2500, 127), inline_changes(127)),
        "changes_inline_is_no_base64": with_changes(changes_line(0, 2500), "inline-changes ?"),
        "gap_between_patches": rows_of_patches(patch_line("set", 0, 1000), patch_line("set", 1001, 2000)),
        "patches_over_each_other": rows_of_patches(patch_line("set", 0, 1000), patch_line("set", 999, 2000)),
        "flip_to_another_epoch": rows_of_patches(patch_line("flip", -500, 1), patch_line("set", 1, 2000)),
        "flip_inside_the_epoch": rows_of_patches(patch_line("set", 0, 1000), patch_line("flip", 1000, 2000)),
        "older_set_without_flip": rows_of_patches(patch_line("set", -500, 0), patch_line("set", 0, 2000)),
        "set_over_the_epoch": rows_of_patches(patch_line("set", -500, 2000)),
        "patch_backwards": rows_of_patches(patch_line("set", 2000, 2000)),
        "patch_from_nothing": rows_of_patches(patch_line("flip", -EPOCH, 0), patch_line("set", 0, 2000)),
        "patches_end_early": rows_of_patches(patch_line("set", 0, 1000)),
        "no_patch_leads_on": rows_of_patches(patch_line("set", 1000, 2000)),
        "third_kind": rows_of_patches(patch_line("turn", 0, 2000)),
        "patch_short": rows_of_patches(patch_line("set", 0, 2000, 87)),
        "patch_beyond": rows_of_patches(patch_line("set", 0, 2000, 2**40 + 1)),
        "patch_without_digest": rows_of_patches(patch_line("set", 0, 2000)[:-65]),
        "patch_digest_short": rows_of_patches(patch_line("set", 0, 2000)[:-2]),
        "older_version": manifest().replace(b"bloomfilter-list 2", b"bloomfilter-list 1"),
        "later_version": manifest().replace(b"bloomfilter-list 2", b"bloomfilter-list 3"),
        "a_page": b"<!doctype html>\n",
        "nothing": b"",
        "no_newline_at_the_end": manifest()[:-1],
        "carriage_returns": manifest().replace(b"\n", b"\r\n"),
        "two_spaces": manifest({"poll": " 10"}),
        "zero_byte": manifest({"name": "a\0b"}),
        "control_character": manifest({"name": "a\tb"}),
        "escape": manifest({"name": "a\x1b[31mb"}),
        "second_control_character": manifest({"name": "a\x9b31mb"}),
        "other_direction": manifest({"name": "a\u202eb"}),
        "isolated_direction": manifest({"name": "a\u2066b"}),
        "line_separator": manifest({"name": "a\u2028b"}),
        "name_not_utf8": manifest().replace(b"users", b"\xff\xfe\xfd\xfc"),
        "name_overlong": manifest().replace(b"users", b"\xc0\xaf\xc0\xaf"),
        "name_surrogate": manifest().replace(b"users", b"\xed\xa0\x80aa"),
        "name_too_long": manifest({"name": "x" * 201}),
        "identity": manifest({"identity": "0f8fad5b-d9cb-469f-a165-7086772895"}),
        "identity_upper": manifest({"identity": "0F8FAD5B-D9CB-469F-A165-70867728950E"}),
        "exporter": manifest({"exporter": "5d9f"}),
        "leading_zero": manifest({"poll": "010"}),
        "minus": manifest({"poll": "-1"}),
        "too_large": manifest({"serial": str(2**63)}),
        "poll_beyond": manifest({"poll": "3601"}),
        "poll_of_none": manifest({"poll": "0"}),
        "poll_of_ages": manifest({"poll": str(10**18)}),
        "spread_beyond": manifest({"spread": "3601"}),
        "spread_of_ages": manifest({"spread": str(10**18)}),
        "heartbeat_beyond": manifest({"heartbeat": "3601"}),
        "heartbeat_of_ages": manifest({"heartbeat": str(10**18)}),
        "no_heartbeat_at_all": manifest({"heartbeat": "0"}),
        "no_sum": manifest(drop=("sum",)),
        "sum_short": manifest({"sum": "0123456789abcde"}),
        "sum_upper": manifest({"sum": "0123456789ABCDEF"}),
        "content_beyond_serial": manifest({"content": str(EPOCH + 3001)}),
        "epoch_beyond_content": manifest({"epoch": str(EPOCH + 2001)}),
        "no_serial": manifest(drop=("serial",)),
        "serial_twice": manifest(add="serial %d\n" % (EPOCH + 3000)),
        "inline_twice": manifest(add="inline QUFB\n"),
        "no_parts": manifest({"parts": "0"}),
        "more_parts_than_wholes": manifest({"parts": "2"}),
        "wholes_of_two_serials": manifest(whole_files(0, 1000)),
        "whole_of_another_part": manifest({"whole": "1 %d 384 %s" % (EPOCH, "ab" * 32)}),
        "whole_before_epoch": manifest({"whole": "0 %d 384 %s" % (EPOCH - 1, "ab" * 32)}),
        "whole_short": manifest({"whole": "0 %d 127 %s" % (EPOCH, "ab" * 32)}),
        "whole_beyond": manifest({"whole": "0 %d %d %s" % (EPOCH, 2**40 + 1, "ab" * 32)}),
        "digest_short": manifest({"whole": "0 %d 384 %s" % (EPOCH, "ab" * 31)}),
        "digest_upper": manifest({"whole": "0 %d 384 %s" % (EPOCH, "AB" * 32)}),
        "inline_is_no_base64": manifest({"inline": "?"}),
        "inline_without_padding": manifest({"inline": "AAA"}),
        "inline_of_odd_bits": manifest({"inline": "AAB="}),
        "inline_beyond": manifest({"inline": base64.b64encode(bytes(16385)).decode()}),
    }
    for name, data in bad.items():
        yield name, "line", "signature", data


def manifests_rows():
    yield ("#name", "word", "word_with_key", "key", "manifest_hex")
    for name, word, word_with_key, data in manifests():
        yield name, word, word_with_key, key_text("a"), data.hex()


def files():
    return [("pages.tsv", v.table(pages_rows())), ("patches.tsv", v.table(patches_rows())),
            ("changes.tsv", v.table(changes_rows())), ("tables.tsv", v.table(tables_rows())), ("manifests.tsv", v.table(manifests_rows()))]


if __name__ == "__main__":
    v.main(__doc__, files)
