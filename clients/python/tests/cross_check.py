#!/usr/bin/env python3
"""Answers what test/readers asks of a reader, a line each: the top of test/readers/readers.py has the questions.

Each key is asked for twice, as a value of Python's own type where it has one, and from its text;
the two must agree.
"""

import array
import datetime
import decimal
import ipaddress
import os
import re
import sys
import uuid

from bloomfilter_reader import BloomFilter, BloomFilterError, Key, MacAddress, Real, WatchedBloomFilter, keys

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
INFO = "n p seed hashes block_bits blocks part parts key_type bits_set checksum bits bytes format_version others fill".split()
opened = {}


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


def key_of(field):
    """The key of a question, and a value of Python's that it is, or the key again."""
    name, _, text = field.partition(" ")
    form, _, rest = name.partition(":")
    if form == "raw":
        key = Key(rest.split(":")[0], bytes.fromhex(text))
        return key, int.from_bytes(key.data, "little", signed=True) if rest == "integer" else key
    if form == "row":
        columns = tuple(key_of("raw:" + column.replace(":", " "))[0] for column in text.split())
        return Key(*keys.encode(columns)), columns
    if form == "hex":
        name, text = rest, bytes.fromhex(text).decode(errors="surrogateescape")
    key = Key.parse(name, text)
    try:
        own = OWN_TYPES[name](text)
        keys.encode(own)
    except (ValueError, ArithmeticError):
        return key, key  # Python's parsers don't take all spellings
    return key, own


def describe(field):
    key, own = key_of(field)
    # a float of some texts of real is rounded once before
    if keys.encode(own) != keys.encode(key) and not field.startswith("real "):
        return "differ"
    return f"{key.key_type} {key.data.hex() or '-'}"


def ask(filter_, field):
    key, own = key_of(field)
    answers = {key in filter_, own in filter_, filter_.contains(own)}
    return str(int(*answers)) if len(answers) == 1 else "differ"


def many(filter_, fields):
    pairs = [key_of(field) for field in fields]
    own = [own for _, own in pairs]
    ways = [[key for key, _ in pairs], own]
    if all(isinstance(value, int) for value in own):
        ways.append(array.array("q", own))
    answers = {"".join("01"[found] for found in filter_.contains_many(way)) for way in ways}
    return answers.pop() if len(answers) == 1 else "differ"


def lacks(filter_, ranges):
    serial = filter_.status.serial or 0
    ranges = [map(int, text.split("-")) for text in ranges]
    return f"{serial} {sum(key not in filter_ for first, last in ranges for key in range(first, last + 1))}"


def open_path(path, words):
    options = dict(word.partition("=")[::2] for word in words)
    said = {"verify": "noverify" not in options, "copy": "copy" in options}
    if "bytes" in options:
        with open(path, "rb") as file:
            return BloomFilter.from_bytes(file.read(), verify=said["verify"])
    said["identity"] = options.get("identity")
    if "wait" in options:
        return WatchedBloomFilter.wait(path, float(options["wait"]), **said)
    return (WatchedBloomFilter if "watch" in options else BloomFilter.open)(path, **said)


def info_of(info):
    return [getattr(info, name) for name in INFO] + [field for part in info.filters for field in info_of(part)]


def microseconds(value):
    if value is None:
        return ""
    return (value - EPOCH if isinstance(value, datetime.datetime) else value) // datetime.timedelta(microseconds=1)


def status_of(told):
    return [told.list, told.identity, told.place or "none", told.serial, microseconds(told.true_at), microseconds(told.looked),
            told.age and told.age.total_seconds(), microseconds(told.every), microseconds(told.heartbeat), microseconds(told.expires),
            microseconds(told.since), told.failures, int(told.superseded), told.changes, told.reason, told.message]


def kind_of(error):
    return type(error).__name__ if isinstance(error, BloomFilterError) else "SystemError"


def each(answer, fields):
    for field in fields:
        try:
            yield answer(field)
        except BloomFilterError as error:
            yield kind_of(error)


def answer_to(command, name, rest):
    if command == "open":
        opened[name] = open_path(rest[0], rest[1:])
    elif command == "keep":
        opened[name] = opened[rest[0]].current
    elif command == "cd":
        os.chdir(name)
    elif command == "key":
        return each(describe, [name, *rest])
    elif command == "ask":
        return each(lambda field: ask(opened[name], field), rest)
    elif command == "info":
        return info_of(opened[name].info)
    elif command == "status":
        return status_of(opened[name].status)
    else:
        return [{
            "many": lambda: many(opened[name], rest),
            "lacks": lambda: lacks(opened[name], rest),
            "explain": lambda: opened[name].explain(key_of(rest[0])[0]).replace("\n", "|"),
            "reload": lambda: str(opened[name].reload()).lower(),
            "told": lambda: opened[name].error,
        }[command]()]
    return ["ok"]


def main():
    for line in sys.stdin:
        command, name, *rest = line.rstrip("\n").split("\t")
        try:
            answer = answer_to(command, name, rest)
        except (OSError, ValueError, BloomFilterError) as error:
            index = getattr(error, "index", None)
            answer = [kind_of(error), getattr(error, "rule", ""), index, str(error)]
        print(*("" if field is None else field for field in answer), sep="\t", flush=True)


if __name__ == "__main__":
    main()
