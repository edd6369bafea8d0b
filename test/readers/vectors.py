"""Files of test/vectors, and others that don't change."""

import hashlib
import os
import struct

import readers
from readers import key
from suite import ALL, answers, check, error, expect, folder, follow, integers, listed, make_feed
from suite import new_path, only, opened, poke, rows, status, v, ways, write

# How a filter's file is opened, and by whom that is another way.
DOORS = ([], readers.COMMANDS), (["copy", "map"], ("python", "java", "go")), (["bytes"], readers.COMMANDS)


def columns_of(digits):
    data = bytes.fromhex(digits)
    while data:
        kind, length = struct.unpack_from("<BI", data)
        yield v.KIND_NAMES[kind], data[5:5 + length].hex()
        data = data[5 + length:]


def raw(row, digits):
    """A key of a row of the vectors, of its bytes; of filters without keys it is an integer."""
    if row["key_type"] == "15":
        return ":".join(["raw:row", *(name for name, _ in columns_of(digits))]) + " " + digits
    return f"raw:{v.KIND_NAMES[int(row['key_type']) or 1]} {digits}"


def shaped(row, bits, part):
    """A filter whose one block with bits is the row's."""
    log2, blocks = int(row["log2_block_bits"]), int(row["blocks"])
    columns = [v.KIND_NAMES.index(name) for name, _ in columns_of(row["key_hex"])] if row["key_type"] == "15" else ()
    front = v.HEADER.pack(b"BLMF", 1, int(row["k"]), log2, int(row["key_type"]), blocks, part, int(row["parts"]), int(row["seed"]),
                          50, 0.01, len(bits), 1, v.packed_columns(columns), 0, 0)
    front = front[:52] + struct.pack("<I", v.header_checksum_of(front)) + front[56:]
    path = write(front, size=64 + (blocks << (log2 - 3)))
    poke(path, 64 + (int(row["block"]) << (log2 - 3)), sum(1 << bit for bit in bits).to_bytes(1 << (log2 - 3), "little"))
    return path


def keys():
    """A filter in which the bits of a key are set, and nothing else, has it; without one of them it doesn't."""
    sizes = [int(row["blocks"]) << int(row["log2_block_bits"]) for row in rows("keys.tsv")]
    for number, (row, size) in enumerate(zip(rows("keys.tsv"), sizes)):
        what, asked, parts, part = row["sql"], raw(row, row["key_hex"]), int(row["parts"]), int(row["part"])
        bits = sorted(set(map(int, row["bits"].split(","))))
        # Node's reader is the library's C, and reads all of a file.
        of = ALL if number % 8 == 0 and size < 1 << 20 or number == sizes.index(max(sizes)) else only("python", "java", "go")
        fewer = [bit for bit in bits if bit != bits[number % len(bits)]]
        for some, where, wanted in [(bits, part, "1"), (fewer, part, "0"), (bits, part + 1, "PartError")][:2 if parts == 1 else 3]:
            opened(what, path := shaped(row, some, where % parts), "noverify", "map", of=of)
            expect(what, wanted, "ask", "f", asked, of=of)
            os.remove(path)
        if row["key_type"] == "15":
            expect(what, "row " + row["key_hex"], "key", "row " + " ".join(map(":".join, columns_of(row["key_hex"]))))


def told(row, size):
    """That info says what the row does, of the whole and of its one part; of an exact one how long it is."""
    if "n" not in row:
        return lambda _, answer: answer.split("\t")[12:14] == [str(size), "2"]
    name = v.KIND_NAMES[int(row["key_type"])] if row["columns"] == "-" else "row(%s)" % ", ".join(
        v.KIND_NAMES[int(column)] for column in row["columns"].split(","))
    wanted = [int(row["n"]), float(row["p"]), (int(row["seed"]) + 2**63) % 2**64 - 2**63, int(row["k"]), 1 << int(row["log2_block_bits"]),
              int(row["blocks"]), int(row["part"]), int(row["parts"]), name, int(row["bits_set"]), row["checksum_hex"], 8 * (size - 64), size, 1, 0,
              int(row["bits_set"]) / (8 * (size - 64))]
    return lambda reader, answer: all(
        type(value)(field) == value or reader.name == "node" and isinstance(value, int) and float(field) == float(value)
        for value, field in zip(wanted * 2, answer.split("\t"), strict=True))


SAMPLES = {"integer": "7", "text": "7", "bytea": "\\x07", "uuid": "00000000-0000-0000-0000-000000000007", "numeric": "7", "float": "7",
           "date": "2024-01-31", "timestamp": "2024-01-31 00:00:00", "timestamptz": "2024-01-31 01:00:00+01", "inet": "::7",
           "macaddr": "01:02:03:04:05:06", "row": "text:61 integer:0700000000000000"}
