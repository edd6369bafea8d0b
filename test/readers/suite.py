"""What the cases need: questions to all readers at once, and files to ask."""

import itertools
import os
import struct
import sys
import time

import xxhash

import readers

VECTORS = os.path.join(readers.ROOT, "test", "vectors")
sys.path.insert(0, VECTORS)
import make_feed
import make_vectors as v

v.xxh64 = xxhash.xxh64_intdigest
ALL = []
score = {True: 0, False: 0}


def rows(name):
    with open(os.path.join(VECTORS, name), encoding="utf-8", newline="\n") as file:
        first, *lines = file.read().split("\n")[:-1]
    return [dict(zip(first[1:].split("\t"), line.split("\t"))) for line in lines]


def page(name, table="pages.tsv"):
    return next(bytes.fromhex(row["file_hex"]) for row in rows(table) if row["name"] == name)


def listed(text):
    return [] if text == "-" else text.split(",")


def integers(numbers):
    return [f"integer {number}" for number in numbers]


def only(*names):
    return [reader for reader in ALL if reader.name in names]


def check(what, holds, seen):
    score[bool(holds)] += 1
    if not holds:
        print(f"not ok - {what}: {seen[:1000]}")


def expect(what, wanted, *question, of=None):
    """Asks all readers; wanted is the answer, or a function of reader and answer."""
    for reader in of or ALL:
        reader.send(*question)
    for reader in of or ALL:
        answer = reader.receive()
        holds = wanted(reader, answer) if callable(wanted) else answer == wanted
        check(f"{reader.name}: {what}: {' '.join(question)[:200]}", holds, answer if callable(wanted) else f"{answer}, not {wanted}")


def opened(what, path, *options, of=None, name="f"):
    expect(what, "ok", "open", name, path, *options, of=of)


def answers(what, digits, *keys, of=None, name="f"):
    """One by one, and as a batch."""
    if keys:
        expect(what, "\t".join(digits), "ask", name, *keys, of=of)
        expect(what, digits, "many", name, *keys, of=of)


def eventually(what, wanted, *question, meanwhile=None, of=None):
    """Asks each until it says so, for a minute at most."""
    for reader in of or ALL:
        end = time.monotonic() + 60
        while not wanted(reader, answer := reader.ask(*question)) and time.monotonic() < end:
            if meanwhile:
                reader.ask(*meanwhile)
            time.sleep(0.01)
        check(f"{reader.name}: {what}", wanted(reader, answer), answer)


def error(name, rule=None, index=None, text=""):
    """That an answer is this error. Python has one word for what is wrong with a page, and a part's own for a part."""
    def is_it(reader, answer):
        got = answer.split("\t")
        return (got[0] == name and text in got[-1] and index in (None, int(got[2] or -1)) and
                (rule in (None, got[1]) or reader.name == "python" and (rule == "part" or got[1] in ("page", "set"))))
    return is_it


MOMENTS = "true_at", "looked", "expires", "since"


def status(**wanted):
    """That a status tells this; 0 is what isn't known. Node's Dates have milliseconds."""
    def is_it(reader, answer):
        told = dict(zip(readers.STATUS, answer.split("\t")))
        rounded = {name: value // 1000 * 1000 if reader.name == "node" and name in MOMENTS else value for name, value in wanted.items()}
        return all((told.get(name) or "0").replace("0.0", "0") == str(value or 0) for name, value in rounded.items())
    return is_it


class Files:
    """Files of this run, each by a new name."""

    names = map("{}.bloom".format, itertools.count())

    def path(self):
        return os.path.join(self.folder, next(self.names))

    def write(self, data, path=None, size=None):
        """Replaces what is at a path, by a rename."""
        path = path or self.path()
        with open(path + ".new", "wb") as file:
            file.write(data)
            file.truncate(size)
        os.rename(path + ".new", path)
        return path

    def poke(self, path, at, data):
        with open(path, "r+b") as file:
            file.seek(at)
            file.write(data if isinstance(data, bytes) else struct.pack("<Q", data))


files = Files()


def sealed(page):
    """A followed file with the right checksums: of who, and if it has one, of saved."""
    page = bytearray(page)
    page[504:512] = struct.pack("<Q", v.xxh64(bytes(page[:504]), 0))
    if page[1080:1088] != bytes(8):
        page[1080:1088] = struct.pack("<Q", v.xxh64(bytes(page[1024:1080] + page[24:32] + page[72:80]), 0))
    return bytes(page)


def follow(data, where="here", path=None):
    """Puts a followed file where the vectors say that its reader stands: here is where its follower keeps it."""
    path = path or files.path()
    if where in ("nobody", "-") or len(data) < 4096:
        return files.write(data, path)
    new = files.write(data)
    stat = os.stat(new)
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        boot = bytearray.fromhex(file.read().strip().replace("-", ""))
    boot[0] ^= where == "boot"
    page = data[:48] + boot + struct.pack("<2Q", stat.st_dev + (where == "device"), stat.st_ino + (where == "copy")) + data[80:4096]
    files.poke(new, 0, sealed(page) if data[504:512] == sealed(data)[504:512] else page)
    os.rename(new, path)
    return path


def listed_file(parts):
    """A followed file of these filters."""
    *first, last = map(make_feed.lying, parts)
    return make_feed.page(parts, b"".join(map(make_feed.padded, first)) + last, make_feed.sum_of_parts(parts))
