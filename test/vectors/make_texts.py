#!/usr/bin/python3
"""Writes texts.tsv: keys as text, as PostgreSQL reads them.

    make_texts.py           write texts.tsv
    make_texts.py --check   compare with the file; exit 1 on a difference

PostgreSQL is the judge, so this needs a server (any that psql finds by itself,
without the extension).  What is listed as accepted below must be what its cast
accepts, and the bytes are made from the value that the cast gives, by section 3
of doc/FORMAT.md.  For what is listed as refused, the file says whether
PostgreSQL has an error, too: it may take more than doc/KEYS.md does, but nothing
that it refuses may be accepted.
"""

import struct
import subprocess

import make_vectors as v

COLUMNS = ["#type", "text", "key_hex", "sql"]

# Keys of more bytes are given by their hash.
LONGEST_KEY = 256

# By type: what PostgreSQL casts the text to, and how the value's bytes are had.
CASTS = {
    "integer": "int8send(t::bigint)",
    "text": "convert_to(rtrim(t), 'UTF8')",
    "bytea": "t::bytea",
    "uuid": "uuid_send(t::uuid)",
    "numeric": "convert_to(trim_scale(t::numeric)::text, 'UTF8')",
    "float": "float8send(t::float8)",
    "real": "float8send(t::real::float8)",
    "date": "date_send(t::date)",
    "timestamp": "timestamp_send(t::timestamp)",
    "timestamptz": "timestamptz_send(t::timestamptz)",
    "inet": "inet_send(t::inet)",
    "macaddr": "macaddr8_send(t::macaddr8)",
}

ZEROS = "0" * 100

# The digits of 2^-1075, half of the least double.
HALF_LEAST = str(5**1075)

