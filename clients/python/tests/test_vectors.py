"""The golden vectors, as far as this package is other code than the C library, whose tests have all rows."""

import re
import struct
import unittest
from dataclasses import replace

from bloomfilter_reader import BloomFilter, InvalidFilterError, Key, KeyValueError, PartError, keys

from . import support
from .cross_check import OWN_TYPES

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


class Vectors(unittest.TestCase):
    def test_texts(self):
        """The first two of each type, one that is a key and one that is none."""
        seen = set()
        for row in support.rows("texts.tsv"):
            case = row["type"], row["key_hex"] == "-"
            if case in seen or row["text"].startswith("hex:") or row["key_hex"].startswith("xxh64:"):
                continue
            seen.add(case)
            with self.subTest(f"{row['type']} {row['text'][:60]}"):
                if row["key_hex"] == "-":
                    with self.assertRaises(KeyValueError):
                        Key.parse(row["type"], row["text"])
                else:
                    self.assertEqual(Key.parse(row["type"], row["text"]).data.hex(), row["key_hex"])
        self.assertGreater(len(seen), 20)

    def test_filters(self):
        for row in support.rows("filters.tsv"):
            with self.subTest(row["name"]):
                data = bytes.fromhex(row["filter_hex"])
                filter_ = BloomFilter.from_bytes(data)
                info = filter_.info
                fields = "n hashes blocks part parts bits_set".split()
                wanted = [int(row[name]) for name in "n k blocks part parts bits_set".split()]
                self.assertEqual([getattr(info, name) for name in fields], wanted)
                self.assertEqual(info.block_bits, 1 << int(row["log2_block_bits"]))
                self.assertEqual(info.seed % 2**64, int(row["seed"]))
                self.assertEqual(struct.pack(">d", info.p).hex(), row["p_hex"])
                self.assertEqual(info.key_type.partition("(")[0], keys.KEY_TYPES[int(row["key_type"])])
                self.assertEqual((info.bytes, info.checksum), (len(data), row["checksum_hex"]))
                self.assertEqual(info.filters, (replace(info, filters=()),))
                self.check_answers(filter_, row)

    def check_answers(self, filter_, row):
        key_type = int(row["key_type"]) or 1
        for column, answer in (("keys", True), ("absent", False), ("false_positives", True)):
            asked = [Key(key_type, key) for key in support.key_list(row[column])]
            self.assertEqual([key in filter_ for key in asked], [answer] * len(asked))
            self.assertEqual(filter_.contains_many(asked), [answer] * len(asked))
        for column, wanted in (("keys", "key_explained"), ("absent", "absent_explained")):
            if row[wanted] != "-":
                key = Key(key_type, support.key_list(row[column])[0])
                self.assertEqual(filter_.explain(key), row[wanted].replace("|", "\n"))

    def test_exact(self):
        for row in support.rows("exact.tsv"):
            if row["word"] == "-":
                data = bytes.fromhex(row["filter_hex"])
                filter_ = BloomFilter.from_bytes(data)
                self.assertEqual((filter_.info.exact, filter_.info.format_version, filter_.to_bytes()), (True, 2, data))

    def test_a_key_of_another_part_is_an_error(self):
        row = next(row for row in support.rows("filters.tsv") if row["parts"] == "3")
        filter_ = BloomFilter.from_bytes(bytes.fromhex(row["filter_hex"]))
        others = [value for value in range(200) if "other part" in filter_.explain(value)]
        self.assertGreater(len(others), 50)
        with self.assertRaises(PartError):
            filter_.contains(others[0])
        own = next(value for value in range(200) if value not in others)
        with self.assertRaises(PartError) as caught:
            filter_.contains_many([own, own, others[0]])
        self.assertEqual(caught.exception.index, 2)

    def test_each_broken_one_is_refused_for_its_rule(self):
        for row in support.rows("invalid.tsv") + support.rows("exact.tsv"):
            rule = row.get("rule") or row["word"]
            if rule != "-":
                with self.subTest(row["name"]), self.assertRaises(InvalidFilterError) as caught:
                    BloomFilter.from_bytes(bytes.fromhex(row["filter_hex"]))
                self.assertEqual(caught.exception.rule, rule)
