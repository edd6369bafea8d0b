"""The golden vectors: every row, by what a user of the package would call."""

import re
import struct
import unittest
from dataclasses import replace

import bloomfilter_reader
import xxhash
from bloomfilter_reader import BloomFilter, InvalidFilterError, Key, KeyValueError, keys
from cross_check import OWN_TYPES

from . import support

LITERAL = re.compile(r"'((?:[^']|'')*)'::([a-z0-9 ]+?)(?: ?\(\d+\))?", re.DOTALL)
COLUMN = re.compile(r"(?:'(?:[^']|'')*'|\(?-?\d+\)?)::[a-z]+(?: precision)?")
SMALL = re.compile(r"\(?(-?\d+)\)?::(smallint|integer|bigint)")
TEXT_TYPES = {"double precision": "float", "cidr": "inet", "varchar": "text", "name": "text", "char": "text"}


def python_value(text, sql_type):
    """The value of Python's own type, or None if Python has none."""
    if sql_type == "char":
        text = text.rstrip(" ")
    if sql_type == "macaddr":
        text = re.sub("[:.-]", "", text)
    text_type = TEXT_TYPES.get(sql_type, sql_type)
    if text_type not in ("date", "timestamp", "timestamptz"):
        return OWN_TYPES[text_type](text)
    try:
        return OWN_TYPES[text_type](text.replace("Z", "+00:00"))
    except ValueError:
        return None


class KeyVectors(unittest.TestCase):
    rows = support.rows("keys.tsv")

    def test_own_types_give_the_key_bytes(self):
        checked = 0
        for row in self.rows:
            value = self.value_of(row["sql"])
            if value is None:
                continue
            with self.subTest(row["sql"]):
                expected = (int(row["key_type"]), bytes.fromhex(row["key_hex"]))
                self.assertEqual(keys.encode(value), expected)
                self.assertEqual(keys.encode(Key(*expected)), expected)
                checked += 1
        self.assertGreater(checked, 570)

    def value_of(self, sql):
        if sql.startswith("ROW("):
            columns = tuple(self.value_of(column) for column in COLUMN.findall(sql))
            return None if None in columns or "E'" in sql or "repeat" in sql else columns
        small = SMALL.fullmatch(sql)
        if small:
            return int(small[1])
        literal = LITERAL.fullmatch(sql)
        # macaddr8 widens six bytes before it compares; Python has no such type.
        if not literal or "Europe" in sql or literal[2] == "macaddr8":
            return None
        return python_value(literal[1].replace("''", "'"), literal[2])


class TextVectors(unittest.TestCase):
    def test_each_text_is_its_key_or_refused(self):
        read = 0
        for row in support.rows("texts.tsv"):
            try:
                text = self.text_of(row["text"])
            except UnicodeDecodeError:
                continue  # no str has these bytes
            with self.subTest(f"{row['type']} {row['text'][:60]}"):
                if row["key_hex"] == "-":
                    with self.assertRaises(KeyValueError):
                        Key.parse(row["type"], text)
                else:
                    self.check(Key.parse(row["type"], text), row["key_hex"])
            read += 1
        self.assertGreater(read, 750)

    def text_of(self, text):
        return bytes.fromhex(text[4:]).decode() if text.startswith("hex:") else text

    def check(self, key, key_hex):
        if key_hex.startswith("xxh64:"):
            self.assertEqual("xxh64:" + xxhash.xxh64_hexdigest(key.data, 0), key_hex)
        else:
            self.assertEqual(key.data.hex(), key_hex)


