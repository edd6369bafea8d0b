"""What the cases need: questions to all readers at once, and files to ask."""

import os
import struct
import sys
import tempfile
import time

import readers

VECTORS = os.path.join(readers.ROOT, "test", "vectors")
sys.path.insert(0, VECTORS)
import make_feed
import make_vectors as v

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


def ways(what, path, word="-"):
    """Opens a followed file as it is and as a copy, which is an error where it breaks a rule."""
    for door in ([], ["copy"]):
        expect(what, "ok" if word == "-" else error("InvalidFilterError", word, text=path), "open", "f", path, *door)
        if word == "-":
            yield door


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
            reader.ask(*meanwhile or question)
            time.sleep(0.01)
        check(f"{reader.name}: {what}", wanted(reader, answer), answer)


def error(name, rule=None, index=None, text=""):
    """That an answer is this error. Python has one word for what is wrong with a page, and a part's own for a part."""
    def is_it(reader, answer):
        got = answer.split("\t")
        return (got[0] == name and text in got[-1] and index in (None, int(got[2] or -1)) and
                (rule in (None, got[1]) or reader.name == "python" and (rule == "part" or got[1] in ("page", "set"))))
    return is_it


def status(**wanted):
    """That a status tells this, or a number of a range; 0 is what isn't known. Node's Dates have milliseconds."""
    def holds(reader, name, told):
        if isinstance(value := wanted[name], range):
            return int(float(told)) in value
        is_date = reader.name == "node" and name in ("true_at", "looked", "expires", "since")
        return (told or "0") == str(value // 1000 * 1000 if is_date else value or 0)

    def is_it(reader, answer):
        told = dict(zip(readers.STATUS, answer.split("\t")))
        return len(told) == len(readers.STATUS) and all(holds(reader, name, told[name]) for name in wanted)
    return is_it


# In memory, where thousands of files cost little.
folder = tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)


def new_path():
    return tempfile.mktemp(".bloom", dir=folder.name)


def write(data, path=None, size=None):
    """Replaces what is at a path, by a rename."""
    path = path or new_path()
    with open(path + ".new", "wb") as file:
        file.write(data)
        file.truncate(size)
    os.rename(path + ".new", path)
    return path


def poke(path, at, data):
    with open(path, "r+b") as file:
        file.seek(at)
        file.write(data if isinstance(data, bytes) else struct.pack("<Q", data))


def sealed(page):
    """A followed file with the right checksums: of who, and if it has one, of saved."""
    page = bytearray(page)
    page[504:512] = struct.pack("<Q", v.xxh64(bytes(page[:504]), 0))
    if page[1080:1088] != bytes(8):
        page[1080:1088] = struct.pack("<Q", v.xxh64(bytes(page[1024:1080] + page[24:32] + page[72:80]), 0))
    return bytes(page)


def follow(data, where="here", path=None):
    """Puts a followed file where the vectors say that its reader stands: here is where its follower keeps it."""
    path = path or new_path()
    if where in ("nobody", "-") or len(data) < 4096:
        return write(data, path)
    stat = os.stat(new := write(data))
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        boot = bytearray.fromhex(file.read().strip().replace("-", ""))
    boot[0] ^= where == "boot"
    page = data[:48] + boot + struct.pack("<2Q", stat.st_dev + (where == "device"), stat.st_ino + (where == "copy")) + data[80:4096]
    poke(new, 0, sealed(page) if data[504:512] == sealed(data)[504:512] else page)
    os.rename(new, path)
    return path


def listed_file(parts):
    """A followed file of these filters."""
    *first, last = map(make_feed.lying, parts)
    return make_feed.page(parts, b"".join(map(make_feed.padded, first)) + last, make_feed.sum_of_parts(parts))
