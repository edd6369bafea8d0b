#!/usr/bin/python3
"""Make the golden files of the bloomfilter format, version 1.

This program is a second opinion.  It is written from doc/FORMAT.md, not from
the C code, and it uses nothing but Python and xxHash's own module (Debian:
python3-xxhash).  It is slow and simple on purpose: a mistake shared with a fast
implementation is less likely that way.

    make_vectors.py           write keys.tsv, filters.tsv and invalid.tsv
    make_vectors.py --check   compare with the files; exit 1 on a difference

The output is a pure function of this file: no clock, no random source other
than the fixed generator below, no dependence on locale or machine.
"""

import datetime
import decimal
import ipaddress
import math
import pathlib
import re
import struct
import sys
import uuid

from xxhash import xxh64_intdigest as xxh64

HERE = pathlib.Path(__file__).resolve().parent

MASK64 = 2**64 - 1
HEADER_SIZE = 64
CEILING = 512 * 1024 * 1024 - 4 * 1024
PROBE_MULTIPLIER = 0x9E3779B97F4A7C15
PART_MULTIPLIER = 0xD6E8FEB86659FD93
HEADER = struct.Struct("<4sBBBBIHHQQdQB3sIQ")

INTEGER, TEXT, BYTEA, UUID, NUMERIC, FLOAT = 1, 2, 3, 4, 5, 6
DATE, TIMESTAMP, TIMESTAMPTZ, INET, MACADDR, ROW = 7, 8, 9, 10, 11, 15

LAST = MACADDR              # that a column may be of

SEEDS = [0, 1, 2**63, 2**64 - 1, 0xDEADBEEFCAFEBABE]


# ---------------------------------------------------------------- fixed bytes


def scrambled(number):
    """A 64-bit value that looks random and depends on the number only."""
    x = (number * 6364136223846793005 + 1442695040888963407) & MASK64
    return (x ^ (x >> 29)) * 0xBF58476D1CE4E5B9 & MASK64


def scrambled_bytes(length, number):
    out = b""
    while len(out) < length:
        out += struct.pack("<Q", scrambled(number * 1000 + len(out)))
    return out[:length]


# ---------------------------------------------------------------- key bytes


def int64_bytes(value):
    """Two's complement, reduced mod 2^64."""
    return (value & MASK64).to_bytes(8, "little")


NEGATIVE_INFINITY = int64_bytes(-(2**63))
POSITIVE_INFINITY = int64_bytes(2**63 - 1)


def float_bytes(spelling):
    value = float(spelling)
    if math.isnan(value):
        return struct.pack("<Q", 0x7FF8000000000000)
    if value == 0:
        return bytes(8)
    return struct.pack("<d", value)


def real_bytes(spelling):
    """real is rounded to 32 bits by SQL, then widened."""
    return float_bytes(struct.unpack("<f", struct.pack("<f", float(spelling)))[0])


def numeric_bytes(spelling):
    value = decimal.Decimal(spelling)
    if value.is_nan():
        return b"NaN"
    if value.is_infinite():
        return b"-Infinity" if value < 0 else b"Infinity"
    if value == 0:
        return b"0"
    digits = format(value, "f")
    if "." in digits:
        digits = digits.rstrip("0").rstrip(".")
    return digits.encode("ascii")


def days_since_1970(year, month, day):
    """The year is astronomical: 1 BC is 0, 2 BC is -1.  Every 400 years are alike."""
    cycles, of_cycle = divmod(year - 1, 400)
    day = datetime.date(of_cycle + 1, month, day)
    return cycles * 146097 + (day - datetime.date(1970, 1, 1)).days


DATE_PATTERN = re.compile(
    r"(\d+)-(\d\d)-(\d\d)"
    r"(?: (\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?)?"
    r"(Z|[+-]\d\d(?::\d\d(?::\d\d)?)?)?"
    r"( BC)?$")


def zone_seconds(zone):
    """Seconds east of UTC."""
    if zone in (None, "Z"):
        return 0
    sign = -1 if zone[0] == "-" else 1
    parts = [int(part) for part in zone[1:].split(":")] + [0, 0]
    return sign * (parts[0] * 3600 + parts[1] * 60 + parts[2])


def parse_moment(spelling):
    """(days since 1970-01-01, microseconds of the day, seconds east)."""
    match = DATE_PATTERN.match(spelling)
    year, month, day = (int(match.group(i)) for i in (1, 2, 3))
    if match.group(9):
        year = 1 - year
    hour, minute, second = (int(match.group(i) or 0) for i in (4, 5, 6))
    micros = int((match.group(7) or "").ljust(6, "0"))
    of_day = ((hour * 60 + minute) * 60 + second) * 1000000 + micros
    return (days_since_1970(year, month, day), of_day,
            zone_seconds(match.group(8)))


def infinity_bytes(spelling):
    return {"infinity": POSITIVE_INFINITY,
            "-infinity": NEGATIVE_INFINITY}.get(spelling)


def date_bytes(spelling):
    return infinity_bytes(spelling) or int64_bytes(parse_moment(spelling)[0])


def timestamp_bytes(spelling):
    """For timestamp and timestamptz: a timestamp has no zone, so UTC."""
    if infinity_bytes(spelling):
        return infinity_bytes(spelling)
    days, of_day, east = parse_moment(spelling)
    return int64_bytes((days * 86400 - east) * 1000000 + of_day)


def inet_bytes(spelling):
    interface = ipaddress.ip_interface(spelling)
    return (bytes([interface.version, interface.network.prefixlen])
            + interface.ip.packed)


def macaddr_bytes(spelling):
    raw = bytes.fromhex(re.sub("[^0-9a-fA-F]", "", spelling))
    if len(raw) == 8 and raw[3:5] == b"\xff\xfe":
        return raw[:3] + raw[5:]
    return raw


def row_bytes(columns):
    """Of (key type, key bytes) of each column."""
    return b"".join(struct.pack("<BI", key_type, len(data)) + data
                    for key_type, data in columns)


# ---------------------------------------------------------------- the keys
#
# Each function returns a list of (key type, SQL expression, key bytes).


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def cast_keys(key_type, sql_type, to_bytes, spellings):
    return [(key_type, quoted(s) + "::" + sql_type, to_bytes(s)) for s in spellings]


