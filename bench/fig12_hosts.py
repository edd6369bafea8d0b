"""Figure 12: from COMMIT to the hosts, through an exporter, nginx and followers on loopback.

Freshness: 20 commits a second, each of 50 new keys in a live index for a minute, or of 5 changes of a
tracked list for five: keys out and keys in by turns. The exporter looks each 250 ms, a host each second;
of the list another host looks by a login. A reader in another process looks for the last key of each
commit every 2 ms; its time is counted from COMMIT's answer. Questions: a file that a follower keeps
beside a plain one of the same bits, in turns, by each reader. Followers: a thousand of them, each looking once a
second, each with files of its own.
"""

import ctypes
import multiprocessing
import os
import random
import subprocess
import time

from hosts import Chain, Followed, cpu_seconds, private_bytes, wait_for
from languages import Questions
from measure import Samples
from run import MILLION, name_of, start
from server import Session
from table import Table

COMMITS_A_SECOND = 20


class NewKeys:
    """Of a live index."""

    what, source, keys_a_commit, seconds = "freshness", ("--index", "followed_id"), 50, 60

    @staticmethod
    def make(session, count):
        """A table that half fills an index of count keys."""
        session.run("drop table if exists followed")
        session.run("create table followed (id bigint)")
        session.run(f"insert into followed select generate_series(1, {count // 2})")
        session.run(f"create index followed_id on followed using bloomfilter (id) with (n = {count})")
        session.run("checkpoint")

    @classmethod
    def commit(cls, session, _):
        """The last key, and what it is from now on."""
        first = random.getrandbits(60)
        last = first + cls.keys_a_commit - 1
        session.run(f"insert into followed select generate_series({first}, {last})")
        return last, 1


class Changes:
    """Of a tracked list."""

    what, source, keys_a_commit, seconds = "changes", ("--list", "followed"), 5, 300

    @staticmethod
    def make(session, count):
        if session.value("select count(*) from bloom_published where name = 'followed'") != "0":
            session.run("call bloom_drop('followed')")
        session.run(f"call bloom_publish('followed', 'select generate_series(1, {count})::bigint', n => {count})")
        session.run("call bloom_track('followed')")
        session.run("checkpoint")

    @classmethod
    def commit(cls, session, number):
        """A member goes, or a key that wasn't there comes."""
        comes = number % 2
        first = random.getrandbits(60) if comes else 1 + number * cls.keys_a_commit
        last = first + cls.keys_a_commit - 1
        session.run(f"select count(bloom_change('followed', k, {bool(comes)})) from generate_series({first}::bigint, {last}) k")
        return last, comes


def opened(run, path):
    """A function that asks a file for a key, also when another one has taken its place."""
    library = ctypes.CDLL(os.path.join(run.tree, "build", "lib", "libbloomfilter.so"))
    library.bloomfilter_reader_enter.restype = ctypes.c_void_p
    library.bloomfilter_contains_int64.argtypes = [ctypes.c_void_p, ctypes.c_int64]
    watched, reader = ctypes.c_void_p(), ctypes.c_void_p()
    if (library.bloomfilter_watched_open(path.encode(), 0, None, ctypes.byref(watched), None) < 0
            or library.bloomfilter_reader_open(watched, ctypes.byref(reader)) < 0):
        raise SystemExit("cannot open " + path)

    def contains(key):
        answer = library.bloomfilter_contains_int64(library.bloomfilter_reader_enter(reader), key)
        library.bloomfilter_reader_leave(reader)
        return answer

    return contains


def read_along(run, path, commits, result):
    """Asks each key that comes until it is what it became; sends how long each took."""
    contains = opened(run, path)
    waiting, took, last = [], [], None
    while last is None or (waiting and time.monotonic() < last + 20):
        while commits.poll():
            one = commits.recv()
            if one is None:
                last = time.monotonic()
            else:
                waiting.append(one)
        now = time.monotonic()
        right = [contains(key) == value for key, value, _ in waiting]
        took += [now - since for (_, _, since), found in zip(waiting, right) if found]
        waiting = [one for one, found in zip(waiting, right) if not found]
        time.sleep(0.002)
    result.send((took, len(waiting)))


