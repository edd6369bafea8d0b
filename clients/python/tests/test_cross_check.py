"""The program that other tests compare languages with."""

import os
import subprocess
import sys
import tempfile
import unittest

from bloomfilter import BloomFilter, Key

from . import support

PROGRAM = os.path.join(support.HERE, "..", "cross_check.py")
KEYS = {
    "integer": ["42", "-1", "9223372036854775807"],
    "text": ["", "gr\u00f6\u00dfe", "a\rb", " a "],
    "bytea": ["\\x", "\\x00ff", "\\x6162"],
    "uuid": ["00112233445566778899aabbccddeeff", "00112233-4455-6677-8899-aabbccddeefe"],
    "numeric": ["1.50", "-0.001", "NaN", "Infinity", "1e3"],
    "float": ["0.1", "-0", "1e-10", "Infinity", "NaN"],
    "date": ["2024-02-29", "infinity", "0044-03-15 BC", "10000-01-01"],
    "timestamp": ["2024-02-29 12:34:56.5", "2024-02-29 12:34:56", "-infinity"],
    "timestamptz": ["2024-02-29 12:34:56.123+02", "2024-02-29 12:34:56+05:45",
                    "0044-03-15 12:00:00+00 BC"],
    "inet": ["10.0.0.1", "10.0.0.1/8", "::1", "2001:db8::/32", "::ffff:1.2.3.4"],
    "macaddr": ["08:00:2b:01:02:03", "08:00:2b:01:02:03:04:05"],
}


def ask(data, key_type, lines):
    with tempfile.NamedTemporaryFile(suffix=".bloom") as file:
        file.write(data)
        file.flush()
        return subprocess.run(
            [sys.executable, PROGRAM, file.name, key_type],
            input="".join(line + "\n" for line in lines).encode(),
            capture_output=True,
            check=False,
        )


class CrossCheck(unittest.TestCase):
    def test_each_type(self):
        for key_type, texts in KEYS.items():
            with self.subTest(key_type):
                parsed = [Key.parse(key_type, text) for text in texts[1:]]
                data = BloomFilter.build(parsed, 1000, 1e-9).to_bytes()
                result = ask(data, key_type, texts)
                self.assertEqual(result.stderr, b"")
                self.assertEqual(result.stdout.decode(), "0\n" + "1\n" * len(parsed))

    def test_errors_end_it(self):
        data = support.integers([1])
        for key_type, line in (("integer", "x"), ("text", "42"), ("json", "1")):
            result = ask(data, key_type, [line])
            self.assertNotEqual(result.returncode, 0)
            self.assertNotEqual(result.stderr, b"")