ACCEPTED = {
    "integer": """0 -0 +0 7 -7 +42 007 -00000000000000000000000000000000000012
        32767 -32768 2147483647 2147483648 -2147483649 9007199254740993
        9223372036854775807 -9223372036854775808
        +9223372036854775807 09223372036854775807""".split(),
    "text": ["", "a", " a", "a ", "a   ", " ", "   ", "a\r", "a \r", "a\r ", "a\n", "a \n", "\t", "a \t", "a\t ",
             "a\u00a0", "a\u00a0 ", "a \u00a0", "a\u3000", "\u3000 ", "\u00e9  ", "日本語 ", "\U0001f600 ",
             "x" * 31 + " ", "y" * 48 + "  ", "z" * 300 + " " * 30, "é" * 300 + " ", " " * 300, "\\x41", "hex:41", "NULL",
             "Grüße", "e\u0301", "\u00e9", "日本語", "\U0001f600",
             "\ufeffbom", "\u200d", "\x01\x7f", "12345678é", "\U0010ffff", "\ud7ff", "\ue000"],
    "bytea": ["\\x", "\\x00", "\\xff", "\\xdeadBEEF", "\\xDEADBEEF", "\\x6162", "\\x" + "5a" * 300],
    "uuid": ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11",
             "a0eebc999c0b4ef8bb6d6bb9bd380a11", "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}",
             "{a0eebc999c0b4ef8bb6d6bb9bd380a11}", "a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11",
             "a0eebc99-9c0b4ef8-bb6d6bb9-bd380a11", "{a0eebc99-9c0b4ef8-bb6d6bb9-bd380a11}",
             "a0eebc999c0b4ef8-bb6d6bb9bd380a11", "00000000-0000-0000-0000-000000000000",
             "ffffffff-ffff-ffff-ffff-ffffffffffff"],
    "numeric": """0 -0 +0 0.0 -0.00 .0 0. 00 0e5 0e-5 0e999999 0E+16383 0e-16383 1 1. +1 01 1.0 1.50 -0.001
        -.05 -5e-2 1e0 10e-1 0.1E+1 .1e1 1.e5 .5 -.5 1200 1.2e3 0.0012e6 1e3 1e-3 -1E-3 1e20 123e-3
        9007199254740993 12345678901234567890.12345678901234567890
        NaN nan NAN Infinity infinity INFINITY +Infinity -Infinity inf +inf -inf Inf -INF
        1e131071 -1e131071 9.99e131071 1e-16383 12.5e-16382 0e1073741822""".split()
        + ["00" + ZEROS + "1", "0." + ZEROS + "1", "1." + ZEROS, "1" + ZEROS + "e-100"],
    "float": """0 -0 +0 0.0 -.0 0e10 0e999999 0e-999999 0.e5 1 1. .5 +1.5 -1.5 100 1e2 1E+2 1e-2 001e02 0.1 .1 1e-1
        0.1000000000000000055511151231257827 3.141592653589793 2.718281828459045 1e22 1e23 -1e23 8.5e22
        9007199254740992 9007199254740993 9007199254740994 9007199254740993.0000000000000001
        9007199254740995 18014398509481985 18014398509481986 18446744073709551615
        1.7976931348623157e308 -1.7976931348623157e308 1.7976931348623158e308 179769313486231570000e288
        2.2250738585072014e-308 2.2250738585072011e-308 2.225073858507201e-308 4.9406564584124654e-324 5e-324
        2.4703282292062328e-324 -3e-324 7.4109846876186981e-324 1e-323 6.9294956446009195e15 1.8011670033376514e-308
        1e308 1e-307 123456789012345678901234567890 0.000001 1e15 1e16 1e17 1e21 0.3 2.5 1234567.125
        4.35 4.349999999999999 0.30000000000000004 5e-320 6.631236846766476e-316
        Infinity infinity INFINITY +Infinity -Infinity inf Inf +inf -inf NaN nan NAN""".split()
        + ["1" + ZEROS + ZEROS, "0." + ZEROS + ZEROS + "1", "1" + ZEROS + "e-100",
           "1.00000000000000011102230246251565404236316680908203125",
           "1.00000000000000011102230246251565404236316680908203124",
           "1.00000000000000011102230246251565404236316680908203126",
           "1.00000000000000011102230246251565404236316680908203125" + "0" * 900 + "1",
           "1.00000000000000033306690738754696212708950042724609375",
           HALF_LEAST + "1e-1076",
           "0." + "0" * 307 + "22250738585072011360574097967091319759348195463516"],
    "real": """0 -0 0.0 0e999999 1 1. .5 0.1 0.2 0.3 .1 1e-1 0.100000001 0.10000000149011612 3.1415927 1e10 1e11 8388609.5
        16777216 16777217 16777218 16777219 16777217.0000001 33554434 33554435 1.17549435e-38 1.1754942e-38 1e-40
        1e-45 1.4e-45 7.0064923216240854e-46 7.1e-46 2.1019476964872256e-45 -1e-45 3.4028235e+38 -3.4028235e38
        3.4028235677973365e38 3.4028235677973366e38 340282356779733661637539395458142568447
        3.40282346638528859812e38 1e38 1.5 -2.25 123456.79 1.00000017881393421514957253748434595763683319091796875
        1.00000017881393432617187499 1.00000017881393432617187501 1.00000005960464477539062500 1.000000059604644775390625001
        Infinity infinity +Infinity -Infinity inf +inf -inf NaN nan""".split(),
    "date": """1970-01-01 2000-01-01 2024-02-29 2000-02-29 1999-12-31 0001-01-01 9999-12-31 10000-01-01
        5874897-12-31 infinity Infinity -infinity -INFINITY""".split()
        + ["0001-01-01 BC", "0044-03-15 BC", "0001-12-31 BC", "4714-11-24 BC", "0005-02-29 BC", "2024-01-01 bc"],
    "timestamp": ["2024-02-29 12:34:56", "2024-02-29T12:34:56", "2024-02-29 12:34:56.7", "2024-02-29 12:34:56.789",
                  "2024-02-29 12:34:56.000001", "2024-02-29 12:34:56.100000", "1970-01-01 00:00:00",
                  "1969-12-31 23:59:59.999999", "2024-01-31 24:00:00", "2024-01-31 24:00:00.000000",
                  "2024-12-31 23:59:59", "0001-01-01 00:00:00 BC", "0044-03-15 12:00:00 BC",
                  "0044-03-15 12:00:00.5 BC", "4714-11-24 00:00:00 BC", "294276-12-31 23:59:59.999999",
                  "294247-01-10 04:00:54.775807", "294247-01-10 04:00:54.775808", "10000-01-01 00:00:00",
                  "4714-11-23 24:00:00 BC", "infinity", "-infinity", "Infinity", "-INFINITY"],
    "timestamptz": ["2024-02-29 12:34:56+00", "2024-02-29 12:34:56Z", "2024-02-29T12:34:56Z", "2024-02-29 12:34:56-00",
                    "2024-02-29 12:34:56.789+01", "2024-02-29 13:34:56+01:00", "2024-02-29 07:04:56-05:30",
                    "2024-02-29 07:04:56-0530", "2024-02-29T12:34:56.5+0230", "2024-03-01 04:34:55+15:59:59",
                    "2024-02-28 20:34:57-15:59:59", "2024-01-31 24:00:00+02", "2024-01-01 00:30:00+00:19:32",
                    "1969-12-31 23:59:59.999999+00", "1883-11-18 12:00:00-04:56:02", "0044-03-15 12:00:00+00 BC",
                    "0001-12-31 23:00:00-02 BC", "294276-12-31 23:59:59.999999+00", "294277-01-01 01:00:00+02",
                    "294277-01-01 15:59:58.999999+15:59:59", "294276-12-31 22:59:59.999999-01",
                    "4714-11-24 00:00:00+00 BC", "4714-11-23 20:29:08-03:30:52 BC", "4714-11-23 23:00:00-01 BC",
                    "4714-11-24 15:59:59+15:59:59 BC", "10000-01-01 00:00:00+00", "infinity", "-infinity", "Infinity"],
    "inet": """0.0.0.0 10.0.0.1 10.0.0.1/32 10.0.0.1/8 10.0.0.0/8 0.0.0.0/0 255.255.255.255 192.168.1.5/24 192.168.1.5/9
        :: ::1 1:: ::/0 ::1/128 2001:db8::1 2001:DB8::1/64 2001:0db8:0:0::0.0.0.1 ::ffff:10.0.0.1 ::ffff:a00:1 ::10.0.0.1/96
        1:2:3:4:5:6:7:8 1:2:3:4:5:6:7:8/3 1:2:3:4:5:6:7:: ::2:3:4:5:6:7:8 1:2:3:4:5:6:1.2.3.4 fe80::0001 0000:0000:0000:0000:0000:0000:0000:0000
        ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/127 1::8 1:2::8 1:2:3:4:5::8 64:ff9b::192.0.2.33/96""".split(),
    "macaddr": """08:00:2b:01:02:03 08-00-2B-01-02-03 0800.2b01.0203 0800-2b01-0203 08002b:010203 08002b-010203 08002b010203
        08:00:2b:01:02:03:04:05 08-00-2b-01-02-03-04-05 0800.2b01.0203.0405 08002b:0102030405 08002b01:02030405
        08002b0102030405 08:00:2b:ff:fe:01:02:03 08:00:2b:fe:ff:01:02:03 08:00:2b:ff:ff:01:02:03
        00:00:00:00:00:00 ff:ff:ff:ff:ff:ff 08002B.010203""".split(),
}