def write(session, kind, seconds, told, each_second):
    """Commits at their rate, and calls told with a key of each, what it became, and its time."""
    begin = time.monotonic()
    for number in range(int(seconds * COMMITS_A_SECOND)):
        time.sleep(max(0.0, begin + number / COMMITS_A_SECOND - time.monotonic()))
        told((*kind.commit(session, number), time.monotonic()))
        each_second(number)
    return time.monotonic() - begin


def share_of(took, share):
    return sorted(took)[min(len(took) - 1, int(len(took) * share))]


def idle_wal(session, seconds):
    """Bytes of WAL written while the exporter looks and nobody writes."""
    before = session.value("select pg_current_wal_insert_lsn()")
    time.sleep(seconds)
    return int(session.value(f"select pg_current_wal_insert_lsn() - '{before}'"))


class Patches:
    """Those that an exporter writes: from, to and length of each that was seen."""

    def __init__(self, chain):
        self.chain, self.seen = chain, {}

    def note(self, _):
        patch = self.chain.last_patch()
        if patch is not None:
            self.seen[patch[1]] = patch

    def add_to(self, table, count, what):
        keys_a_second = COMMITS_A_SECOND * NewKeys.keys_a_commit
        sizes = [length / (keys_a_second * (to - since) / 1e6) for since, to, length in self.seen.values()]
        table.add("freshness", name_of(count), what, unit="bytes/key", samples=Samples(sizes))


class Watcher:
    """A process that reads the file of a host along."""

    def __init__(self, run, path):
        commits, self.commits = multiprocessing.Pipe(False)
        self.result, result = multiprocessing.Pipe(False)
        multiprocessing.Process(target=read_along, args=(run, path, commits, result), daemon=True).start()

    def add_to(self, table, kind, count, way):
        """After the last commit."""
        self.commits.send(None)
        found, lost = self.result.recv()
        for what, share in (("median", 0.5), ("99th percentile", 0.99), ("99.9th percentile", 0.999), ("longest", 1)):
            table.add(kind.what, name_of(count), what + way, unit="s", samples=share_of(found, share))
        table.add(kind.what, name_of(count), "keys never found" + way, unit="keys", samples=lost,
                  note=f"of {len(found) + lost} commits")


def freshness(run, session, table, chain, kind, count):
    """The file of the host that looks by URL."""
    paths = {"": chain.begin_host("one"), ", by login": chain.begin_host("two", by_login=True)}
    chain.wait_for_hosts()
    watchers = {way: Watcher(run, path) for way, path in paths.items()}
    table.add(kind.what, name_of(count), "WAL while nobody writes", unit="bytes", samples=idle_wal(session, 3))
    backend = int(session.value("select pid from pg_stat_activity where application_name = 'bloomfilter export'"))
    watched = {"backend": backend, "exporter": chain.exporter.pid, "follower": chain.hosts[paths[""]].pid}
    before = {what: cpu_seconds(pid) for what, pid in watched.items()}
    patches = Patches(chain)

    def told(commit):
        for watcher in watchers.values():
            watcher.commits.send(commit)

    took = write(session, kind, run.choose(2, kind.seconds), told, patches.note)
    used = {what: cpu_seconds(pid) - before[what] for what, pid in watched.items()}
    for way, watcher in watchers.items():
        watcher.add_to(table, kind, count, way)
    for what in watched:
        table.add(kind.what, name_of(count), f"processor time, {what}", unit="% of a core", samples=100 * used[what] / took)
    if kind is NewKeys:
        patches.add_to(table, count, "patches")
    return paths[""]