ANSWERS = {"keys": "1", "absent": "0", "false_positives": "1", "members_hex": "1", "others_hex": "0", "strangers_hex": "0"}


def filters():
    for row in rows("filters.tsv") + [row for row in rows("exact.tsv") if row["word"] == "-"]:
        what, data = row["name"], bytes.fromhex(row["filter_hex"])
        for door, names in DOORS if "n" in row else (*DOORS, (["noverify"], readers.COMMANDS)):
            of = only(*names)
            opened(what, write(data), *door, of=of)
            expect(what, told(row, len(data)), "info", "f", of=of)
            for column in ANSWERS.keys() & row.keys():
                some = listed(row[column])
                answers(what, ANSWERS[column] * len(some), *(raw(row, digits) for digits in some), of=of)
            for column in {"keys", "absent"} & row.keys():
                for digits in listed(row[column])[:1]:
                    expect(what, row[column.removesuffix("s") + "_explained"], "explain", "f", raw(row, digits), of=only("python"))
        if "n" in row:
            others(what, row)


def others(what, row):
    """Keys of other types and parts are errors, and no answers."""
    holds, parts = v.KIND_NAMES[int(row["key_type"])] if row["columns"] == "-" else "row", int(row["parts"])
    for kind, text in SAMPLES.items() if parts == 1 else ():
        if holds == "none":
            answers(what, "0", key(kind, text))
        elif kind != holds or kind == "row" and row["columns"] != "2,1":
            expect(what, "KeyTypeError", "ask", "f", key(kind, text))
            expect(what, error("KeyTypeError", index=0, text=f"bloomfilter holds {holds}"), "many", "f", key(kind, text))
    if parts > 1 and holds in ("none", "integer"):
        own = [v.part_of(v.xxh64(v.int64_bytes(i), int(row["seed"])), parts) == int(row["part"]) for i in range(100)]
        expect(what, lambda _, answer: [one != "PartError" for one in answer.split("\t")] == own, "ask", "f", *integers(range(100)))
        expect(what, error("PartError", index=own.index(False)), "many", "f", *integers(range(100)))


def invalid():
    for row in rows("invalid.tsv") + [row for row in rows("exact.tsv") if row["word"] != "-"]:
        rule, data = row.get("rule") or row["word"], bytes.fromhex(row["filter_hex"].replace("-", ""))
        path = write(data)
        for door, names in DOORS:
            text = f"unsupported format version {data[4]}" if rule == "version" else "" if door == ["bytes"] else path
            expect(row["name"], error("InvalidFilterError", rule, text=text), "open", "f", path, *door, of=only(*names))
        # what is beyond the blocks is refused without their check, too
        if "rule" in row and (rule != "bits_set" or struct.unpack_from("<Q", data, 40)[0] > 8 * len(data)):
            expect(row["name"], "ok" if rule == "checksum" else error("InvalidFilterError", rule), "open", "f", path, "noverify")


def texts():
    """Go and Java have values and no texts: their own parsers take other spellings."""
    made = dict.fromkeys(("java", "go"), 0)
    for row in rows("texts.tsv"):
        kind, text, wanted = row["type"], row["text"], row["key_hex"]

        def is_it(reader, answer):
            name, _, digits = answer.partition(" ")
            if wanted == "-":
                # a zero byte is in no text of PostgreSQL's, and the only thing that is UTF-8 and no text
                own = "00" in text if kind == "text" else kind != "numeric" or reader.name == "java"
                return not digits or reader.name in made and own
            if digits and wanted.startswith("xxh64:"):
                digits = "xxh64:%016x" % v.xxh64(bytes.fromhex(digits), 0)
            same = name == kind.replace("real", "float") and digits.replace("-", "") == wanted
            if reader.name in made:
                made[reader.name] += same
                # an address of Java's is never an IPv4-mapped one
                return same or answer in ("none", "KeyValueError") or reader.name == "java" and text.startswith("::ffff:")
            return same
        expect("texts.tsv", is_it, "key", f"hex:{kind} {text[4:]}" if text.startswith("hex:") else key(kind, text))
    for name, count in made.items():
        check(f"{name}: values give the bytes", count > 300, str(count))