SPACES = ["", " ", "\t"]


def spaced(text):
    """White space around a key, or a line's end that came along."""
    return [" " + text, text + " ", text + "\r", text + "\n", text + "\0"]


REFUSED = {
    "integer": SPACES + spaced("1") + """1.0 1. 1e3 0x10 0b1 0o7 1_000 1,000 --1 +-1 + - one NaN ١ 9223372036854775808
        -9223372036854775809 +9223372036854775808 99999999999999999999999999""".split(),
    "text": [b"a\0b", b"\0", b"\xff", b"a\xc3", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82",
             b"12345678\xff", b"\xe9"],
    "bytea": SPACES + spaced("\\x00") + ["ab", "abcd", "41", "deadbeef", "hello", "\\x1", "\\xg0", "\\x0g", "\\", "\\X00",
             "\\x 00", "\\x00 11", "\\000", "0x41", "x41", "\\\\x41", "\\x\\x00"],
    "uuid": SPACES + spaced("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11") + [
        "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a111",
        "a0-eebc999c0b4ef8bb6d6bb9bd380a11", "a0eebc99--9c0b-4ef8-bb6d-6bb9bd380a11",
        "-a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11-",
        "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}",
        "{{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}}", "(a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11)",
        "urn:uuid:a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "g0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "x", "{}"],
    "numeric": SPACES + spaced("1.5") + """. - + e5 1e 1e+ 1e- 1e1.5 1,5 1.2.3 --1 +-1 0x1 0x1f 1_000 1f $1 Inf1 infinit +NaN -NaN
        nan(1) 1e131072 1e200000 10e131071 1e-16384 0.1e-16383 0e-16384 1.0e-16383 0e1073741823 1e99999999999999999999
        1e-99999999999999999999 0e99999999999999999999 0e-99999999999999999999 0e-1073741823 0e10737418122 0e-10737418122 ınf İnfinity ½ １""".split(),
    "float": SPACES + spaced("1.5") + """. - + e5 ınf -ınfınıty 1e 1e+ 1e400 -1e400 1e-400 -1e-400 1e309 1.7976931348623159e308 2e-324
        2.4703282292062327e-324 0x1p3 0x10 nan(1) -nan +nan 1f 1d 1,5 infinit infinity1 1_000 --1
        1e99999999999999999999 1e-99999999999999999999""".split() + [HALF_LEAST + "e-1075"],
    "real": SPACES + spaced("1.5") + """. e5 1e39 3.4028236e38 340282356779733661637539395458142568448 -1e39 1e-46 7.006492321624085e-46 -1e-60 1e400 0x1p3 -nan 1,5""".split(),
    "date": SPACES + spaced("2024-02-29") + """2024-02-30 2023-02-29 1900-02-29 2024-13-01 2024-00-01 2024-01-00 2024-01-32
        2024-04-31 0000-01-01 24-01-01 999-01-01 2024-1-1 2024-01-1 2024/01/01 01.02.2024 20240101 2024-060 J2451187
        today now epoch 5874898-01-01 9999999-12-31 99999999-01-01 +infinity inf -inf infinit 2024-01-01BC +2024-01-01 -2024-01-01
        2024-Jan-01 1-Jan-2024""".split()
        + ["2024-01-01 00:00:00", "2024-01-01T00:00:00", "4714-11-23 BC", "0000-01-01 BC", "0004-02-29 BC", "2024-01-01 AD",
           "2024-01-01  BC", "2024-01-01 BC ", "2024-01-01 +02"],
    "timestamp": SPACES + spaced("2024-02-29 12:34:56") + ["2024-01-01", "2024-01-01 12:00", "2024-01-01 12", "2024-01-01 25:00:00",
        "2024-01-01 24:00:01", "2024-01-31 24:00:00.1", "2024-01-31 24:00:00.000001", "2024-01-01 12:60:00",
        "2024-01-01 12:00:60", "2024-01-01 12:00:61", "2024-01-01 1:00:00", "2024-01-01 12:00:00.", "2024-01-01 12:00:00.1234567",
        "2024-01-01 12:00:00,5", "2024-01-01 12:00:00+00", "2024-01-01 12:00:00Z", "2024-01-01 12:00:00 UTC",
        "2024-01-01  12:00:00", "2024-01-01t12:00:00", "2024-01-01_12:00:00", "20240101T120000", "2024-01-01 120000",
        "2024-01-01 12:00:00 PM", "294276-12-31 24:00:00", "294277-01-01 00:00:00", "294277-12-31 00:00:00", "4714-11-23 23:59:59 BC",
        "9999999-01-01 00:00:00", "9999999-01-01 00:00:00 BC", "0000-01-01 00:00:00", "2024-02-30 00:00:00",
        "now", "today", "epoch", "+infinity", "inf", "12:00:00"],
    "timestamptz": SPACES + spaced("2024-02-29 12:34:56+00") + ["2024-01-01 12:00:00", "2024-01-01", "2024-01-01 12:00:00+1",
        "2024-01-01 12:00:00+16", "2024-01-01 12:00:00-16", "2024-01-01 12:00:00+16:00", "2024-01-01 12:00:00+24",
        "2024-01-01 12:00:00+1600", "2024-01-01 12:00:00+01:60", "2024-01-01 12:00:00+0160", "2024-01-01 12:00:00+01:00:60",
        "2024-01-01 12:00:00+01:", "2024-01-01 12:00:00+01:0", "2024-01-01 12:00:00+010", "2024-01-01 12:00:00+010000",
        "2024-01-01 12:00:00+01:0000", "2024-01-01 12:00:00+0100:00", "2024-01-01 12:00:00+", "2024-01-01 12:00:00z", "2024-01-01 12:00:00 +02",
        "2024-01-01 12:00:00 Z", "2024-01-01 12:00:00 UTC", "2024-01-01 12:00:00UTC", "2024-01-01 12:00:00 Europe/Berlin",
        "2024-01-01 12:00:00 CET", "2024-01-01 12:00+00", "2024-01-31 24:00:00.1+00", "2024-01-01 12:00:00.1234567+00",
        "294276-12-31 23:59:59.999999-01", "294277-01-01 01:00:00+01", "294277-01-01 00:00:00+00", "294277-01-02 00:00:00+15:59:59",
        "4714-11-23 23:59:59.999999+00 BC", "4714-11-24 00:00:00+00:00:01 BC", "2024-01-01 12:00:00 BC+00", "now", "+infinity"],
    "inet": SPACES + spaced("10.0.0.1") + """10 10.0 10.0.0 10/8 10.0.0/24 10.0.0.256 10.0.0.1/33 10.0.0.1/ 10.0.0.1/08 10.0.0.1/+8 10.0.0.1/-8
        10.0.0.1/8/8 010.0.0.1 10.0.0.01 00.0.0.0 0x0a.0.0.1 1.2.3.4.5 1.2.3. .1.2.3 1..2.3 10.0.0.1. ::1/129 ::1/ ::1/+8 ::1/064 :::
        :::1 1::: 1:2:3:4:5:6:7 1:2:3:4:5:6:7:8:9 1::2::3 12345:: 00001:: g:: : :1 1: 1:2:3:4:5:6:7: :1:2:3:4:5:6:7
        ::1.2.3 ::1.2.3.4.5 ::1.2.3.4:1 1.2.3.4:: 1.2.3.4::1 ::01.2.3.4 ::256.0.0.1 1:2:3:4:5:6:7:1.2.3.4 fe80::1%eth0 ::1/-1
        ::1/128/1 [::1] localhost 10.0.0.1:80 1:2:3:4::5:6:7:8 1:2:3:4:5:6:7:8:: ::1:2:3:4:5:6:7:8""".split(),
    "macaddr": SPACES + spaced("08:00:2b:01:02:03") + """08:00:2b:01:02 08:00:2b:01:02:03:04 08:00:2b:01:02:03:04:05:06 08:00-2b:01:02:03 8:0:2b:1:2:3
        08:00:2b:01:02:0g 08:00:2b:01:02:03: :08:00:2b:01:02:03 08::00:2b:01:02:03 08_00_2b_01_02_03 08002b01020 0800.2b01.02 08002b 08
        08:00:2b:01:02:3 0:800:2b:01:02:03 080:02b:010:203""".split(),
}


