"""Python's types as keys, and the errors of those that are none."""

import datetime
import decimal
import enum
import ipaddress
import math
import struct
import unittest
import uuid

from bloomfilter_reader import BloomFilter, Key, KeyTypeError, KeyValueError, MacAddress, Real, keys

UTC = datetime.timezone.utc
SAMPLES = {
    1: 42,
    2: "gr\u00f6\u00dfe",
    3: b"\x00\xff",
    4: uuid.UUID("00112233-4455-6677-8899-aabbccddeeff"),
    5: decimal.Decimal("-0.50"),
    6: 0.1,
    7: datetime.date(2024, 2, 29),
    8: datetime.datetime(2024, 2, 29, 12, 34, 56, 789012),
    9: datetime.datetime(2024, 2, 29, 12, 34, 56, 789012, UTC),
    10: ipaddress.ip_interface("192.168.1.5/24"),
    11: MacAddress(b"\x08\x00\x2b\x01\x02\x03"),
}


def filter_of(key_type, *values):
    return BloomFilter.build([Key(key_type, keys.encode(value)[1]) for value in values], 100)


class Types(unittest.TestCase):
    def test_each_type_finds_its_own_key(self):
        for key_type, value in SAMPLES.items():
            with self.subTest(type(value).__name__):
                self.assertIn(value, filter_of(key_type, value))
                self.assertTrue(filter_of(key_type, value).contains(value))
                self.assertEqual(filter_of(key_type, value).contains_many([value]), [True])
                key = Key(key_type, keys.encode(value)[1])
                self.assertEqual(key, Key(key.key_type, key.data))
                self.assertEqual(hash(key), hash(Key(key.key_type, key.data)))
                self.assertIn(key, filter_of(key_type, value))

    def test_rows(self):
        data = keys.encode((7, "x"))[1]
        self.assertEqual(data.hex(), "01080000000700000000000000" "020100000078")
        filter_ = BloomFilter.build([(7, "x")])
        self.assertEqual(filter_.info.key_type, "row(integer, text)")
        self.assertIn((7, "x"), filter_)
        self.assertIn(Key("row", data), filter_)
        self.assertNotIn((8, "x"), filter_)
        self.assertEqual(filter_.contains_many([(7, "x"), (7, "")]), [True, False])
        for other in ((7,), ("x", 7), (7, "x", 1), (7, b"x"), 7, "x"):
            with self.subTest(repr(other)):
                with self.assertRaisesRegex(KeyTypeError, r"row\(integer, text\)"):
                    other in filter_

    def test_what_is_no_row(self):
        for value in ((), (1,) * 7, (1, None), (1, (2, 3)), (True,), (1, [2])):
            with self.subTest(repr(value)):
                with self.assertRaises(KeyTypeError):
                    keys.encode(value)

    def test_objects_that_are_no_keys(self):
        for value in (None, True, False, object(), [], (1, ()), 1j, datetime.time(1), {}):
            for filter_ in (BloomFilter.build([]), filter_of(1, 1), filter_of(2, "a"), filter_of(6, 1.0)):
                with self.subTest(f"{value!r} in {filter_}"):
                    with self.assertRaises(KeyTypeError):
                        value in filter_

    def test_unknown_type_number(self):
        for number in (0, 99, -1, "none", "json", None):
            with self.assertRaises(KeyTypeError):
                Key(number, b"")
        with self.assertRaises(KeyTypeError):
            Key.parse("json", "1")