def integer_keys():
    values = [0, 1, -1, 2, 42, -42, 127, -128, 128, 255, 256, 10000,
              32767, -32768, 32768, -32769, 65535, 65536, 1000000,
              2**31 - 1, -(2**31), 2**31, -(2**31) - 1, 2**32 - 1, 2**32,
              2**53, 2**53 + 1, -(2**53) - 1, 0x0102030405060708,
              10**18, 2**63 - 2, 2**63 - 1, -(2**63) + 1, -(2**63)]
    keys = []
    for value in values:
        number = str(value) if value >= 0 else "(%d)" % value
        for name, bits in (("smallint", 16), ("integer", 32), ("bigint", 64)):
            if -(2**(bits - 1)) <= value < 2**(bits - 1):
                keys.append((INTEGER, number + "::" + name,
                             int64_bytes(value)))
    return keys


TEXTS = [
    "", " ", "   ", "a", "A", "abc", "abc ", "abc   ", " abc", " a b ", "0", "42", "null", "NaN",
    "it's", "a\\b", "100%", "a,b", '"quoted"', "user@example.com",
    "https://example.com/a/b?c=d&e=f#g",
    "Gr\u00f6\u00dfe", "\u00e4\u00f6\u00fc\u00c4\u00d6\u00dc\u00df",
    # Composed and decomposed: two keys, for nothing is normalized.
    "\u00e9", "e\u0301", "\u00c5", "\u212b",
    "na\u00efve caf\u00e9", "\u0416\u0438\u0437\u043d\u044c",
    "\u03b1\u03b2\u03b3", "\u05e9\u05dc\u05d5\u05dd",
    "\u6f22\u5b57", "\u65e5\u672c\u8a9e\u306e\u30c6\u30ad\u30b9\u30c8",
    "\ud55c\uad6d\uc5b4", "\u20ac", "\ufeffabc", "\ufffd", "\uffff",
    "\U0001f600", "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "\U0001f1e9\U0001f1ea", "\U00010000", "\U0010ffff", "\u007f", "\u0080",
    # Only U+0020 is a blank, and only at the end: not no-break, en, ideographic space.
    "a\u00a0", "a \u00a0", "a\u00a0 ", "a\u2002", "a\u3000 ", "\u3000",
    "\u00e9 ", "\u20ac  ", "\U0001f600   ", "%s " % ("x" * 31), "y" * 47 + "  ",
    "z" * 300 + " " * 20, "\u00e9" * 300 + " " * 300, " " * 300,
]


def special_text_keys():
    """Spellings and types that share the text's key bytes."""
    return [
        (TEXT, "E'a\\tb'::text", b"a\tb"),
        (TEXT, "E'line\\nbreak\\r\\n'::text", b"line\nbreak\r\n"),
        (TEXT, "E'\\u00e9'::text", "\u00e9".encode("utf-8")),
        (TEXT, "'abc'::varchar", b"abc"),
        (TEXT, "'abc  '::varchar(10)", b"abc"),
        (TEXT, "'abc  '::varchar(10)::text", b"abc"),
        (TEXT, "'abc'::char(3)", b"abc"),
        (TEXT, "'abc'::char(10)", b"abc"),
        (TEXT, "'abc  '::char(10)", b"abc"),
        (TEXT, "' abc'::char(10)", b" abc"),
        (TEXT, "'\u00e4'::char(5)", "\u00e4".encode("utf-8")),
        (TEXT, "''::char(4)", b""),
        (TEXT, "'    '::char(4)", b""),
        (TEXT, "'abc'::name", b"abc"),
        (TEXT, "'abc '::name", b"abc"),
        (TEXT, "E'a\\t '::text", b"a\t"),
        (TEXT, "E'a \\t'::text", b"a \t"),
        (TEXT, "E'a \\r'::text", b"a \r"),
        (TEXT, "E'a \\n '::text", b"a \n"),
        (TEXT, "E' \\x0b'::text", b" \x0b"),
        (TEXT, "repeat('n', 63)::name", b"n" * 63),
        (TEXT, "repeat('0123456789', 100)::text", b"0123456789" * 100),
        (TEXT, "repeat('\u6f22', 333)::text", "\u6f22".encode("utf-8") * 333),
        # An enum label, whatever the enum is called.
        (TEXT, "-", b"an enum label"),
        # Valid UTF-8 that a PostgreSQL text cannot hold.
        (TEXT, "-", b"\x00"),
        (TEXT, "-", b"a\x00b"),
    ]


def text_bytes(text):
    """Without the blanks at the end."""
    return re.sub(" *$", "", text).encode("utf-8")


def text_of_length(length):
    alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    return "".join(alphabet[scrambled(length * 1000 + i) % len(alphabet)]
                   for i in range(length))


def text_keys():
    texts = TEXTS + [text_of_length(length) for length in range(1, 101)]
    return cast_keys(TEXT, "text", text_bytes, texts) + special_text_keys()


def bytea_keys():
    values = [b"", b"\x00", b"\xff", b"abc", b"\x00\x00", bytes(8), bytes(64),
              b"\xff" * 32, "\u00e9".encode("latin-1")]
    values += [scrambled_bytes(length, length) for length in range(1, 41)]
    values += [b" ", b"abc  "]
    values.append(bytes((i * 7 + 3) & 255 for i in range(1000)))
    return [(BYTEA, "'\\x%s'::bytea" % value.hex(), value) for value in values]


def uuid_keys():
    spellings = """00000000-0000-0000-0000-000000000000 ffffffff-ffff-ffff-ffff-ffffffffffff
        00112233-4455-6677-8899-aabbccddeeff 123e4567-e89b-12d3-a456-426614174000
        A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11 {a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}
        a0eebc999c0b4ef8bb6d6bb9bd380a11 01890a5d-ac96-774b-bcce-b302099a8057""".split()
    return cast_keys(UUID, "uuid", lambda s: uuid.UUID(s).bytes, spellings)


def numeric_keys():
    spellings = """0 0.0 -0 -0.00 1 1.0 1.00 1e0 10 100 1e3 1000 1000.000 -1 -1.50 -0.50 -.5 0.5 .5 0.1 0.10
        1e-3 0.001 1e-30 -1e-30 3.14159 42 42.0 9999 10000 10001 0.0001 0.00001 12345678.87654321
        100000000 99999999.99 1e40 -1e40 1.5e10 9223372036854775807 -9223372036854775808
        18446744073709551616 123456789012345678901234567890.123456789
        0.000000000000000000000000000000000000001234567890 NaN Infinity -Infinity""".split()
    return cast_keys(NUMERIC, "numeric", numeric_bytes, spellings) + [
        (NUMERIC, "1.50::numeric", b"1.5"),
        (NUMERIC, "'1.5'::numeric(10,2)", b"1.5"),
        (NUMERIC, "'1234'::numeric(10,4)", b"1234"),
        (NUMERIC, "(1.0 / 4)::numeric", b"0.25"),
        (NUMERIC, "('1' || repeat('0', 100))::numeric", b"1" + b"0" * 100),
        (NUMERIC, "repeat('9', 500)::numeric", b"9" * 500),
    ]


