"""Files that a follower changes, and those that are replaced."""

import itertools
import os
import struct
import threading
import time

import readers
from readers import key
from suite import ALL, answers, check, error, eventually, expect, follow, integers, listed_file, new_path, only, opened, page, poke, sealed, status, v, ways, write

IDENTITY = "0f8fad5b-d9cb-469f-a165-70867728950e"
SERIAL, TRUE_AT, SUPERSEDED, CHANGES, CHANGES_TO, HOW = 520, 536, 600, 608, 624, 1536
BLOCKS, HERE = 4096 + 64, page("here")


def comes_in():
    """Keys, and changes by day: at once where the file is open, to a copy never, and to a watched one by its next look."""
    table, both, copy = page("changed", "tables.tsv"), only("python", "go"), only("python", "go", "node")
    for first, pokes, asked, was, now, before, told in (
            (HERE, {BLOCKS: b"\xff" * (len(HERE) - BLOCKS), SERIAL: 1795390000000010, TRUE_AT: 1795390000000009}, [6], "0", "1",
             {"serial": 1795390000000009, "true_at": 1795390000000008}, {"serial": 1795390000000010, "true_at": 1795390000000009}),
            (page("empty_table", "tables.tsv"), {4096: table[4096:], CHANGES: 4, CHANGES_TO: 1 << 60}, [1, 2], "11", "01",
             {"changes": 0}, {"changes": 4})):
        path = follow(first)
        for name, options, of in (("f", (), ALL), ("m", ("watch",), ALL), ("c", ("copy",), copy), ("w", ("copy", "watch"), both)):
            opened("first", path, *options, name=name, of=of)
        answers("first", was, *integers(asked))
        for at, data in pokes.items():
            poke(path, at, data)
        answers("what came", now, *integers(asked))
        expect("what came", status(**told), "status", "f")
        expect("what is mapped needs no other look", "false", "reload", "m")
        answers("a copy stays", was, *integers(asked), name="c", of=copy)
        expect("a copy stays", status(**before), "status", "c", of=copy)
        for wanted in ("true", "false"):
            expect("a watched copy", wanted, "reload", "w", of=both)
        answers("a watched copy", now, *integers(asked), name="w", of=both)
        expect("a watched copy", status(**told), "status", "w", of=both)
    expect("a text", "KeyTypeError", "ask", "f", "text x")
    expect("a text", error("KeyTypeError", index=1), "many", "f", "integer 1", "text x", of=only("python", "java", "node"))


def promises():
    """The follower writes bits and then the serial: all keys of the serial that a file or a copy tells must be in it."""
    part = v.Filter("some", blocks=4000).add(v.INTEGER, [])
    path, ended = follow(listed_file([part])), threading.Event()
    poke(path, SERIAL, 0)

    def grow():
        for first in itertools.takewhile(lambda _: not ended.is_set(), itertools.count(1, 20)):
            part.add(v.INTEGER, map(v.int64_bytes, range(first, first + 20)))
            poke(path, BLOCKS, bytes(part.bits))
            poke(path, SERIAL, first + 19)
    writer = threading.Thread(target=grow)
    writer.start()
    opened("a file that changes", path)
    for _, reader in itertools.product(range(10), ALL):
        serial = reader.ask("lacks", "f").split()[0]
        check(f"{reader.name}: a file has what it told", reader.ask("lacks", "f", f"1-{serial}").endswith(" 0"), serial)
    for _, reader in itertools.product(range(10), only("python", "go", "node")):
        reader.ask("open", "c", path, "copy")
        serial = reader.ask("lacks", "c").split()[0]
        check(f"{reader.name}: a copy has what it tells", reader.ask("lacks", "c", f"1-{serial}") == serial + " 0", serial)
    ended.set()
    writer.join()


