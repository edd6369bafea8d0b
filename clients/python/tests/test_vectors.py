"""The golden vectors, as far as this package is other code than the C library, whose tests have all rows."""

import struct
import unittest
from dataclasses import replace

from bloomfilter_reader import BloomFilter, InvalidFilterError, Key, KeyValueError, PartError, keys

from . import support
from .cross_check import OWN_TYPES


class Vectors(unittest.TestCase):
    def test_texts(self):
        """Of a parsed text, and of the value of Python's own type, whose parsers don't take all spellings."""
        own = 0
        for row in support.rows("texts.tsv"):
            key_type, text, wanted = row["type"], row["text"], row["key_hex"]
            if text.startswith("hex:") or wanted.startswith("xxh64:"):
                continue
            with self.subTest(f"{key_type} {text[:60]}"):
                if wanted == "-":
                    with self.assertRaises(KeyValueError):
                        Key.parse(key_type, text)
                    continue
                key = Key.parse(key_type, text)
                self.assertEqual(key.data.hex(), wanted)
                if key_type == "real":
                    continue  # a float of some of these texts is rounded once before
                try:
                    value = OWN_TYPES[key_type](text)
                except (ValueError, ArithmeticError):
                    continue
                self.assertEqual(keys.encode(value), keys.encode(key))
                own += 1
        self.assertGreater(own, 250)

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