class FilterVectors(unittest.TestCase):
    rows = support.rows("filters.tsv")

    def test_fields(self):
        for row in self.rows:
            with self.subTest(row["name"]):
                data = bytes.fromhex(row["filter_hex"])
                info = BloomFilter.from_bytes(data).info
                fields = "n hashes blocks part parts bits_set".split()
                wanted = [int(row[name]) for name in "n k blocks part parts bits_set".split()]
                self.assertEqual([getattr(info, name) for name in fields], wanted)
                self.assertEqual(info.block_bits, 1 << int(row["log2_block_bits"]))
                self.assertEqual(info.seed % 2**64, int(row["seed"]))
                self.assertEqual(struct.pack(">d", info.p).hex(), row["p_hex"])
                self.assertEqual(info.key_type.partition("(")[0], keys.KEY_TYPES[int(row["key_type"])])
                self.assertEqual(info.bytes, len(data))
                self.assertEqual(info.checksum, row["checksum_hex"])
                self.assertEqual(info.filters, (replace(info, filters=()),))

    def test_answers(self):
        for row in self.rows:
            with self.subTest(row["name"]):
                self.check_answers(row, BloomFilter.from_bytes(bytes.fromhex(row["filter_hex"])))

    def check_answers(self, row, filter_):
        key_type = int(row["key_type"]) or 1
        for column, answer in (("keys", True), ("absent", False), ("false_positives", True)):
            asked = [Key(key_type, key) for key in support.key_list(row[column])]
            self.assertEqual([key in filter_ for key in asked], [answer] * len(asked))
            self.assertEqual(filter_.contains_many(asked), [answer] * len(asked))
        for column, wanted in (("keys", "key_explained"), ("absent", "absent_explained")):
            if row[wanted] != "-":
                key = Key(key_type, support.key_list(row[column])[0])
                self.assertEqual(filter_.explain(key), row[wanted].replace("|", "\n"))

    def test_keys_of_other_parts(self):
        for row in self.rows:
            if row["parts"] == "1":
                continue
            with self.subTest(row["name"]):
                filter_ = BloomFilter.from_bytes(bytes.fromhex(row["filter_hex"]))
                self.check_parts(filter_, int(row["part"]), int(row["parts"]))

    def check_parts(self, filter_, part, parts):
        """Its own keys are answered, about all others refused, and never denied."""
        answered = 0
        for value in range(200):
            try:
                answered += filter_.contains_many([value]) in ([True], [False])
                self.assertIsInstance(value in filter_, bool)
            except bloomfilter_reader.PartError:
                with self.assertRaises(bloomfilter_reader.PartError):
                    value in filter_
        self.assertLess(answered, 200)
        self.assertIn(f"{part} of {parts}" if answered else "", filter_.explain(1) + "\n" + "".join(
            filter_.explain(value) for value in range(200)))


class ExactVectors(unittest.TestCase):
    def test_members_others_and_strangers(self):
        for row in support.rows("exact.tsv"):
            if row["word"] != "-":
                continue
            with self.subTest(row["name"]):
                data = bytes.fromhex(row["filter_hex"])
                filter_ = BloomFilter.from_bytes(data)
                for column, answer in (("members_hex", True), ("others_hex", False), ("strangers_hex", False)):
                    asked = [Key(int(row["key_type"]) or 1, key) for key in support.key_list(row[column])]
                    self.assertEqual([key in filter_ for key in asked], [answer] * len(asked))
                    self.assertEqual(filter_.contains_many(asked), [answer] * len(asked))
                self.assertEqual((filter_.info.exact, filter_.info.format_version, filter_.info.bytes), (True, 2, len(data)))
                self.assertEqual(filter_.to_bytes(), data)


class BrokenVectors(support.InFolder):
    rows = support.rows("invalid.tsv") + [
        {**row, "rule": row["word"]} for row in support.rows("exact.tsv") if row["word"] != "-"]

    def refused(self, row, take, *args, **options):
        with self.subTest(row["name"]), self.assertRaises(InvalidFilterError) as caught:
            take(*args, **options)
        self.assertEqual(caught.exception.rule, row["rule"])

    def test_each_is_refused_for_its_rule(self):
        for row in self.rows:
            data = bytes.fromhex(row["filter_hex"])
            with open(self.path, "wb") as file:
                file.write(data)
            self.refused(row, BloomFilter.from_bytes, data)
            self.refused(row, BloomFilter.open, self.path)
            self.refused(row, BloomFilter.open, self.path, copy=True)

    def test_without_verification_the_header_still_counts(self):
        for row in support.rows("invalid.tsv"):
            if row["rule"] not in ("bits_set", "checksum"):
                self.refused(row, BloomFilter.from_bytes, bytes.fromhex(row["filter_hex"]), verify=False)