def float_keys():
    spellings = """0 -0 1 -1 0.5 -0.5 0.1 0.3 1.5 42 16777217 1e10 1e-10 123456.789 3.4028234663852886e38
        1.1754943508222875e-38 NaN Infinity -Infinity""".split()
    double_only = """1e308 -1e308 1.7976931348623157e308 2.2250738585072014e-308 5e-324 -5e-324 9007199254740993
        3.141592653589793""".split()
    keys = []
    for s in spellings:
        keys += cast_keys(FLOAT, "double precision", float_bytes, [s])
        keys += cast_keys(FLOAT, "real", real_bytes, [s])
    # Twice the smallest subnormal of real: a normal number once widened.
    return (keys + cast_keys(FLOAT, "double precision", float_bytes, double_only)
            + cast_keys(FLOAT, "real", real_bytes, ["3e-45"]))


DATES = ["1970-01-01", "1969-12-31", "1970-01-02", "2000-01-01", "1999-12-31",
         "2000-02-29", "1900-03-01", "2024-02-29", "2024-12-31", "2038-01-19",
         "1582-10-04", "1582-10-15", "0001-01-01", "9999-12-31", "10000-01-01",
         "0001-12-31 BC", "0044-03-15 BC", "0005-02-29 BC",
         "4714-11-24 BC"]


def date_keys():
    spellings = DATES + ["5874897-12-31", "infinity", "-infinity"]
    return cast_keys(DATE, "date", date_bytes, spellings)


def timestamp_keys():
    spellings = ["%s 00:00:00" % date for date in DATES if "BC" not in date]
    spellings += [
        "1970-01-01 00:00:00.000001", "1969-12-31 23:59:59.999999",
        "2024-02-29 12:34:56", "2024-02-29 12:34:56.5",
        "2024-02-29 12:34:56.500000", "2024-02-29 12:34:56.789012",
        "2023-12-31 24:00:00", "0044-03-15 12:00:00 BC",
        "0001-12-31 23:59:59.999999 BC", "4714-11-24 00:00:00 BC",
        # These two are next to 2^63 microseconds after 1970; later ones wrap.
        "294247-01-10 04:00:54.775806", "294247-01-10 04:00:54.775809",
        "294276-12-31 23:59:59.999999", "infinity", "-infinity"]
    return cast_keys(TIMESTAMP, "timestamp", timestamp_bytes, spellings)


def timestamptz_keys():
    spellings = [
        "1970-01-01 00:00:00Z", "1970-01-01 00:00:00+00",
        "1970-01-01 01:00:00+01", "1969-12-31 19:00:00-05",
        "1970-01-01 05:45:00+05:45", "1969-12-31 23:59:59.999999Z",
        "2000-01-01 00:00:00Z", "2024-02-29 12:34:56.789012+00",
        "2024-02-29 12:34:56.789012+14", "2024-02-29 12:34:56.789012-12",
        "2024-03-01 00:30:00+01", "2024-02-29 23:30:00Z",
        "2024-07-01 12:00:00+02", "2024-07-01 05:30:00-04:30",
        "1883-11-18 12:00:00-04:56:02", "0001-01-01 00:00:00Z",
        "0044-03-15 12:00:00+00 BC", "4714-11-24 00:00:00+00 BC",
        "294276-12-31 23:59:59.999999Z", "infinity", "-infinity"]
    summer = timestamp_bytes("2024-07-01 10:00:00Z")
    return cast_keys(TIMESTAMPTZ, "timestamptz", timestamp_bytes, spellings) + [
        (TIMESTAMPTZ, "'2024-07-01 12:00:00 Europe/Berlin'::timestamptz",
         summer),
        (TIMESTAMPTZ, "('2024-07-01 10:00:00'::timestamp "
         "AT TIME ZONE 'UTC')::timestamptz", summer),
    ]


def inet_keys():
    addresses = """0.0.0.0 255.255.255.255 127.0.0.1 10.0.0.1 10.0.0.1/32 10.0.0.1/8 10.0.0.0/8 192.168.1.5/24
        192.168.1.0/24 0.0.0.0/0 1.2.3.4/31 1.2.3.4/0 :: ::1 ::/0 2001:db8::1 2001:db8::1/64
        2001:db8::/64 ::ffff:1.2.3.4 ::ffff:1.2.3.4/96 fe80::1:2:3:4/10
        ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff""".split()
    networks = """10.0.0.0/8 192.168.1.0/24 10.0.0.1/32 10.0.0.1 0.0.0.0/0 2001:db8::/32 2001:db8::/64 ::/0
        ::1/128""".split()
    return cast_keys(INET, "inet", inet_bytes, addresses) + cast_keys(INET, "cidr", inet_bytes, networks)


def macaddr_keys():
    six = """00:00:00:00:00:00 ff:ff:ff:ff:ff:ff 08:00:2b:01:02:03 08-00-2B-01-02-03 0800.2b01.0203
        01:23:45:ff:fe:67 01:23:45:67:89:ab""".split()
    eight = """00:00:00:00:00:00:00:00 ff:ff:ff:ff:ff:ff:ff:ff 08:00:2b:01:02:03:04:05
        08:00:2b:ff:fe:01:02:03 08002bfffe010203 00:00:00:ff:fe:00:00:00 ff:ff:ff:ff:fe:ff:ff:ff
        08:00:2b:fe:ff:01:02:03 08:00:ff:fe:2b:01:02:03 08:00:2b:01:ff:fe:02:03
        08:00:2b:ff:ff:01:02:03 08:00:2b:ff:fd:01:02:03""".split()
    # PostgreSQL widens six bytes by putting FF FE in the middle.
    widened = "08:00:2b:01:02:03"
    return (cast_keys(MACADDR, "macaddr", macaddr_bytes, six)
            + cast_keys(MACADDR, "macaddr8", macaddr_bytes, eight + [widened])
            + cast_keys(MACADDR, "macaddr::macaddr8", macaddr_bytes, [widened]))


