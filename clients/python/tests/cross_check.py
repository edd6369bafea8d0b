#!/usr/bin/env python3
"""cross_check.py FILE TYPE: answers 1 or 0 for each key on standard input.

Keys come one on a line, as PostgreSQL prints them; TYPE may be real.  Each is asked
twice, as a value of Python's own type where it has one, and from its text; the two must
agree.  Any error ends the program with status 1.

With watch, as a third argument, a line has ranges such as 1-20: the answer is the serial of the
list and how many of these integers it then lacks.
"""

import datetime
import decimal
import ipaddress
import re
import sys
import uuid

from bloomfilter_reader import BloomFilter, Key, MacAddress, Real, WatchedBloomFilter


def zoned(text):
    """fromisoformat of old Python wants minutes in the zone."""
    return datetime.datetime.fromisoformat(re.sub(r"([+-]\d\d)$", r"\1:00", text))


def padded(text):
    """... and three or six digits behind the point."""
    return re.sub(r"\.(\d{1,6})", lambda match: "." + match[1].ljust(6, "0"), text)


OWN_TYPES = {
    "integer": int,
    "text": str,
    "bytea": lambda text: bytes.fromhex(text.removeprefix("\\x")),
    "uuid": uuid.UUID,
    "numeric": decimal.Decimal,
    "float": float,
    "real": lambda text: Real(float(text)),
    "date": datetime.date.fromisoformat,
    "timestamp": lambda text: datetime.datetime.fromisoformat(padded(text)),
    "timestamptz": lambda text: zoned(padded(text)),
    "inet": ipaddress.ip_interface,
    "macaddr": lambda text: MacAddress(bytes.fromhex(text.replace(":", ""))),
}

# Infinities, and years that Python's calendar lacks.
NO_OWN_VALUE = re.compile(r"-?infinity|\d{5,}-.*|.* BC")


def answer(filter_, key_type, text):
    timed = key_type in ("date", "timestamp", "timestamptz")
    has_own = not (timed and NO_OWN_VALUE.fullmatch(text))
    found = Key.parse(key_type, text) in filter_
    if has_own and (OWN_TYPES[key_type](text) in filter_) != found:
        raise SystemExit(f"two answers for {key_type} {text!r}")
    return found


def watch(path):
    watched = WatchedBloomFilter(path)
    for line in sys.stdin:
        serial = watched.status.serial or 0
        ranges = [map(int, text.split("-")) for text in line.split()]
        print(serial, sum(key not in watched for first, last in ranges for key in range(first, last + 1)), flush=True)


def main():
    if len(sys.argv) not in (3, 4) or sys.argv[2] not in OWN_TYPES:
        raise SystemExit("usage: cross_check.py FILE TYPE [explain | watch] < KEYS")
    if sys.argv[3:] == ["watch"]:
        return watch(sys.argv[1])
    filter_ = BloomFilter.open(sys.argv[1])
    for line in sys.stdin.buffer:
        text = line.removesuffix(b"\n").decode("utf-8")
        if len(sys.argv) == 4:
            sys.stdout.write(filter_.explain(Key.parse(sys.argv[2], text)) + "\n\n")
            continue
        sys.stdout.write("1\n" if answer(filter_, sys.argv[2], text) else "0\n")


if __name__ == "__main__":
    main()