def overwritten_or_lost():
    """Bytes of another list over the same inode, or a file that its follower found damaged: an error, until there is another."""
    other = sealed(HERE[:136] + b"P" + HERE[137:BLOCKS] + bytes(len(HERE) - BLOCKS))
    for at, harm in ((0, other), (SUPERSEDED, 2)):
        opened("first", path := follow(HERE), "watch", name="w")
        opened("first", path, "watch", "copy", name="c", of=(of := only("python", "go")))
        poke(path, at, harm)
        if harm == other:
            expect("overwritten", error("ChangedFileError"), "reload", "c", of=of)
            answers("a copy stays", "1", "integer 1", name="c", of=of)
        else:
            expect("lost", error("InvalidFilterError", "lost"), "open", "f", path, of=only("java", "go", "node"))
            expect("lost", error("ChangedFileError"), "open", "f", path, of=only("python"))
        expect("changed", error("ChangedFileError"), "reload", "w")
        expect("changed", "ChangedFileError", "ask", "w", "integer 1")
        expect("changed", error("ChangedFileError"), "many", "w", "integer 1")
        expect("changed", lambda *answer: error("ChangedFileError")(*answer) or status(reason="damaged", list="")(*answer), "status", "w")
        follow(HERE, path=path)
        expect("the new file", "true", "reload", "w")
        answers("the new file", "1", "integer 1", name="w")


def identity():
    opened("upper case", path := follow(HERE), "identity=" + IDENTITY.upper())
    opened("first", path, "watch", "identity=" + IDENTITY.upper(), name="w")
    follow(sealed(HERE[:32] + bytes([HERE[32] ^ 1]) + HERE[33:]), path=path)
    expect("another list", error("InvalidFilterError", "identity"), "reload", "w")
    for other in (path, write(integers_filter((1,)))):
        expect("another list, or none", error("InvalidFilterError", "identity"), "open", "f", other, "identity=" + IDENTITY)
    answers("the old one stays", "1", "integer 1", name="w")
    expect("the old one stays", status(identity=IDENTITY), "status", "w")


def statuses():
    """By the numbers of FEED.md, and not by the readers' own."""
    path = follow(HERE)

    def tell(looked, boot, every, reason=b"", message=b""):
        poke(path, HOW, struct.pack("<7Q16s256s", looked, boot, 4, every, 20000000, 1795395700000000, 1795395500000000, reason, message))
        opened("status", path)
    tell(1795395600000000, 0, 2000000, b"no-look", b"could not connect\x1b[2J")
    poke(path, TRUE_AT, 1795395655100000)
    expect("status", status(list="public.users_filter", identity=IDENTITY, place="here", true_at=1795395655100000, looked=1795395600000000,
                            every=2000000, heartbeat=20000000, expires=1795395700000000, since=1795395500000000, failures=4,
                            superseded=0, reason="no-look", message="could not connect?[2J"), "status", "f")
    now, boot = int(time.time() * 1e6), max(1, int(time.clock_gettime(time.CLOCK_BOOTTIME) * 1e6) - 30000000)
    # by the clock of this boot it may be longer ago than the other says
    for looked, boot, every, age, reason in ((-5, 0, 2000, 5, ""), (-120, 0, 1, 120, "old"), (-120, 0, 0, 120, ""), (3600, 0, 1, -3600, "clock"),
                                             (3600, boot, 1, 29, "old")):
        tell(now + looked * 1000000, boot, every * 1000000)
        expect("age", status(age=range(age, age + 600), reason=reason), "status", "f")
    tell(0, 0, 1000000)
    expect("nobody looked", status(looked=0, age=0, reason=""), "status", "f")
    opened("followed by nobody", write(integers_filter((1,))))
    expect("followed by nobody", status(**{**dict.fromkeys(readers.STATUS, 0), "place": "none"}), "status", "f")


def superseded():
    """A file that another one took the place of is left at once, or by a timer of Node's, and kept while that can't be opened."""
    for first in (HERE, page("exact_here")):
        opened("first", path := follow(first), "watch", name="w")
        os.link(path, path + ".old")
        poke(path + ".old", SUPERSEDED, 1)
        expect("the same file", "false", "reload", "w")
        expect("the same file", status(superseded=1), "status", "w")
        follow(HERE[:SERIAL] + struct.pack("<Q", 30) + HERE[SERIAL + 8:], path=path)
        eventually("another file", status(serial=30), "status", "w", of=only("node"))
        expect("another file", status(serial=30), "status", "w")
    poke(path, SUPERSEDED, 1)
    write(b"no filter", path)
    eventually("no filter", lambda _, answer: path in answer, "told", "w", meanwhile=("ask", "w", "integer 1"))
    answers("the old one stays", "1", "integer 1", name="w")
    expect("the old one stays", status(superseded=1), "status", "w")


def integers_filter(numbers, **shape):
    return v.Filter("some", **{"blocks": 20, **shape}).add(v.INTEGER, map(v.int64_bytes, numbers)).to_bytes()