# ---------------------------------------------------------------- PostgreSQL


def ask(texts):
    """The bytes that casts give, as PostgreSQL sends them, or None for an error."""
    branches = "".join("when '%s' then return %s;\n" % cast for cast in CASTS.items())
    values = ",\n".join("(%d, '%s', '%s')" % (i, kind, text.hex())
                        for i, (kind, text) in enumerate(texts))
    script = """
set client_min_messages = warning;
set client_encoding = 'UTF8';
set timezone = 'UTC';
set datestyle = 'ISO, YMD';
create function pg_temp.key(kind text, hex text) returns bytea language plpgsql as $$
declare
  t text;
begin
  t := convert_from(decode(hex, 'hex'), 'UTF8');
  case kind %s end case;
exception when others then return null;
end $$;
select i, coalesce(encode(pg_temp.key(kind, hex), 'hex'), 'error') from (values %s) v(i, kind, hex) order by i;
""" % (branches, values)
    done = subprocess.run(["psql", "-XAtq", "-F", " ", "-v", "ON_ERROR_STOP=1"], input=script,
                          stdout=subprocess.PIPE, check=True, encoding="utf-8")
    answers = [line.split(" ")[1] for line in done.stdout.splitlines()]
    assert len(answers) == len(texts)
    return [None if answer == "error" else bytes.fromhex(answer) for answer in answers]