# That no key has, by section 3 of FORMAT.md.
NO_KEYS = {
    "integer": (b"*\0\0\0", b"", bytes(7)), "uuid": (b"short", bytes(15)),
    "date": (b"1", bytes(7)), "timestamp": (bytes(7),), "timestamptz": (bytes(7),),
    "text": (b"\xff", b"\xc0\x80", b"\x80", b"\xc3", b"12345678\xc3", b"\xc1\xbf", b"\xe0\x9f\xbf", b"\xed\xa0\x80", b"\xf0\x8f\xbf\xbf",
             b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80", b"\xe2\x82", b"\xe2(\xa1", b"\xe2\x82(", b"1234567\xff90123456"),
    "numeric": tuple(text.encode() for text in (
        "1.50", "01", "-0", "", "1\n", "1e3", "nan", ".", "-", "1.", ".5", "+1", " 1", "1 ", "1E3", "0x10", "1,5", "1.2.3", "inf", "infinity", "-NaN",
        "+Infinity", "--1", "1-", "¹", "1.00", "001000", "-00.5", "-0.50", "-0.00", "0.0", "00", "-.5", "1.0")),
    "float": (bytes(7) + b"\x80", bytes(6) + b"\xf8\xff", b"\1" + bytes(5) + b"\xf8\xff"),
    "inet": (b"\4!\1\2\3\4", b"\5 \1\2\3\4", b"\4 \1\2\3"), "macaddr": (b"12345", b"1234567", b"abc\xff\xfeabc"),
    "row:text": (b"", b"\1", b"\2\1\0\0\0\xff", b"\2\2\0\0\0x", b"\2\2\0\0\0x ", b"\2\xff\xff\xff\xff"),
    "row:integer": (b"\1\xff\xff\xff\xffabcdefgh",), "row:row": (b"\x0f\0\0\0\0",), "row:none": (b"\0\0\0\0\0", b"\x0c\0\0\0\0"),
}


def no_keys():
    bad = [f"raw:{name} {data.hex()}" for name, some in NO_KEYS.items() for data in some]
    for asked in (*bad, "row ", "row " + "integer:0700000000000000 " * 7):
        # which of the two a row is says whether its columns or its bytes are wrong
        expect("no key", lambda _, answer: answer == "KeyValueError" or answer == "KeyTypeError" and "row" in asked, "key", asked)


def hostile():
    """Damaged and lying files, and what is none."""
    sound = v.Filter("sound", blocks=20, seed=77).add(v.INTEGER, [v.int64_bytes(i) for i in range(200)]).to_bytes()
    lying = sound[:8] + struct.pack("<I", 8388543) + sound[12:]
    lying = lying[:52] + struct.pack("<I", v.header_checksum_of(lying)) + lying[56:]
    before = {reader: reader.memory() for reader in ALL}
    for path in (write(lying), write(sound, size=17 << 30)):
        for door in ([], ["copy", "map"], ["noverify"]):
            expect("a size that is a lie", error("InvalidFilterError", "size"), "open", "f", path, *door)
    for reader in ALL:
        check(f"{reader.name}: a size that is a lie costs nothing", reader.memory() - before[reader] < 65536, str(before[reader]))
    # Of two broken rules the first one counts: the levels' bits come before the length.
    exact = next(bytes.fromhex(row["filter_hex"].replace("-", "")) for row in rows("exact.tsv") if row["word"] == "-")
    exact = exact[:92] + struct.pack("<Q", 1 << 40) + exact[100:]
    exact = exact[:120] + struct.pack("<Q", v.xxh64(exact[:56] + exact[64:120], 0)) + exact[128:-64]
    expect("a level of too many bits", error("InvalidFilterError", "bits_set"), "open", "f", write(exact))
    opened("a copy", path := write(sound), "copy", of=(of := only("python", "go", "node")))
    os.truncate(path, 0)
    answers("a copy outlives its file's content", "1", "integer 1", of=of)
    os.mkfifo(pipe := new_path())
    for path in (new_path(), "", folder.name, "/dev/null", "/dev/zero", pipe, "a\0b"):
        for door, _ in DOORS[:2]:
            expect("no file", lambda _, answer: answer != "ok", "open", "f", path, *door)


def text_filter(*members):
    opened("texts", write(v.Filter("texts", blocks=400).add(v.TEXT, [text.encode() for text in members]).to_bytes()))


def keys_of(texts):
    return [key("text", text) for text in texts]


def text_keys():
    """Blanks at the end are no part of a key; each other character counts, whatever it is and wherever it stands."""
    texts = ["", "ab", "größe", "12345678é", "€", "\ufeff", "\ud7ff", "\U00010000", "\U0010ffff", "\U0001f600", "x" * 31, "x" * 47, "x" * 300, "é" * 300, "€" * 257]
    text_filter(*texts)
    for text in texts:
        answers("blanks", "11111", *keys_of(text + " " * count for count in (0, 1, 7, 40, 300)))
        expect("blanks", f"text {text.encode().hex() or '-'}", "key", *keys_of([text + " "]))
    text_filter("a")
    answers("no blanks", "0" * 9, *keys_of((" a", "a\t", "a\r", "a\n", "a \t", "a\u00a0", "a\u2002", "a\u3000", "a\v ")))
    plain = [("abcdefghij" * 7)[:length] for length in range(70)]
    others = [text[:i] + "\u0161" + text[i + 1:] for text in plain for i in range(len(text) % 9)]
    for members, absent in ((plain, others), (others, plain)):
        text_filter(*members)
        answers("texts", "1" * len(members) + "0" * len(absent), *keys_of(members + absent))
    texts = [letter * length for length in (1, 15, 16, 47, 48, 49, 1000, 70000, 300000) for letter in ("é", "\U0001f600", "\ufeff")]
    text_filter(*texts)
    answers("long texts", "1" * len(texts), *keys_of(texts[::-1]))
    opened("a long key", write(v.Filter("bytes", blocks=20).add(v.BYTEA, [bytes(300000)]).to_bytes()))
    answers("a long key", "101", "raw:bytea " + "00" * 300000, "raw:bytea 61", "raw:bytea " + "00" * 300000)
    text_filter("a")
    asked, said = ["text a"] * 35 + ["integer 7"], error("KeyTypeError", index=35, text="bloomfilter holds text keys, not integer")
    expect("an error names its key", said, "many", "f", *asked, *asked, of=only("java", "go", "node"))
    expect("an error names its key", error("KeyValueError", index=2), "many", "f", "text a", "text a", "hex:text ff", of=only("go"))


def pages():
    for row in rows("pages.tsv"):
        what, where, numbers = row["name"], row["where"], listed(row["keys"])
        path = follow(bytes.fromhex(row["file_hex"].replace("-", "")), where)
        for _ in ways(what, path, row["word"]):
            wanted = {"message": row["message"]} if row["message"] or not row["reason"] else {}
            place = {"boot": "other boot", "device": "copy", "nobody": "none"}.get(where, where)
            expect(what, status(place=place, serial=int(row["told"]), true_at=int(row["true_at"]), reason=row["reason"], **wanted), "status", "f")
            answers(what, "1" * len(numbers), *integers(numbers))
            # those that an exact list knows and that are no members
            if what.startswith("exact"):
                answers(what, "0" * 600, *integers(range(1000, 1600)))
        if row["word"] == "sum":
            opened(what, path, "noverify")


def tables():
    for row in rows("tables.tsv"):
        what, data, numbers = row["name"], bytes.fromhex(row["file_hex"]), integers(range(100))
        for _ in ways(what, follow(data), row["word"]):
            expect(what, status(changes=struct.unpack_from("<Q", data, 608)[0]), "status", "f")
            for column, digit in (("keys", "1"), ("absent", "0")):
                for number in listed(row[column]):
                    answers(what, digit, f"integer {number}")
                    said = "change    false 5|" if (what, number) == ("changed", "1") else ""
                    said += "answer    " + ["false", "true"][int(digit)]
                    expect(what, lambda _, answer: answer.endswith(said), "explain", "f", f"integer {number}", of=only("python"))
            for number in listed(row["errors"]):
                expect(what, "ChangesError", "ask", "f", f"integer {number}")
                expect(what, error("ChangesError"), "many", "f", f"integer {number}")
            for reader in ALL if row["errors"] == "-" else ():
                seen = reader.ask("ask", "f", *numbers).replace("\t", "")
                check(f"{reader.name}: {what}: a batch", reader.ask("many", "f", *numbers) == seen, seen)


def changed_texts():
    """With blanks at their end, and without."""
    part = v.Filter("texts", seed=7, blocks=70).add(v.TEXT, [b"out"])
    changes = [make_feed.entry(0, version, value, v.xxh64(text, 7), hashlib.sha256(text).digest()[:16])
               for text, version, value in ((b"in", 7, 1), (b"out", 8, 0))]
    table = make_feed.padded(make_feed.lying(part)) + b"".join(make_feed.table_of(changes))
    path = follow(make_feed.page([part], table, make_feed.sum_of_parts([part]), version=3, log2_slots=10,
                                 table=(2, 77, make_feed.EPOCH + 500, sum(v.xxh64(change, 0) for change in changes) % 2**64)))
    for _ in ways("changed texts", path):
        answers("changed texts", "100001", *keys_of(("in", "out", "out  ", "neither", "  in", "in ")))


CASES = [no_keys, hostile, text_keys, keys, filters, invalid, texts, pages, tables, changed_texts]