def replaced():
    asked = integers((1, 2, 3))
    opened("first", path := write(integers_filter((1, 2))), "watch", name="w")
    expect("first", "ok", "keep", "o", "w")
    expect("nothing happened", "false", "reload", "w")
    # of the same bytes the old ones may have been damaged
    for next_ in (integers_filter((1, 2)), page("here_pair"), integers_filter((2, 3), log2_block_bits=10, seed=8)):
        write(next_, path)
        expect("another file", "true", "reload", "w")
    answers("another file", "011", *asked, name="w")
    answers("who has the old one goes on with it", "110", *asked, name="o")
    for bad, rule in ((b"", "short"), (b"BLMF", "short"), (integers_filter((2, 3))[:-1], "size"), (None, None)):
        os.remove(path) if bad is None else write(bad, path)
        expect("a bad one, or none", error("InvalidFilterError" if rule else "SystemError", rule or "", text=path if rule else ""), "reload", "w")
        answers("the old one stays", "011", *asked, name="w")
    write(integers_filter((1, 2)), path)
    expect("the next", "true", "reload", "w")
    expect("no error any more", "", "told", "w", of=only("python"))
    write(integers_filter((2, 3)), path)
    eventually("it looks by itself", lambda _, answer: answer == "1", "ask", "w", "integer 3")
    write(b"BLMF", path)
    eventually("and tells of an error", lambda _, answer: path in answer, "told", "w", meanwhile=("ask", "w", "integer 3"))
    answers("the old one stays", "011", *asked, name="w")


def paths():
    path = new_path()
    expect("there is none", error("SystemError"), "open", "w", path, "wait=0.2")
    for reader in ALL:
        reader.send("open", "w", path, "wait=60")
    write(integers_filter((1, 2)), path)
    for reader in ALL:
        check(f"{reader.name} waits for the first file", reader.receive() == "ok", path)
    opened("relative", os.path.basename(path), "watch", name="w", of=(of := only("python", "go", "node")))
    expect("relative", "ok", "cd", "/", of=of)
    write(integers_filter((2, 3)), path)
    expect("relative", "true", "reload", "w", of=of)
    os.symlink(follow(HERE, path=path), link := new_path())
    opened("a link", link)
    expect("a link", status(place="here", serial=1795390000000009), "status", "f")


def sets():
    """Keys of several types and shapes, in memory and block by block, one by one and in batches: as they were added."""
    texts = ["grüße %d" % i if i % 7 == 0 else "text %d %s" % (i, "x" * i) for i in range(60)]
    for kind, some in ((v.INTEGER, {str(i): v.int64_bytes(i) for i in range(120)}), (v.TEXT, {text: text.encode() for text in texts}),
                       (v.FLOAT, {repr(i / 7): v.float_bytes(i / 7) for i in range(40)})):
        asked = [key(v.KIND_NAMES[kind], text) for text in some]
        for count, log2, without_keys in ((1, 9, None), (3, 9, 0), (3, 12, 2), (1, 16, None)):
            parts = [v.Filter("part", log2_block_bits=log2, blocks=20 + part, part=part, parts=count, seed=9) for part in range(count)]
            own = [parts[v.part_of(v.xxh64(data, 9), count)] for data in some.values()]
            for part, data in itertools.islice(zip(own, some.values()), 0, None, 3):
                if part.part != without_keys:
                    part.add(kind, [data])
            for _ in ways("a set", follow(listed_file(parts))):
                answers("a set", "".join(str(int(part.may_contain(data))) for part, data in zip(own, some.values())), *asked)
                expect("also of a part without keys", "\t".join(["KeyTypeError"] * 9), "ask", "f", *(f"date 2024-01-0{i}" for i in range(1, 10)))
                wanted = [(str(v.popcount(part.bits)), part.to_bytes()[56:64][::-1].hex()) for part in parts]
                expect("a set", lambda _, answer: list(zip(answer.split("\t")[25::16], answer.split("\t")[26::16])) == wanted, "info", "f")
    opened("a pair", follow(page("here_pair")))
    expect("one checksum for a set", lambda _, answer: answer.split("\t")[10] == "f1b2a5fbdc00231d", "info", "f")


CASES = [comes_in, promises, overwritten_or_lost, identity, statuses, superseded, replaced, paths, sets]