# ---------------------------------------------------------------- section 3 of FORMAT.md


def wrapped(value):
    return struct.pack("<Q", value & (1 << 64) - 1)


def count_since_1970(sent, size, epoch):
    """From a count since 2000, whose extremes are the infinities."""
    value = int.from_bytes(sent, "big", signed=True)
    most = (1 << size * 8 - 1) - 1
    if value == most:
        return wrapped((1 << 63) - 1)
    if value == -most - 1:
        return wrapped(1 << 63)
    return wrapped(value + epoch)


def float_key(sent):
    value = struct.unpack(">d", sent)[0]
    if value == 0:
        value = 0.0
    if value != value:
        return struct.pack("<Q", 0x7FF8000000000000)
    return struct.pack("<d", value)


def inet_key(sent):
    family, prefix, _, length = sent[:4]
    return bytes([4 if length == 4 else 6, prefix]) + sent[4:]


def macaddr_key(sent):
    return sent[:3] + sent[5:] if sent[3:5] == b"\xff\xfe" else sent


KEYS = {
    "integer": lambda sent: sent[::-1],
    "float": float_key,
    "real": float_key,
    "date": lambda sent: count_since_1970(sent, 4, 10957),
    "timestamp": lambda sent: count_since_1970(sent, 8, 10957 * 86400000000),
    "timestamptz": lambda sent: count_since_1970(sent, 8, 10957 * 86400000000),
    "inet": inet_key,
    "macaddr": macaddr_key,
}