def slower_patches(run, session, table, count):
    """Those with more keys, which take fewer bytes for each."""
    chain = Chain(run, NewKeys.source, "1")
    patches = Patches(chain)
    write(session, NewKeys, run.choose(3, 30), lambda _: None, patches.note)
    patches.add_to(table, count, "patches, a look each second")
    chain.end()


def questions(run, table, readers, path, count):
    """The same bits in a followed file and in a plain one, each opened as a program opens it."""
    copy = os.path.join(run.work, "copy.bloom")
    subprocess.run([os.path.join(run.tree, "build", "cli", "bloomfilter"), "copy", path, copy], check=True)
    for language in readers.commands:
        samples = readers.ask(language, count // 2, run.choose(2, 10), path, copy)
        followed, plain = samples[path, "absent"], samples[copy, "absent"]
        table.add_all("questions", name_of(count), unit="ns",
                      samples={f"{language}, followed": followed, f"{language}, plain": plain})
        table.add("questions", name_of(count), f"{language}, followed over plain", unit="ratio",
                  samples=followed.over(plain))
    os.unlink(copy)


def one_host(run, session, table, readers):
    for count in run.choose([100_000], [MILLION, 10 * MILLION, 100 * MILLION]):
        for kind in NewKeys, Changes:
            kind.make(session, count)
            chain = Chain(run, kind.source, "0.25")
            path = freshness(run, session, table, chain, kind, count)
            if kind is NewKeys:
                questions(run, table, readers, path, count)
            chain.end()
        slower_patches(run, session, table, count)


def many_hosts(run, session, table, kind):
    count, hosts = run.choose((100_000, 20), (MILLION, 1000))
    kind.make(session, count)
    chain = Chain(run, kind.source, "1")
    for number in range(hosts):
        chain.begin_host(str(number))
    chain.wait_for_hosts()
    copies = [Followed(path) for path in chain.hosts]
    wait_for("all hosts' first looks", lambda: max(copy.age() for copy in copies) < 10)
    followers = [process.pid for process in chain.hosts.values()]
    sent, web = chain.bytes_sent(), chain.web_cpu()
    used = sum(map(cpu_seconds, followers))
    ages, commits = [], []

    def note_ages(number):
        if number % COMMITS_A_SECOND == COMMITS_A_SECOND - 1:
            ages.append(max(copy.age() for copy in copies))

    took = write(session, kind, run.choose(3, 30), commits.append, note_ages)
    used = sum(map(cpu_seconds, followers)) - used
    web = chain.web_cpu() - web
    sent = chain.bytes_sent() - sent
    # The last key that went, for which no false positive can answer, where keys go.
    key, value, _ = min(reversed(commits), key=lambda commit: commit[1])
    readers, end = [opened(run, path) for path in chain.hosts], time.monotonic() + 10
    while time.monotonic() < end and any(contains(key) != value for contains in readers):
        time.sleep(0.1)
    stale = sum(contains(key) != value for contains in readers)
    where = f"{hosts} hosts, {name_of(count)} keys, {kind.what}"
    for what, unit, value in (
            ("hosts not up to date 10 s after the last commit", "hosts", stale),
            ("followers that ended", "hosts", sum(process.poll() is not None for process in chain.hosts.values())),
            ("oldest state seen at any host", "s", max(ages)),
            ("processor time, a follower", "% of a core", 100 * used / took / hosts),
            ("processor time, nginx", "% of a core", 100 * web / took),
            ("from the web server to a follower", "bytes/s", sent / took / hosts),
            ("private memory of a follower", "MB", sum(map(private_bytes, followers)) / hosts / 1e6)):
        table.add("followers", where, what, unit=unit, samples=value)
    chain.end()


def main():
    run, _, _ = start()
    session = Session()
    table = Table(run, "fig12_hosts", "from COMMIT to the hosts", ["what", "case", "contender"])
    one_host(run, session, table, Questions(run))
    for kind in NewKeys, Changes:
        many_hosts(run, session, table, kind)
    table.write()
    session.close()


if __name__ == "__main__":
    main()
