"""Python's types as keys, and the errors of those that are none; texts and bytes of all types are asked by test/readers."""

import array
import datetime
import decimal
import enum
import ipaddress
import math
import struct
import unittest

from bloomfilter_reader import BloomFilter, Key, KeyTypeError, KeyValueError, MacAddress, Real, keys

UTC = datetime.timezone.utc
MOMENT = datetime.datetime(2024, 2, 29, 12, 34, 56, 789012, UTC)


def filter_of(*values):
    return BloomFilter.build(values, 100)


class Types(unittest.TestCase):
    def test_keys_are_values(self):
        key = Key("integer", bytes(8))
        self.assertEqual({key, Key(1, bytes(8)), Key("date", bytes(8))}, {key, Key("date", bytes(8))})

    def test_objects_that_are_no_keys(self):
        for value in (None, True, False, object(), [], 1j, datetime.time(1), {}, (1, None), (1, (2, 3)), (True,), (1, [2])):
            for filter_ in (BloomFilter.build([]), filter_of(1), filter_of("a"), filter_of(1.0)):
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

        self.assertIn(Number.ANSWER, filter_of(42))
        for word in (Word("word"), Word("word  ")):
            self.assertIn(word, filter_of("word"))
        self.assertEqual(BloomFilter.build(["word "], 1).to_bytes(), BloomFilter.build(["word"], 1).to_bytes())

    def test_integers_outside_of_64_bits(self):
        for value in (2**63, -(2**63) - 1, 10**30):
            with self.assertRaises(KeyValueError):
                value in filter_of(42)

    def test_an_array_whose_buffer_has_no_numbers_is_an_iterable(self):
        self.assertEqual(filter_of("a").contains_many(array.array("u", "ab")), [True, False])

    def test_real_is_the_number_that_the_column_holds(self):
        column = filter_of(0.10000000149011612, 1.5, -0.0, math.inf)
        for value in (Real(0.1), Real("0.1"), Real(1.5), Real(0), Real("Infinity")):
            self.assertIn(value, column)
        self.assertNotIn(0.1, column)
        self.assertTrue(math.isnan(Real("nan")))
        for other in (1e39, 1e-50):
            with self.assertRaises(KeyValueError):
                Real(other)

    def test_byte_likes(self):
        holder = filter_of(b"abc")
        for value in (bytearray(b"abc"), memoryview(b"abc"), memoryview(b"aXbXcX")[::2]):
            self.assertIn(value, holder)

    def test_floats(self):
        negative_nan = struct.unpack("<d", struct.pack("<Q", 0xFFF8000000000001))[0]
        for value in (-0.0, negative_nan):
            self.assertIn(value, filter_of(0.0, math.nan))

    def test_numeric_spellings(self):
        with decimal.localcontext() as context:
            context.prec = 1
            for spelling, wanted in (("1E+3", b"1000"), ("0E+999999", b"0"), ("1E-7", b"0.0000001"), ("1.2345678", b"1.2345678"),
                                     ("sNaN", b"NaN"), ("-NaN", b"NaN")):
                self.assertEqual(keys.encode(decimal.Decimal(spelling))[1], wanted)
        for spelling in ("1E+999999999", "1E-999999999"):
            with self.assertRaises(KeyValueError):
                keys.encode(decimal.Decimal(spelling))

    def test_zones_are_one_instant(self):
        zone = datetime.timezone(datetime.timedelta(hours=5, minutes=45))
        self.assertIn(MOMENT.astimezone(zone), filter_of(MOMENT))

    def test_ends_of_the_calendar(self):
        for moment in (datetime.datetime.min, datetime.datetime.max):
            for hours in (-14, 14):
                zoned = moment.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=hours)))
                self.assertIn(zoned, filter_of(zoned))

    def test_nanoseconds_are_refused(self):
        class Fine(datetime.datetime):
            nanosecond = 1

        with self.assertRaises(KeyValueError):
            keys.encode(Fine(2024, 1, 1))

    def test_addresses(self):
        for make, text in ((ipaddress.ip_address, "10.0.0.1"), (ipaddress.ip_interface, "10.0.0.1/8"), (ipaddress.ip_network, "10.0.0.0/8"),
                           (ipaddress.ip_address, "::ffff:1.2.3.4"), (ipaddress.ip_network, "2001:db8::/32")):
            self.assertEqual(keys.encode(make(text)), keys.encode(Key.parse("inet", text)))
        with self.assertRaises(KeyValueError):
            keys.encode(ipaddress.ip_address("fe80::1%eth0"))

    def test_mac_addresses(self):
        self.assertEqual({MacAddress("08-00-2b-01-02-03"), MacAddress(b"\x08\x00\x2b\x01\x02\x03")}, {MacAddress("0800.2B01.0203")})
        for bad in ("", "0x", b"12345", b"1234567"):
            with self.assertRaises(KeyValueError):
                MacAddress(bad)