def key_of(kind, sent):
    return KEYS[kind](sent) if kind in KEYS else sent


# ---------------------------------------------------------------- XXH64 of long keys


def key_field(key):
    if len(key) <= LONGEST_KEY:
        return key.hex()
    return "xxh64:%016x" % v.xxh64(key, 0)


# ---------------------------------------------------------------- the file


def as_bytes(text):
    return text if isinstance(text, bytes) else text.encode("utf-8")


def text_field(text):
    """The text itself where that can be seen and stands in one field, else hex."""
    try:
        shown = text.decode("utf-8")
    except UnicodeDecodeError:
        return "hex:" + text.hex()
    plain = shown.isprintable() and shown == shown.strip() and shown != ""
    return shown if plain and not shown.startswith("hex:") else "hex:" + text.hex()


def wanted_rows():
    for kind in CASTS:
        for text in ACCEPTED[kind]:
            yield kind, as_bytes(text), True
        for text in REFUSED[kind]:
            yield kind, as_bytes(text), False


def row(kind, text, accepted, sent):
    if not accepted:
        return [kind, text_field(text), "-", "error" if sent is None else "taken"]
    assert sent is not None, "PostgreSQL refuses %s %r" % (kind, text)
    return [kind, text_field(text), key_field(key_of(kind, sent)), "key"]


def texts_file():
    wanted = list(wanted_rows())
    assert len(set(wanted)) == len(wanted), "a text is there twice"
    answers = ask([(kind, text) for kind, text, _ in wanted])
    return v.table([COLUMNS] + [row(*want, sent) for want, sent in zip(wanted, answers)])


if __name__ == "__main__":
    v.main(__doc__, lambda: [("texts.tsv", texts_file())])