class Values(unittest.TestCase):
    def test_subclasses_count_as_their_base(self):
        class Number(enum.IntEnum):
            ANSWER = 42

        class Word(str):
            pass

        self.assertIn(Number.ANSWER, filter_of(1, 42))
        for word in (Word("word"), Word("word  ")):
            self.assertIn(word, filter_of(2, "word"))
        self.assertEqual(BloomFilter.build(["word "], 1).to_bytes(), BloomFilter.build(["word"], 1).to_bytes())

    def test_integers_outside_of_64_bits(self):
        for value in (2**63, -(2**63) - 1, 10**30):
            with self.assertRaises(KeyValueError):
                value in filter_of(1, 42)
        for value in (2**63 - 1, -(2**63)):
            self.assertIn(value, filter_of(1, value))

    def test_numpy_texts(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("needs numpy")
        holder = filter_of(2, "ab")
        for dtype in ("U8", object):
            self.assertEqual(holder.contains_many(numpy.array(["ab", "ab  ", "ab\t"], dtype=dtype)),
                             [True, True, False])

    def test_real_is_the_number_that_the_column_holds(self):
        column = filter_of(6, 0.10000000149011612, 1.5, -0.0, math.inf)
        for value in (Real(0.1), Real("0.1"), Real(1.5), Real(0), Real("Infinity")):
            self.assertIn(value, column)
        self.assertNotIn(0.1, column)
        self.assertTrue(math.isnan(Real("nan")))
        with self.assertRaises(KeyValueError):
            Real(1e39)

    def test_byte_likes(self):
        holder = filter_of(3, b"abc")
        for value in (b"abc", bytearray(b"abc"), memoryview(b"abc"), memoryview(b"aXbXcX")[::2]):
            self.assertIn(value, holder)

    def test_floats(self):
        holder = filter_of(6, 0.0, math.nan, math.inf)
        negative_nan = struct.unpack("<d", struct.pack("<Q", 0xFFF8000000000001))[0]
        for value in (0.0, -0.0, math.nan, negative_nan, math.inf):
            self.assertIn(value, holder)
        self.assertNotIn(-math.inf, holder)

    def test_numeric_spellings(self):
        cases = {
            "1.00": b"1",
            "1E+3": b"1000",
            "-0.00": b"0",
            "0E+999999": b"0",
            "-0.50": b"-0.5",
            "sNaN": b"NaN",
            "-NaN": b"NaN",
            "-Infinity": b"-Infinity",
            "100": b"100",
            "1E-7": b"0.0000001",
            "1.2345678": b"1.2345678",
        }
        with decimal.localcontext() as context:
            context.prec = 1
            for spelling, expected in cases.items():
                self.assertEqual(keys.encode(decimal.Decimal(spelling))[1], expected)

    def test_numeric_outside_of_its_range(self):
        for spelling in ("1E+131072", "1E-16384", "1E+999999999", "1E-999999999"):
            with self.assertRaises(KeyValueError):
                keys.encode(decimal.Decimal(spelling))

    def test_zones_are_one_instant(self):
        moment = SAMPLES[9]
        zone = datetime.timezone(datetime.timedelta(hours=5, minutes=45))
        self.assertIn(moment.astimezone(zone), filter_of(9, moment))

    def test_ends_of_the_calendar(self):
        for moment in (datetime.datetime.min, datetime.datetime.max):
            self.assertIn(moment, filter_of(8, moment))
            for hours in (-14, 14):
                zone = datetime.timezone(datetime.timedelta(hours=hours))
                zoned = moment.replace(tzinfo=zone)
                self.assertIn(zoned, filter_of(9, zoned))

    def test_nanoseconds_are_refused(self):
        class Fine(datetime.datetime):
            nanosecond = 1

        with self.assertRaises(KeyValueError):
            keys.encode(Fine(2024, 1, 1))

    def test_addresses(self):
        cases = {
            "10.0.0.1": ipaddress.ip_address("10.0.0.1"),
            "10.0.0.1/8": ipaddress.ip_interface("10.0.0.1/8"),
            "10.0.0.0/8": ipaddress.ip_network("10.0.0.0/8"),
            "::1": ipaddress.ip_address("::1"),
            "2001:db8::/32": ipaddress.ip_network("2001:db8::/32"),
            "::ffff:1.2.3.4": ipaddress.ip_address("::ffff:1.2.3.4"),
        }
        for text, value in cases.items():
            self.assertEqual(keys.encode(value), keys.encode(Key.parse("inet", text)))
        with self.assertRaises(KeyValueError):
            keys.encode(ipaddress.ip_address("fe80::1%eth0"))

    def test_mac_addresses(self):
        for text in ("08002b010203", "08-00-2b-01-02-03", "08002b:010203", "0800.2B01.0203"):
            self.assertEqual(MacAddress(text), SAMPLES[11])
        for bad in ("", "08:00:2b:01:02", "08:00:2b-01:02:03", "0x", b"12345", b"1234567"):
            with self.assertRaises(KeyValueError):
                MacAddress(bad)