def row_keys():
    number = (INTEGER, "7::integer", int64_bytes(7))
    big = (INTEGER, "7::bigint", int64_bytes(7))
    short = (TEXT, "'x'::text", b"x")
    empty = (TEXT, "''::text", b"")
    no_bytes = (BYTEA, "'\\x'::bytea", b"")
    padded = (TEXT, "'x'::char(9)", b"x")
    blanks = (TEXT, "'x  '::text", b"x")
    only_blanks = (TEXT, "'   '::text", b"")
    blank_bytes = (BYTEA, "'\\x7820'::bytea", b"x ")
    # Keys that only their columns' lengths tell apart.
    ab_c = [(TEXT, "'ab'::text", b"ab"), (TEXT, "'c'::text", b"c")]
    a_bc = [(TEXT, "'a'::text", b"a"), (TEXT, "'bc'::text", b"bc")]
    # A text that holds the bytes of a column.
    forged = (TEXT, "E'\\x02\\x01'::text", b"\x02\x01")
    rows = [[number], [short], [empty], [no_bytes], [number, short],
            [big, short], [short, number], ab_c, a_bc, [empty, empty],
            [empty, no_bytes], [no_bytes, empty], [number] * 6, [short] * 6,
            [forged, short], [(TEXT, "'7'::text", b"7"), short],
            [number, padded], [blanks, number], [only_blanks, blanks],
            [blanks, blank_bytes]]
    # Every type in every column.
    one_of_each = [make()[1] for make in KEY_LISTS]
    for first in range(len(one_of_each)):
        rows.append([one_of_each[(first + i) % len(one_of_each)]
                     for i in range(1 + first % 6)])
    long_text = (TEXT, "repeat('0123456789', 100)::text", b"0123456789" * 100)
    rows += [[long_text, number], [number, long_text]]
    return [(ROW, "ROW(%s)" % ", ".join(sql for _, sql, _ in row),
             row_bytes((key_type, data) for key_type, _, data in row))
            for row in rows]


KEY_LISTS = [integer_keys, text_keys, bytea_keys, uuid_keys, numeric_keys,
             float_keys, date_keys, timestamp_keys, timestamptz_keys,
             inet_keys, macaddr_keys]


# ---------------------------------------------------------------- placement


def block_of(hash64, blocks):
    return hash64 * blocks >> 64


def probes_of(hash64, log2_block_bits, k):
    positions = []
    g = hash64
    for _ in range(k):
        g = g * PROBE_MULTIPLIER & MASK64
        positions.append(g >> (64 - log2_block_bits))
    return positions


def part_of(hash64, parts):
    mixed = hash64 ^ (hash64 >> 32)
    mixed = mixed * PART_MULTIPLIER & MASK64
    mixed ^= mixed >> 32
    return mixed * parts >> 64


def most_blocks(log2_block_bits):
    return (CEILING - HEADER_SIZE) // 2**(log2_block_bits - 3)


# ---------------------------------------------------------------- keys.tsv

KEYS_COLUMNS = ["#key_type", "sql", "key_hex", "seed", "hash_hex",
                "log2_block_bits", "blocks", "k", "block", "bits", "parts",
                "part"]


def keys_row(key, seed, log2_block_bits, blocks, k, parts):
    key_type, sql, data = key
    hash64 = xxh64(data, seed)
    bits = probes_of(hash64, log2_block_bits, k)
    return [key_type, sql, data.hex(), seed, "%016x" % hash64,
            log2_block_bits, blocks, k, block_of(hash64, blocks),
            ",".join(str(bit) for bit in bits), parts, part_of(hash64, parts)]


