#!/usr/bin/env python3
"""Makes steps.tsv, working.tsv, lists.tsv and deltas.tsv, from sections 17 to 19 and 21 of FORMAT.md.

    python3 make_feed.py            # write the files
    python3 make_feed.py --check    # compare; exit 1 on a difference

It shares no code with the implementations, and needs nothing but Python.
"""

import base64
import hashlib
import os
import struct
import sys

import make_vectors as v

IDENTITY = bytes.fromhex("0f8fad5bd9cb469fa16570867728950e")
BOOT = bytes.fromhex("11111111222233334444555555555555")
EPOCH = 1795390000000000

# ---------------------------------------------------------------- steps


def varint(number):
    out = bytearray()
    while number >= 128:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def packed(positions, width):
    number = sum(position << (width * i) for i, position in enumerate(positions))
    return number.to_bytes((len(positions) * width + 7) // 8, "little")


def section(part, log2_block_bits, blocks, bits_set, touched):
    """touched: block number -> positions in the block."""
    out = varint(part) + bytes([log2_block_bits]) + varint(blocks) + varint(bits_set)
    out += varint(len(touched))
    next_block = 0
    for block in sorted(touched):
        positions = sorted(touched[block])
        out += varint(block - next_block) + varint(len(positions) - 1)
        out += packed(positions, log2_block_bits)
        next_block = block + 1
    return out


def step(sections, bits, start=EPOCH, end=EPOCH + 1000, epoch=EPOCH, version=1, zero=b"\0\0\0",
         magic=b"BLMS"):
    head = magic + bytes([version]) + zero + struct.pack("<Q", epoch) + IDENTITY
    head += struct.pack("<QQQ", start, end, bits)
    return head + struct.pack("<Q", v.xxh64(head + sections, 0)) + sections


# Parts 0 and 1 of a set as the steps have them: log2_block_bits and blocks.
GEOMETRY = ((9, 5), (12, 3))


def steps():
    first = section(0, 9, 5, 6, {0: [0, 511], 1: [7], 4: [1, 2, 3]})
    second = section(1, 12, 3, 3, {2: [0, 4000, 4095]})
    yield "one_part", "-", step(first, 6), "0:0,511,519,2049,2050,2051"
    yield "second_part", "-", step(second, 3), "1:8192,12192,12287"
    yield "both_parts", "-", step(first + second, 9), "0:0,511,519,2049,2050,2051;1:8192,12192,12287"
    yield "nothing", "-", step(b"", 0), "-"
    full = section(0, 9, 5, 512, {3: list(range(512))})
    yield "whole_block", "-", step(full, 512), "0:" + ",".join(str(1536 + i) for i in range(512))
    sound = step(first + second, 9)
    yield "empty", "short", b"", "-"
    yield "cut_in_header", "short", sound[:63], "-"
    yield "filter", "magic", step(first, 6, magic=b"BLMF"), "-"
    yield "later_version", "version", step(first, 6, version=2), "-"
    yield "cut_in_section", "checksum", sound[:-1], "-"
    yield "longer", "checksum", sound + b"\0", "-"
    yield "bit_flipped", "checksum", sound[:70] + bytes([sound[70] ^ 4]) + sound[71:], "-"
    yield "serial_flipped", "checksum", sound[:40] + bytes([sound[40] ^ 4]) + sound[41:], "-"
    yield "zero_bytes", "header", step(first, 6, zero=b"\0\1\0"), "-"
    yield "no_epoch", "header", step(first, 6, epoch=0), "-"
    yield "before_epoch", "header", step(first, 6, start=EPOCH - 1), "-"
    yield "to_is_from", "header", step(first, 6, end=EPOCH), "-"
    broken = {
        "section_cut": first[:-1],
        "byte_behind": first + b"\0",
        "parts_fall": second + first,
        "part_twice": first + first,
        "no_such_part": section(2, 9, 5, 1, {0: [1]}),
        "other_block_bits": section(0, 10, 5, 1, {0: [1]}),
        "other_blocks": section(0, 9, 6, 1, {0: [1]}),
        "nothing_touched": section(0, 9, 5, 0, {}),
        "block_beyond": section(0, 9, 5, 1, {5: [1]}),
        "more_touched": varint(0) + b"\x09" + varint(5) + varint(1) + varint(2) + first[5:8],
        "positions_fall": varint(0) + b"\x09" + varint(5) + varint(2) + varint(1) +
            varint(0) + varint(1) + packed([7, 3], 9),
        "position_twice": varint(0) + b"\x09" + varint(5) + varint(2) + varint(1) +
            varint(0) + varint(1) + packed([7, 7], 9),
        "rest_is_not_zero": varint(0) + b"\x09" + varint(5) + varint(1) + varint(1) +
            varint(0) + varint(0) + b"\x07\x02",
        "count_of_a_block_and_one": varint(0) + b"\x09" + varint(5) + varint(1) + varint(1) +
            varint(0) + varint(512) + bytes(577),
        "varint_of_six": varint(0) + b"\x09" + b"\x85\x80\x80\x80\x80\x00" + varint(1) + varint(1) +
            varint(0) + varint(0) + packed([7], 9),
        "varint_beyond": varint(0) + b"\x09" + varint(5) + varint(1 << 32) + varint(1) +
            varint(0) + varint(0) + packed([7], 9),
        "bits_set_beyond": section(0, 9, 5, 5 * 512 + 1, {0: [1]}),
        "bits_set_too_few": section(0, 9, 5, 1, {0: [1, 2]}),
    }
    for name, sections in broken.items():
        bits = {"parts_fall": 9, "part_twice": 12, "rest_is_not_zero": 1, "section_cut": 6,
                "byte_behind": 6}.get(name)
        if bits is None:
            bits = {"nothing_touched": 0, "count_of_a_block_and_one": 513, "positions_fall": 2,
                    "position_twice": 2, "bits_set_too_few": 2}.get(name, 1)
        yield name, "section", step(sections, bits), "-"
    yield "bits_too_many", "section", step(first, 7), "-"


def steps_rows():
    yield ("#name", "word", "geometry", "step_hex", "positions")
    geometry = ";".join("%d:%d" % pair for pair in GEOMETRY)
    for name, word, data, positions in steps():
        yield name, word, geometry, data.hex() or "-", positions

# ---------------------------------------------------------------- the working copy


def base_of(filters):
    return v.xxh64(b"".join(f.to_bytes()[56:64] for f in filters), 0)


def bare(f):
    """A filter's bytes without what depends on its number of bits."""
    data = bytearray(f.to_bytes())
    data[40:48] = bytes(8)
    data[56:64] = bytes(8)
    data[52:56] = struct.pack("<I", v.header_checksum_of(bytes(data)))
    return bytes(data)


def padded(data):
    return data + bytes(-len(data) % 4096)


def working(parts, base, boot=BOOT, serial=EPOCH + 5, superseded=0, magic=b"BLML", version=1,
            length=None, zero=b"", count=None, checksum_off=0):
    body = b"".join(padded(part) for part in parts[:-1]) + parts[-1]
    head = magic + struct.pack("<IQII", version, 4096 + len(body) if length is None else length,
                               len(parts) if count is None else count, 0)
    head += struct.pack("<Q", EPOCH) + IDENTITY + boot
    head += zero + bytes(120 - len(head) - len(zero))
    head += struct.pack("<Q", v.xxh64(head, 0) ^ checksum_off)
    head += struct.pack("<9Q", serial, base, EPOCH + 4, EPOCH + 6, 77, 0, superseded, 1000000, 0)
    return head + bytes(4096 - len(head)) + body


def working_copies():
    old = v.Filter("old", seed=7).add(v.INTEGER, [v.int64_bytes(i) for i in (1, 2, 3)])
    new = v.Filter("new", seed=7).add(v.INTEGER, [v.int64_bytes(i) for i in (1, 2, 3, 4, 5)])
    pair = [v.Filter("pair", seed=7, part=i, parts=2) for i in (0, 1)]
    newer = [v.Filter("pair", seed=7, part=i, parts=2) for i in (0, 1)]
    for i in range(1, 9):
        key = v.int64_bytes(i)
        part = v.part_of(v.xxh64(key, 7), 2)
        if i < 5:
            pair[part].add(v.INTEGER, [key])
        newer[part].add(v.INTEGER, [key])
    base = base_of([old])
    part = bare(new)
    sound = working([part], base)
    yield "one", "-", [old], sound
    yield "set", "-", pair, working([bare(f) for f in newer], base_of(pair))
    yield "no_bits", "-", [old], working([bare(old)], base)
    yield "left_over_boot", "file", [old], working([part], base, boot=bytes(15) + b"\1")
    yield "superseded", "file", [old], working([part], base, superseded=1)
    yield "other_base", "file", [old], working([part], base ^ 1)
    yield "short", "length", [old], sound[:100]
    yield "empty", "length", [old], b""
    yield "cut", "length", [old], sound[:-1]
    yield "longer", "length", [old], sound + b"\0"
    yield "promises_more", "length", [old], working([part], base, length=1 << 40)
    yield "a_filter", "magic", [old], new.to_bytes() + bytes(4096)
    yield "magic", "magic", [old], working([part], base, magic=b"BLMX")
    yield "later_version", "version", [old], working([part], base, version=2)
    yield "header_checksum", "header_checksum", [old], working([part], base, checksum_off=1)
    yield "not_zero", "header", [old], working([part], base, zero=b"\1")
    yield "no_parts", "header", [old], working([part], base, count=0)
    yield "parts_beyond", "header", [old], working([part], base, count=70000)
    yield "one_part_too_many", "part", [old], working([part], base, count=2)
    damaged = bytearray(part)
    damaged[5] = 40
    yield "part_damaged", "part", [old], working([bytes(damaged)], base)
    damaged[52:56] = struct.pack("<I", v.header_checksum_of(bytes(damaged)))
    yield "part_with_40_probes", "part", [old], working([bytes(damaged)], base)
    longer = bytearray(part)
    longer[8:12] = struct.pack("<I", 70000)
    longer[52:56] = struct.pack("<I", v.header_checksum_of(bytes(longer)))
    yield "part_beyond_the_end", "part", [old], working([bytes(longer)], base)
    yield "part_of_a_set", "part", [old], working([bare(newer[0])], base)
    yield "parts_swapped", "part", pair, working([bare(f) for f in reversed(newer)], base_of(pair))


def working_rows():
    """In 'boot' this: bytes 48 to 63 are to be replaced by this boot's, with the checksum."""
    yield ("#name", "word", "boot", "base_hex", "working_hex", "keys", "new_keys")
    for name, word, files, data in working_copies():
        boot = "this" if data[48:64] == BOOT else "other"
        keys = "1,2,3,4" if len(files) == 2 else "1,2,3"
        new = "5,6,7,8" if len(files) == 2 else "4,5"
        yield (name, word, boot, ",".join(f.to_bytes().hex() for f in files), data.hex() or "-",
               keys, "-" if name == "no_bits" else new)

# ---------------------------------------------------------------- deltas


def frame(blocks, window_log=17, magic=b"\x28\xb5\x2f\xfd"):
    """A frame of zstd (RFC 8878); of blocks: (0, bytes) as they are, (1, byte, times)."""
    out = magic + bytes([0, (window_log - 10) << 3])
    for i, block in enumerate(blocks):
        size = block[2] if block[0] else len(block[1])
        out += struct.pack("<I", (i == len(blocks) - 1) | block[0] << 1 | size << 3)[:3] + block[1]
    return out


def xor(old, new):
    return bytes(a ^ b for a, b in zip(old[64:], new[64:]))


def delta(old, new, payload=None, magic=b"BLMD", version=1, method=1, reserved=0, checksum_off=0,
          new_checksum_off=0, raw_off=0, header=None):
    payload = frame([(0, xor(old, new))]) if payload is None else payload
    out = magic + bytes([version, method]) + struct.pack("<H", reserved) + old[56:64]
    out += struct.pack("<Q", int.from_bytes(new[56:64], "little") ^ new_checksum_off)
    out += (new[:64] if header is None else header) + struct.pack("<Q", len(new) - 64 + raw_off) + payload
    return out + struct.pack("<Q", v.xxh64(out, 0) ^ checksum_off)


def deltas():
    """name, word, bytes of the old filter, delta, bytes of the new filter."""
    def of_keys(keys, seed=7):
        return v.Filter("delta", seed=seed).add(v.INTEGER, [v.int64_bytes(i) for i in keys]).to_bytes()

    old, new, empty = of_keys((1, 2, 3)), of_keys((3, 4, 5)), v.Filter("delta", seed=7).to_bytes()
    changed = xor(old, new)
    yield "keys_went_and_came", "-", old, delta(old, new), new
    yield "in_two_blocks", "-", old, delta(old, new, frame([(0, changed[:30]), (0, changed[30:])])), new
    yield "nothing_changed", "-", old, delta(old, old, frame([(1, b"\0", len(changed))])), old
    yield "to_an_empty_filter", "-", old, delta(old, empty), empty
    yield "from_an_empty_filter", "-", empty, delta(empty, new), new
    yield "largest_window", "-", old, delta(old, new, frame([(0, changed)], window_log=23)), new
    sound = delta(old, new)
    damaged = bytearray(new[:64])
    damaged[5] = 40
    flipped = bytes([changed[0] ^ 1]) + changed[1:]
    broken = {
        "empty": ("length", b""),
        "short": ("length", sound[:103]),
        "a_step": ("magic", delta(old, new, magic=b"BLMS")),
        "later_version": ("version", delta(old, new, version=2)),
        "method": ("method", delta(old, new, method=2)),
        "reserved": ("reserved", delta(old, new, reserved=1)),
        "checksum": ("checksum", delta(old, new, checksum_off=1)),
        "cut": ("checksum", sound[:-1]),
        "header": ("header", delta(old, new, header=bytes(damaged))),
        "new_checksum": ("header", delta(old, new, new_checksum_off=1)),
        "raw_length": ("payload", delta(old, new, raw_off=1)),
        "of_another_filter": ("base", delta(of_keys((1, 2)), new)),
        "of_its_result": ("base", delta(new, new)),
        "another_seed": ("geometry", delta(old, of_keys((3, 4, 5), seed=8))),
        "another_size": ("geometry", delta(old, v.Filter("delta", blocks=3, seed=7).to_bytes(), frame([(1, b"\0", 192)]))),
        "no_frame": ("payload", delta(old, new, b"")),
        "another_compression": ("payload", delta(old, new, frame([(0, changed)], magic=b"\x1f\x8b\x08\0"))),
        "frame_cut": ("payload", delta(old, new, frame([(0, changed)])[:-1])),
        "behind_the_frame": ("payload", delta(old, new, frame([(0, changed)]) + b"\0")),
        "two_frames": ("payload", delta(old, new, frame([(0, changed[:30])]) + frame([(0, changed[30:])]))),
        "payload_short": ("payload", delta(old, new, frame([(0, changed[:-1])]))),
        "payload_long": ("payload", delta(old, new, frame([(0, changed + b"\0")]))),
        "payload_very_long": ("payload", delta(old, new, frame([(1, b"\0", 1 << 17)] * 64))),
        "window_too_large": ("payload", delta(old, new, frame([(0, changed)], window_log=24))),
        "another_result": ("result", delta(old, new, frame([(0, flipped)]))),
        "nothing_of_it": ("result", delta(old, new, frame([(1, b"\0", len(changed))]))),
    }
    for name, (word, data) in broken.items():
        yield name, word, old, data, b""


def deltas_rows():
    yield ("#name", "word", "old_hex", "delta_hex", "new_hex")
    for name, word, old, data, new in deltas():
        yield name, word, old.hex(), data.hex() or "-", new.hex() or "-"

# ---------------------------------------------------------------- Ed25519 (RFC 8032)


P = 2**255 - 19
Q = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
BASE_Y = 4 * pow(5, P - 2, P) % P


def point_add(a, b):
    e = (a[1] - a[0]) * (b[1] - b[0]) % P
    f = (a[1] + a[0]) * (b[1] + b[0]) % P
    g = 2 * a[3] * b[3] * D % P
    h = 2 * a[2] * b[2] % P
    return ((f - e) * (h - g) % P, (h + g) * (f + e) % P, (h - g) * (h + g) % P, (f - e) * (f + e) % P)


def point_times(n, a):
    result = (0, 1, 1, 0)
    while n:
        if n & 1:
            result = point_add(result, a)
        a = point_add(a, a)
        n >>= 1
    return result


def base_point():
    x2 = (BASE_Y * BASE_Y - 1) * pow(D * BASE_Y * BASE_Y + 1, P - 2, P) % P
    x = pow(x2, (P + 3) // 8, P)
    if (x * x - x2) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if x & 1:
        x = P - x
    return (x, BASE_Y, 1, x * BASE_Y % P)


def compressed(a):
    inverse = pow(a[2], P - 2, P)
    return (a[1] * inverse % P | (a[0] * inverse % P & 1) << 255).to_bytes(32, "little")


def secret_scalar(seed):
    digest = hashlib.sha512(seed).digest()
    number = int.from_bytes(digest[:32], "little")
    return number & ((1 << 254) - 8) | 1 << 254, digest[32:]


def public_key(seed):
    return compressed(point_times(secret_scalar(seed)[0], base_point()))


def sign(seed, message):
    scalar, prefix = secret_scalar(seed)
    public = public_key(seed)
    r = int.from_bytes(hashlib.sha512(prefix + message).digest(), "little") % Q
    point = compressed(point_times(r, base_point()))
    h = int.from_bytes(hashlib.sha512(point + public + message).digest(), "little") % Q
    return point + ((r + h * scalar) % Q).to_bytes(32, "little")

# ---------------------------------------------------------------- manifests


SEEDS = {"a": bytes(range(32)), "b": bytes(range(32, 64))}
KEY_IDS = {"a": b"keyAAAAA", "b": b"keyBBBBB"}


def key_text(key):
    return base64.b64encode(b"Ed" + KEY_IDS[key] + public_key(SEEDS[key])).decode()


def signature_line(text, key):
    signature = sign(SEEDS[key], hashlib.blake2b(text).digest())
    outer = sign(SEEDS[key], signature + b"bloomfilter-list 1")
    return b"signature %s %s\n" % (base64.b64encode(b"ED" + KEY_IDS[key] + signature),
                                   base64.b64encode(outer))


def manifest(changes=(), drop=(), add="", signers=(), tail=b""):
    blob = step(section(0, 9, 5, 6, {0: [0, 511], 1: [7], 4: [1, 2, 3]}), 6,
                start=EPOCH + 1000, end=EPOCH + 2000)
    values = {
        "name": "public.users_filter", "identity": "0f8fad5b-d9cb-469f-a165-70867728950e",
        "exporter": "5d9f6f3c1b2a4e70", "serial": str(EPOCH + 3000), "content": str(EPOCH + 2000),
        "epoch": str(EPOCH), "built": str(EPOCH), "true_at": str(EPOCH + 2900), "poll": "10",
        "spread": "0", "expires": str(EPOCH + 86400000000), "rate": "0.00998", "parts": "1",
        "whole": "0 %d 384 %s" % (EPOCH, "ab" * 32),
        "step": "%d %d 100 %s" % (EPOCH, EPOCH + 1000, "cd" * 32),
        "step2": "%d %d %d %s" % (EPOCH + 1000, EPOCH + 2000, len(blob), hashlib.sha256(blob).hexdigest()),
        "inline": base64.b64encode(blob).decode(),
    }
    values.update(changes)
    lines = ["bloomfilter-list 1"]
    lines += ["%s %s" % (word.rstrip("2"), value) for word, value in values.items() if word not in drop]
    text = ("\n".join(lines) + "\n" + add).encode()
    return text + b"".join(signature_line(text, key) for key in signers) + tail


def delta_line(part=0, start=EPOCH - 2000, end=EPOCH, length=104):
    return "delta %d %d %d %d %s %s\n" % (part, start, end, length, "e%d" % part * 32, "f%d" % part * 32)


def chain_lines():
    return {
        "old-step": "old-step %d %d 100 %s\n" % (EPOCH - 9000, EPOCH - 5000, "dd" * 32),
        "middle": delta_line(start=EPOCH - 5000, end=EPOCH - 2000),
        "delta": delta_line(),
        "second": delta_line(part=1),
        "last-step": "old-step %d %d 100 %s\n" % (EPOCH - 2000, EPOCH, "dd" * 32),
    }


def manifests():
    """name, verdict without a key, verdict with key a, bytes."""
    yield "unsigned", "-", "signature", manifest()
    yield "signed", "-", "-", manifest(signers="a")
    yield "signed_by_both", "-", "-", manifest(signers="ba")
    yield "signed_by_another", "-", "signature", manifest(signers="b")
    flipped = manifest(signers="a").replace(b"poll 10", b"poll 11")
    yield "changed_after_signing", "-", "signature", flipped
    yield "line_behind_signature", "line", "line", manifest(signers="a", tail=b"poll 1\n")
    yield "note", "-", "-", manifest(add="# .....\n", signers="a")
    yield "unknown_word", "-", "-", manifest(add="colour blue\n", signers="a")
    yield "must_word", "must", "must", manifest(add="must-know x\n", signers="a")
    yield "no_steps", "-", "-", manifest({"content": str(EPOCH)}, drop=("step", "step2", "inline"), signers="a")
    yield "no_inline", "-", "-", manifest(drop=("inline",), signers="a")
    yield "no_expires_no_rate_no_true_at", "-", "-", manifest(drop=("expires", "rate", "true_at"), signers="a")
    chain = chain_lines()
    yield "delta", "-", "-", manifest(add=chain["delta"], signers="a")
    yield "delta_and_old_step", "-", "-", manifest(add=chain["old-step"] + chain["middle"] + chain["delta"], signers="a")
    two = {"parts": "2", "whole": "0 %d 384 %s\nwhole 1 %d 384 %s" % (EPOCH, "ab" * 32, EPOCH, "ac" * 32)}
    yield "deltas_of_two_parts", "-", "-", manifest(two, add=chain["delta"] + chain["second"], signers="a")
    bad = {
        "deltas_gap": manifest(add=chain["old-step"] + chain["delta"]),
        "deltas_in_the_wrong_order": manifest(add=chain["delta"] + chain["middle"]),
        "delta_to_another_epoch": manifest(add=chain["middle"]),
        "delta_to_its_base": manifest(add=delta_line(start=EPOCH)),
        "delta_from_nothing": manifest(add=delta_line(start=0)),
        "old_step_at_the_end": manifest(add=chain["last-step"]),
        "delta_of_a_part_that_there_is_not": manifest(add=chain["delta"] + chain["second"]),
        "delta_of_one_part_of_two": manifest(two, add=chain["delta"]),
        "delta_of_the_second_part_first": manifest(two, add=chain["second"] + chain["delta"]),
        "delta_of_one_part_twice": manifest(two, add=chain["delta"] * 2),
        "deltas_of_two_bases": manifest(two, add=chain["delta"] + delta_line(part=1, start=EPOCH - 1999)),
        "delta_short": manifest(add=delta_line(length=103)),
        "delta_beyond": manifest(add=delta_line(length=536870913)),
        "delta_without_result": manifest(add=chain["delta"][:-66] + "\n"),
        "delta_result_short": manifest(add=chain["delta"][:-3] + "\n"),
        "old_step_short": manifest(add=chain["old-step"].replace(" 100 ", " 63 ") + chain["middle"] + chain["delta"]),
        "old_step_with_result": manifest(add=chain["old-step"].replace("\n", " %s\n" % ("ef" * 32)) + chain["middle"] + chain["delta"]),
        "later_version": manifest().replace(b"bloomfilter-list 1", b"bloomfilter-list 2"),
        "a_page": b"<!doctype html>\n",
        "nothing": b"",
        "no_newline_at_the_end": manifest()[:-1],
        "carriage_returns": manifest().replace(b"\n", b"\r\n"),
        "two_spaces": manifest({"poll": " 10"}),
        "zero_byte": manifest({"name": "a\0b"}),
        "control_character": manifest({"name": "a\tb"}),
        "name_not_utf8": manifest().replace(b"users", b"\xff\xfe\xfd\xfc"),
        "name_too_long": manifest({"name": "x" * 201}),
        "identity": manifest({"identity": "0f8fad5b-d9cb-469f-a165-7086772895"}),
        "exporter": manifest({"exporter": "5d9f"}),
        "leading_zero": manifest({"poll": "010"}),
        "minus": manifest({"poll": "-1"}),
        "too_large": manifest({"poll": str(2**63)}),
        "content_beyond_serial": manifest({"content": str(EPOCH + 3001)}),
        "epoch_beyond_content": manifest({"epoch": str(EPOCH + 2001)}),
        "no_serial": manifest(drop=("serial",)),
        "serial_twice": manifest(add="serial 1\n"),
        "no_parts": manifest({"parts": "0"}),
        "more_parts_than_wholes": manifest({"parts": "2"}),
        "whole_of_another_part": manifest({"whole": "1 %d 384 %s" % (EPOCH, "ab" * 32)}),
        "whole_before_epoch": manifest({"whole": "0 %d 384 %s" % (EPOCH - 1, "ab" * 32)}),
        "whole_short": manifest({"whole": "0 %d 127 %s" % (EPOCH, "ab" * 32)}),
        "whole_beyond": manifest({"whole": "0 %d 536866817 %s" % (EPOCH, "ab" * 32)}),
        "digest_short": manifest({"whole": "0 %d 384 %s" % (EPOCH, "ab" * 31)}),
        "digest_upper": manifest({"whole": "0 %d 384 %s" % (EPOCH, "AB" * 32)}),
        "step_gap": manifest({"step": "%d %d 100 %s" % (EPOCH, EPOCH + 999, "cd" * 32)}),
        "step_backwards": manifest({"step": "%d %d 100 %s" % (EPOCH + 1000, EPOCH + 1000, "cd" * 32)}),
        "step_before_epoch": manifest({"step": "%d %d 100 %s" % (EPOCH - 1, EPOCH + 1000, "cd" * 32)}),
        "last_step_is_not_content": manifest(drop=("step2", "inline")),
        "inline_is_no_base64": manifest({"inline": "?"}),
        "rate_is_no_number": manifest({"rate": "often"}),
    }
    for name, data in bad.items():
        yield name, "line", "signature", data


def manifests_rows():
    yield ("#name", "word", "word_with_key", "key", "manifest_hex")
    for name, word, word_with_key, data in manifests():
        yield name, word, word_with_key, key_text("a"), data.hex() or "-"


def table(rows):
    return "".join("\t".join(row) + "\n" for row in rows).encode()


def main(arguments):
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    # RFC 8032, 7.1, TEST 1
    assert public_key(bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")) == \
        bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
    files = [("steps.tsv", table(steps_rows())), ("working.tsv", table(working_rows())),
             ("lists.tsv", table(manifests_rows())), ("deltas.tsv", table(deltas_rows()))]
    if not arguments:
        v.write(files)
        return 0
    messages = [message for message in (v.difference(*file) for file in files) if message]
    for message in messages:
        print(message.replace("make_vectors.py", "make_feed.py"), file=sys.stderr)
    print("%d passed, %d failed" % (len(files) - len(messages), len(messages)))
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