def rows_of_every_key():
    """Every key once, the other columns cycling with coprime periods."""
    rows = []
    for make in KEY_LISTS + [row_keys]:
        for key in make():
            i = len(rows)
            log2_block_bits = 9 + i % 8
            most = most_blocks(log2_block_bits)
            rows.append(keys_row(
                key, SEEDS[i % 5], log2_block_bits,
                [1, 3, 1000, most // 2 + 1, most][i // 3 % 5], 1 + i % 31,
                [1, 2, 3, 7, 1000, 65535][i // 2 % 6]))
    return rows


def bigint_key(value):
    return (INTEGER, "%d::bigint" % value, int64_bytes(value))


def rows_of_every_block_size():
    """Every block size with block counts from one to the largest."""
    rows = []
    for log2_block_bits in range(9, 17):
        most = most_blocks(log2_block_bits)
        for blocks in (1, 2, 3, 7, 1000, 65535, most // 2, most - 1, most):
            i = len(rows)
            rows.append(keys_row(bigint_key(i), SEEDS[i % 5], log2_block_bits,
                                 blocks, 1 + i % 8, 1))
    return rows


def rows_of_every_k():
    return [keys_row(bigint_key(k), 0xDEADBEEFCAFEBABE, 9, most_blocks(9), k,
                     1 + k) for k in range(1, 33)]


def rows_of_high_positions():
    """The last bits of the largest filters: positions of 2^31 and more."""
    rows = []
    for log2_block_bits in range(9, 17):
        most = most_blocks(log2_block_bits)
        i = 0
        while i < 100000 and len(rows) < 2 * (log2_block_bits - 8):
            if block_of(xxh64(int64_bytes(i), 0), most) >= most - most // 500:
                rows.append(keys_row(bigint_key(i), 0, log2_block_bits, most,
                                     3, 1))
            i += 1
    return rows


def rows_of_every_seed():
    return [keys_row(bigint_key(7), seed, 9, 1000, 6, parts)
            for seed in SEEDS for parts in (1, 2, 3, 1000, 65535)]


def keys_rows():
    return ([KEYS_COLUMNS] + rows_of_every_key() + rows_of_every_block_size()
            + rows_of_every_k() + rows_of_high_positions()
            + rows_of_every_seed())


# ---------------------------------------------------------------- a filter


def popcount(data):
    return sum(bin(byte).count("1") for byte in data)


def checksum_of(data):
    return xxh64(data[:56] + data[64:], 0)


class Filter:
    """A filter under construction: the parameters, the bits, the keys."""

    def __init__(self, name, n=50, p=0.01, seed=0, k=7, log2_block_bits=9,
                 blocks=1, part=0, parts=1):
        self.name = name
        self.made_of = "-"
        self.n, self.p, self.seed, self.k = n, p, seed, k
        self.log2_block_bits, self.blocks = log2_block_bits, blocks
        self.part, self.parts = part, parts
        self.key_type = 0
        self.columns = ()
        self.keys = []
        self.bits = bytearray(blocks << (log2_block_bits - 3))

    def same_shape(self, name, n, p, blocks):
        """An empty filter that differs in these parameters only."""
        return Filter(name, n, p, self.seed, self.k, self.log2_block_bits,
                      blocks, self.part, self.parts)

    def takes(self, key):
        return part_of(xxh64(key, self.seed), self.parts) == self.part

    def positions(self, key):
        hash64 = xxh64(key, self.seed)
        first = block_of(hash64, self.blocks) << self.log2_block_bits
        return [first + bit
                for bit in probes_of(hash64, self.log2_block_bits, self.k)]

    def add(self, key_type, keys):
        self.key_type = key_type
        for key in keys:
            assert self.takes(key)
            self.keys.append(key)
            for position in self.positions(key):
                self.bits[position >> 3] |= 1 << (position & 7)
        return self

    def may_contain(self, key):
        return all(self.bits[position >> 3] >> (position & 7) & 1
                   for position in self.positions(key))

    def to_bytes(self):
        head = HEADER.pack(b"BLMF", 1, self.k, self.log2_block_bits,
                           self.key_type, self.blocks, self.part, self.parts,
                           self.seed, self.n, self.p, popcount(self.bits), 1,
                           packed_columns(self.columns), 0, 0)
        return resealed(head + bytes(self.bits))


def packed_columns(columns):
    """Four bits for each column's type, the first column lowest."""
    number = sum(key_type << (4 * i) for i, key_type in enumerate(columns))
    return number.to_bytes(3, "little")


def header_checksum_of(data):
    return xxh64(data[:52], 0) & 0xFFFFFFFF


def resealed(data):
    """The same bytes with the right checksums, the header's own first."""
    data = bytes(data)
    data = data[:52] + struct.pack("<I", header_checksum_of(data)) + data[56:]
    return checksummed(data)


def checksummed(data):
    """The same bytes with the right checksum behind the header's own."""
    return data[:56] + struct.pack("<Q", checksum_of(data)) + data[64:]


def combined(name, word, left, right, join_bits, keys):
    result = left.same_shape(name, max(left.n, right.n), max(left.p, right.p),
                             left.blocks)
    result.key_type = left.key_type or right.key_type
    result.columns = left.columns or right.columns
    result.made_of = "%s %s %s" % (word, left.name, right.name)
    result.keys = keys
    result.bits = bytearray(join_bits(a, b)
                            for a, b in zip(left.bits, right.bits))
    return result


def union(name, left, right):
    keys = left.keys + [key for key in right.keys if key not in left.keys]
    return combined(name, "or", left, right, lambda a, b: a | b, keys)


def intersection(name, left, right):
    keys = [key for key in left.keys if key in right.keys]
    return combined(name, "and", left, right, lambda a, b: a & b, keys)


def folded(name, source, divisor):
    result = source.same_shape(name, source.n // divisor - 3, source.p,
                               source.blocks // divisor)
    result.key_type = source.key_type
    result.columns = source.columns
    result.made_of = "fold %s %d" % (source.name, divisor)
    result.keys = list(source.keys)
    size = 1 << (source.log2_block_bits - 3)
    for block in range(source.blocks):
        target = block // divisor * size
        for i in range(size):
            result.bits[target + i] |= source.bits[block * size + i]
    return result


# ---------------------------------------------------------------- filters.tsv

FILTERS_COLUMNS = ["#name", "n", "p", "p_hex", "seed", "k", "log2_block_bits",
                   "blocks", "part", "parts", "key_type", "columns",
                   "bits_set", "checksum_hex", "keys", "filter_hex", "made_of", "absent",
                   "false_positives", "key_explained", "absent_explained"]

# By number.
KIND_NAMES = ["none", "integer", "text", "bytea", "uuid", "numeric", "float",
              "date", "timestamp", "timestamptz", "inet", "macaddr"]
KIND_NAMES += [None] * (ROW - len(KIND_NAMES)) + ["row"]

SAMPLES = {
    INTEGER: [int64_bytes(v) for v in
              (0, 1, -1, 42, 32767, -32768, 2**31, 2**63 - 1, -(2**63))],
    TEXT: ["".encode(), b"abc", b"a", "Gr\u00f6\u00dfe".encode("utf-8"),
           "\u6f22\u5b57".encode("utf-8"), "\U0001f600".encode("utf-8"),
           b"0123456789" * 10],
    BYTEA: [b"", b"\x00", b"\xff\xfe", bytes(range(64))],
    UUID: [bytes(16), b"\xff" * 16, bytes(range(16))],
    NUMERIC: [numeric_bytes(s) for s in
              ("0", "1.00", "1e3", "-0.50", "NaN", "Infinity", "-Infinity",
               "123456789012345678901234567890.123456789")],
    FLOAT: [float_bytes(v) for v in
            (0.0, 1.0, -1.5, 0.1, math.nan, math.inf, -math.inf, 5e-324)],
    DATE: [date_bytes(s) for s in
           ("1970-01-01", "2024-02-29", "0044-03-15 BC", "infinity",
            "-infinity")],
    TIMESTAMP: [timestamp_bytes(s) for s in
                ("1970-01-01", "2024-02-29 12:34:56.789012",
                 "294276-12-31 23:59:59.999999", "infinity", "-infinity")],
    TIMESTAMPTZ: [timestamp_bytes(s) for s in
                  ("1970-01-01 00:00:00Z", "2024-07-01 12:00:00+02",
                   "infinity", "-infinity")],
    INET: [inet_bytes(s) for s in
           ("127.0.0.1", "10.0.0.0/8", "192.168.1.5/24", "::1",
            "2001:db8::/32", "::ffff:1.2.3.4")],
    MACADDR: [macaddr_bytes(s) for s in
              ("08:00:2b:01:02:03", "08:00:2b:01:02:03:04:05",
               "08:00:2b:ff:fe:01:02:04", "08:00:2b:fe:ff:01:02:04")],
}

# Of the row filters: the types of their columns.
ROW_COLUMNS = {
    "row": (INTEGER, TEXT),
    "row_of_one": (UUID,),
    "row_of_six": (TEXT, NUMERIC, FLOAT, INET, MACADDR, BYTEA),
    "row_of_times": (DATE, TIMESTAMP, TIMESTAMPTZ, INTEGER),
}


def sample_rows(columns):
    """Rows that take each column's samples in turn."""
    return [row_bytes((key_type, SAMPLES[key_type][(i + at) % len(SAMPLES[key_type])])
                      for at, key_type in enumerate(columns))
            for i in range(8 if len(columns) > 1 else len(SAMPLES[columns[0]]))]

TYPE_NAMES = ["empty"] + KIND_NAMES[1:LAST + 1]


def stranger(key_type, i, columns=()):
    """The i-th key that no filter here holds, of the form of its type."""
    number = 1000000 + i
    if key_type == ROW:
        return row_bytes((column, stranger(column, i)) for column in columns)
    if key_type == TEXT:
        return b"stranger %d" % i
    if key_type == BYTEA:
        return b"\xee" + struct.pack("<I", i)
    if key_type == UUID:
        return scrambled_bytes(16, number)
    if key_type == NUMERIC:
        return b"%d.5" % number
    if key_type == FLOAT:
        return float_bytes(number + 0.25)
    if key_type == INET:
        return bytes([4, 32, 203]) + number.to_bytes(3, "big")
    if key_type == MACADDR:
        return bytes([2, 0, 0]) + number.to_bytes(3, "big")
    return int64_bytes(number)


def strangers(a_filter, wanted_answer, count):
    """Keys not added to the filter to which it gives this answer."""
    found = []
    for i in range(600):
        key = stranger(a_filter.key_type, i, a_filter.columns)
        if len(found) < count and a_filter.takes(key) \
                and a_filter.may_contain(key) == wanted_answer:
            found.append(key)
    return found


def numbers(start, count):
    return [int64_bytes(v) for v in range(start, start + count)]


def worked_example():
    """The filter that FORMAT.md takes apart byte by byte."""
    return Filter("worked_example", n=100, blocks=2).add(
        INTEGER, [int64_bytes(42)])


def filters_per_type():
    """Every key type, every block size, and block counts of all kinds."""
    filters = []
    for key_type in range(1, LAST + 1):
        log2_block_bits = 9 + (key_type - 1) % 8
        blocks = [3, 5, 2, 1, 1, 1, 1, 1, 7, 1, 3][key_type - 1]
        bits = blocks << log2_block_bits
        filters.append(Filter(
            TYPE_NAMES[key_type], n=bits // 12, seed=SEEDS[key_type % 5],
            log2_block_bits=log2_block_bits, blocks=blocks,
        ).add(key_type, SAMPLES[key_type]))
    return filters


def filters_of_rows():
    """Rows, with the columns in the header."""
    filters = []
    for i, (name, columns) in enumerate(ROW_COLUMNS.items()):
        a_filter = Filter(name, n=60, seed=SEEDS[i], blocks=1 + i)
        a_filter.columns = columns
        filters.append(a_filter.add(ROW, sample_rows(columns)))
    left, right = filters[0], Filter("row_right", n=60, blocks=1)
    right.columns = left.columns
    right.add(ROW, [row_bytes([(INTEGER, int64_bytes(8)), (TEXT, b"y")])])
    nothing = Filter("row_nothing", n=10, blocks=1)
    return filters + [right, nothing, union("row_union", left, right),
                      union("row_union_with_nothing", nothing, left),
                      intersection("row_intersection", left, right)]


def filters_of_parts():
    """Parts 0 and 2 of the same 60 keys, and a far corner."""
    filters = []
    for part in (0, 2):
        a_filter = Filter("part_%d_of_3" % part, n=40, seed=1, part=part,
                          parts=3)
        keys = [key for key in numbers(1, 60) if a_filter.takes(key)]
        filters.append(a_filter.add(INTEGER, keys))
    last = Filter("part_65534_of_65535", part=65534, parts=65535)
    key = next(int64_bytes(i) for i in range(10**7)
               if last.takes(int64_bytes(i)))
    filters.append(last.add(INTEGER, [key]))
    filters.append(Filter("empty_part_1_of_2", part=1, parts=2))
    return filters


def filters_of_sets():
    left = Filter("left", n=80, p=0.01, seed=7, blocks=3).add(
        INTEGER, numbers(1, 30))
    right = Filter("right", n=90, p=0.001, seed=7, blocks=3).add(
        INTEGER, numbers(21, 30))
    nothing = Filter("nothing", n=100, p=0.02, seed=7, blocks=3)
    return [left, right, nothing,
            union("union", left, right),
            intersection("intersection", left, right),
            union("union_with_nothing", left, nothing),
            intersection("intersection_with_nothing", nothing, right)]


def filters_of_folds():
    source = Filter("fold_source", n=200, seed=2**64 - 1, blocks=6).add(
        INTEGER, numbers(1, 25))
    return [source, folded("fold_by_2", source, 2),
            folded("fold_by_3", source, 3), folded("fold_by_6", source, 6)]


def filters_of_limits():
    return [
        Filter("one_probe", n=500, p=0.7, k=1).add(INTEGER, numbers(1, 20)),
        Filter("most_probes", n=10, p=1e-9, k=32).add(INTEGER, numbers(1, 8)),
        Filter("all_bits_set", n=200, p=0.9999, k=32).add(
            INTEGER, numbers(1, 200)),
        Filter("least_n", n=1).add(INTEGER, numbers(1, 1)),
        Filter("most_n", n=2**63 - 1, p=0.9999999999999999).add(
            INTEGER, numbers(1, 3)),
        Filter("least_p", n=1, p=5e-324, k=32).add(INTEGER, numbers(1, 1)),
    ]


def filters():
    return ([Filter("empty"), worked_example(), sound_filter()]
            + filters_per_type() + filters_of_rows()
            + filters_of_parts() + filters_of_sets() + filters_of_folds()
            + filters_of_limits())


def hex_list(keys):
    """A lone dash is no key at all, an empty field is one empty key."""
    return ",".join(key.hex() for key in keys) if keys else "-"


def filters_row(f):
    data = f.to_bytes()
    assert all(f.may_contain(key) for key in f.keys)
    return [f.name, f.n, repr(f.p), struct.pack(">d", f.p).hex(), f.seed, f.k,
            f.log2_block_bits, f.blocks, f.part, f.parts, f.key_type,
            ",".join(str(column) for column in f.columns) or "-",
            popcount(f.bits), "%016x" % checksum_of(data), hex_list(f.keys),
            data.hex(), f.made_of, hex_list(strangers(f, False, 12)),
            hex_list(strangers(f, True, 3)), explained(f, f.keys),
            explained(f, strangers(f, False, 12))]


def explained(f, keys):
    """The lines of a look-up of the first key, joined by |; section 16."""
    if not keys:
        return "-"
    key = keys[0]
    hash64 = xxh64(key, f.seed)
    name = KIND_NAMES[f.key_type or INTEGER]
    if f.columns:
        name += "(%s)" % ", ".join(KIND_NAMES[column] for column in f.columns)
    block = block_of(hash64, f.blocks)
    probes = ["%d=%d" % (bit, f.bits[(block << f.log2_block_bits) + bit >> 3] >> (bit & 7) & 1)
              for bit in probes_of(hash64, f.log2_block_bits, f.k)]
    lines = [("filter", "%016x" % checksum_of(f.to_bytes())), ("kind", name),
             ("length", len(key)), ("bytes", key[:64].hex() + "..." * (len(key) > 64) or "-"),
             ("seed", "%016x" % f.seed), ("hash", "%016x" % hash64),
             ("part", "%d of %d" % (part_of(hash64, f.parts), f.parts)),
             ("block", "%d of %d" % (block, f.blocks)), ("probes", " ".join(probes)),
             ("answer", "true" if f.may_contain(key) else "false")]
    return "|".join("%-10s%s" % line for line in lines)


def filters_rows():
    return [FILTERS_COLUMNS] + [filters_row(f) for f in filters()]


# ---------------------------------------------------------------- invalid.tsv

def sound_filter():
    """What nearly every row of invalid.tsv is, but for its damage."""
    return Filter("sound", n=100, seed=0xDEADBEEFCAFEBABE, blocks=2).add(
        INTEGER, numbers(1, 10))


SOUND = sound_filter().to_bytes()


def patched(data, offset, new_bytes):
    return data[:offset] + new_bytes + data[offset + len(new_bytes):]


def patched_number(data, offset, form, value):
    return resealed(patched(data, offset, struct.pack(form, value)))


# Offset, layout and forbidden values of each header field, by rule.
BAD_NUMBERS = [
    ("version", 4, "<B", [0, 3, 4, 127, 128, 255]),
    ("hash", 48, "<B", [0, 2, 129, 255]),
    ("probes", 5, "<B", [0, 33, 34, 64, 128, 255]),
    ("block_bits", 6, "<B", [0, 3, 8, 17, 32, 41, 73, 255]),
    ("key_type", 7, "<B", [LAST + 1, 14, 16, 129, 255]),
    ("blocks", 8, "<I", [0]),
    # The right number is 2.  The last four give the right size if computed in
    # 32 bits, for 2^26 blocks of 64 bytes are 2^32 bytes.
    ("size", 8, "<I", [1, 3, 8388543, 8388544, 8388607, 8388608,
                       2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1,
                       2**26 + 2, 2**27 + 2, 2**31 + 2, 63 * 2**26 + 2]),
    ("capacity", 24, "<Q", [0, 2**63, 2**64 - 1]),
]

# Every field to another valid value.
OTHER_FIELDS = [("k", 5, b"\x08"), ("key_type", 7, b"\x02"), ("part", 12, b"\x01\x00\x02\x00"), ("seed", 16, b"\xbf"),
                ("n", 24, b"\x65"), ("p", 32, b"\x7c")]

# By what they are.
BAD_RATES = {
    "nan": 0x7FF8000000000000, "negative_nan": 0xFFF8000000000000,
    "signalling_nan": 0x7FF0000000000001, "infinity": 0x7FF0000000000000,
    "negative_infinity": 0xFFF0000000000000, "zero": 0,
    "negative_zero": 0x8000000000000000, "one": 0x3FF0000000000000,
    "just_above_one": 0x3FF0000000000001, "huge": 0x7FEFFFFFFFFFFFFF,
    "negative_hundredth": 0xBF847AE147AE147B,
    "negative_least": 0x8000000000000001,
    "all_ones": 0xFFFFFFFFFFFFFFFF,
    # 0.01 with its bytes the wrong way round.
    "big_endian": 0x7B14AE47E17A843F,
}


def bad_length_rows():
    for length in range(HEADER_SIZE):
        yield "short_%d" % length, "short", SOUND[:length]
    for length in (64, 65, 128, 190, 191):
        yield "size_cut_to_%d" % length, "size", resealed(SOUND[:length])
    for extra in (b"\0", b"\xff", b"\n", bytes(64)):
        yield "size_extended_by_%s_x%d" % (extra[:1].hex(), len(extra)), "size", resealed(SOUND + extra)
    # Nothing is wrong with a header alone but that it promises blocks.
    header = Filter("empty").to_bytes()[:64]
    yield "size_header_only", "size", resealed(header)
    yield "blocks_header_only", "blocks", patched_number(header, 8, "<I", 0)
    yield "size_twice", "size", resealed(SOUND + SOUND)


def bad_field_rows():
    for word in (b"blmf", b"FMLB", b"BLMG", b"XLMF", b"BLM\0", b"\0\0\0\0"):
        yield "magic_" + word.hex(), "magic", resealed(patched(SOUND, 0, word))
    for rule, offset, form, values in BAD_NUMBERS:
        for value in values:
            yield "%s_%d" % (rule, value), rule, patched_number(SOUND, offset, form, value)


def bad_header_checksum_rows():
    """The checksum of everything is right, that of the header is not."""
    # Every byte of the header, each damaged in one bit.
    for offset in range(5, 56):
        flipped = bytes([SOUND[offset] ^ 1 << offset % 8])
        yield "flip_at_%d" % offset, patched(SOUND, offset, flipped)
    others = {
        "zero": 0, "all_ones": 0xFFFFFFFF,
        "high_half": xxh64(SOUND[:52], 0) >> 32,
        "big_endian": int.from_bytes(SOUND[52:56], "big"),
        "with_the_seed": xxh64(SOUND[:52], 0xDEADBEEFCAFEBABE) & 0xFFFFFFFF,
        "of_itself": xxh64(SOUND[:52] + bytes(4), 0) & 0xFFFFFFFF,
    }
    for name, value in others.items():
        yield name, patched(SOUND, 52, struct.pack("<I", value))
    for name, offset, new in OTHER_FIELDS:
        yield "stale_" + name, patched(SOUND, offset, new)


def bad_columns_rows():
    """Columns without a row, a row without columns, and what is no column."""
    row = filters_of_rows()[0].to_bytes()
    for number in (1, 0x10, 0x100, 0x800000, 0x21, 0xffffff):
        yield "of_no_row_%06x" % number, number, SOUND
    for number in (0, LAST + 1, 0x0d, 0x0f, (LAST + 1) << 4 | 1, 0x20, 0x201, 0x200021, 0x100000,
                   (LAST + 1) << 20 | 0x11111, 0xffffff):
        yield "%06x" % number, number, row
    yield "of_none", 0x21, patched_number(row, 7, "<B", 0)


def bad_promise_rows():
    """Of parts, rate and bits set."""
    for pair in ((0, 0), (1, 1), (2, 1), (1, 0), (3, 3), (256, 1), (65535, 65535), (65535, 1), (65535, 0)):
        yield "part_%d_of_%d" % pair, "part", resealed(patched(SOUND, 12, struct.pack("<HH", *pair)))
    for name, pattern in BAD_RATES.items():
        yield "rate_" + name, "rate", patched_number(SOUND, 32, "<Q", pattern)
    right = struct.unpack_from("<Q", SOUND, 40)[0]
    for value in (0, right - 1, right + 1, right + 2**32, right + 2**63, 1024, 2**64 - 1):
        yield "bits_set_%d" % value, "bits_set", patched_number(SOUND, 40, "<Q", value)
    for name, offset, bit in (("payload", 100, 1), ("last_bit", 191, 128)):
        flipped = patched(SOUND, offset, bytes([SOUND[offset] ^ bit]))
        yield "bits_set_%s_flip" % name, "bits_set", resealed(flipped)
    yield "empty_key_type_with_bits", "empty_key_type", patched_number(SOUND, 7, "<B", 0)


def moved_bit(data):
    """One bit moved to another place, so that the popcount still holds."""
    payload = bytearray(data)
    source = next(i for i in range(64, len(data)) if payload[i])
    target = next(i for i in range(64, len(data)) if not payload[i])
    bit = payload[source] & -payload[source]
    payload[source] ^= bit
    payload[target] ^= bit
    return bytes(payload)


def bad_checksum_rows():
    right = struct.unpack_from("<Q", SOUND, 56)[0]
    others = {
        "zero": 0, "all_ones": MASK64, "lowest_bit": right ^ 1,
        "highest_bit": right ^ 2**63, "low_half": right & 0xFFFFFFFF,
        "big_endian": int.from_bytes(SOUND[56:64], "big"),
        "of_all_bytes": xxh64(patched(SOUND, 56, bytes(8)), 0),
        "of_blocks_only": xxh64(SOUND[64:], 0),
        "of_header_only": xxh64(SOUND[:56], 0),
        "without_the_header_checksum": xxh64(SOUND[:52] + SOUND[64:], 0),
        "with_the_seed": xxh64(SOUND[:56] + SOUND[64:], 0xDEADBEEFCAFEBABE),
    }
    for name, value in others.items():
        yield name, patched(SOUND, 56, struct.pack("<Q", value))
    for name, offset, new in OTHER_FIELDS:
        yield "stale_" + name, patched(resealed(patched(SOUND, offset, new)), 56, SOUND[56:64])
    yield "moved_bit", moved_bit(SOUND)
    yield "swapped_blocks", SOUND[:64] + SOUND[128:192] + SOUND[64:128]


# One way to break each rule after "short", in the order of the rules.
DAMAGES = [
    ("magic", lambda d: patched(d, 0, b"X")),
    ("version", lambda d: patched(d, 4, b"\x03")),
    ("header_checksum", lambda d: patched(d, 52, bytes(4))),
    ("hash", lambda d: patched(d, 48, b"\x02")),
    ("probes", lambda d: patched(d, 5, b"\x21")),
    ("block_bits", lambda d: patched(d, 6, b"\x08")),
    ("key_type", lambda d: patched(d, 7, b"\x0d")),
    ("columns", lambda d: patched(d, 49, b"\x01")),
    ("blocks", lambda d: patched(d, 8, b"\0\0\0\0")),
    ("size", lambda d: d + b"\0"),
    ("part", lambda d: patched(d, 14, b"\0\0")),
    ("capacity", lambda d: patched(d, 24, bytes(8))),
    ("rate", lambda d: patched(d, 32, bytes(8))),
    ("bits_set", lambda d: patched(d, 40, b"\xff\xff")),
    ("empty_key_type", lambda d: patched(d, 7, b"\0")),
    ("checksum", lambda d: patched(d, 56, bytes(8))),
]


def damaged_from(i):
    """Broken from the last rule to this one, so that where two share a field the earlier decides."""
    data = SOUND
    for _, damage in reversed(DAMAGES[i:]):
        data = damage(data)
    return data


def order_rows():
    """Row i breaks rule i and all later ones: the first rule is the verdict.

    Only the rules after that of the header's checksum need it to be right.
    """
    for i, (rule, _) in enumerate(DAMAGES):
        data = damaged_from(i)
        if "header_checksum" in [word for word, _ in DAMAGES[:i]]:
            data = patched(data, 52, struct.pack("<I", header_checksum_of(data)))
        yield "order_from_" + rule, rule, data
    yield "order_from_short", "short", damaged_from(0)[:63]


def invalid_rows():
    rows = [*bad_length_rows(), *bad_field_rows(),
            *(("header_checksum_" + name, "header_checksum", checksummed(data))
              for name, data in bad_header_checksum_rows()),
            *(("columns_" + name, "columns", resealed(patched(data, 49, number.to_bytes(3, "little"))))
              for name, number, data in bad_columns_rows()),
            *bad_promise_rows(),
            *(("checksum_" + name, "checksum", data) for name, data in bad_checksum_rows()),
            *order_rows()]
    assert len(set(name for name, _, _ in rows)) == len(rows)
    return [("#name", "rule", "filter_hex")] + [(name, rule, data.hex()) for name, rule, data in rows]


# ---------------------------------------------------------------- files


def table(rows):
    return "".join("\t".join(map(str, row)) + "\n" for row in rows).encode("utf-8")


def files():
    return [("keys.tsv", table(keys_rows())), ("filters.tsv", table(filters_rows())),
            ("invalid.tsv", table(invalid_rows()))]


def example():
    """Whether FORMAT.md's hex dump is the worked example, and what to say otherwise."""
    text = (HERE / "../../doc/FORMAT.md").read_text("utf-8")
    lines = re.findall(r"^[0-9a-f]{4}:((?: [0-9a-f]{2}){16})$", text, re.M)
    same = bytes.fromhex("".join(lines)) == worked_example().to_bytes()
    return [(same, "the hex dump in FORMAT.md is not the filter worked_example")]


def main(usage, make, others=list):
    """Of each of these programs: writes its files, or compares with them."""
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(usage)
    made = make()
    if not sys.argv[1:]:
        for name, content in made:
            (HERE / name).write_bytes(content)
        return
    checks = [((HERE / name).read_bytes() == content, "%s differs from what %s makes" % (name, sys.argv[0]))
              for name, content in made] + others()
    wrong = [message for same, message in checks if not same]
    print(*wrong, "%d passed, %d failed" % (len(checks) - len(wrong), len(wrong)), sep="\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main(__doc__, files, example)
