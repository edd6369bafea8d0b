"""Figure 12: from COMMIT to the hosts, through an exporter, nginx and followers on loopback.

Freshness: 1,000 keys a second are inserted, 20 commits a second. The exporter looks each
250 ms, a host each second. A reader in another process looks for the last key of each commit
every 2 ms; its time is counted from COMMIT's answer. Questions: a file that a follower keeps
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
KEYS_A_COMMIT = 50


def index_of(session, count):
    """A table that half fills a live index of count keys."""
    session.run("drop table if exists followed")
    session.run("create table followed (id bigint)")
    session.run(f"insert into followed select generate_series(1, {count // 2})")
    session.run(f"create index followed_id on followed using bloomfilter (id) with (n = {count})")
    session.run("checkpoint")


def read_along(library, path, commits, result):
    """Looks for each key that comes until it is there; sends how long each took."""
    library = ctypes.CDLL(library)
    library.bloomfilter_contains_int64.argtypes = [ctypes.c_void_p, ctypes.c_int64]
    handle = ctypes.c_void_p()
    if library.bloomfilter_open(path.encode(), 0, ctypes.byref(handle), None) < 0:
        raise SystemExit("cannot open " + path)
    waiting, took, last = [], [], None
    while last is None or (waiting and time.monotonic() < last + 20):
        while commits.poll():
            one = commits.recv()
            if one is None:
                last = time.monotonic()
            else:
                waiting.append(one)
        now = time.monotonic()
        there = [library.bloomfilter_contains_int64(handle, key) == 1 for key, _ in waiting]
        took += [now - since for (_, since), found in zip(waiting, there) if found]
        waiting = [one for one, found in zip(waiting, there) if not found]
        time.sleep(0.002)
    result.send((took, len(waiting)))


def write_keys(session, seconds, told, each_second):
    """Inserts keys at their rate, and calls told with a key of each commit and its time."""
    begin = time.monotonic()
    for number in range(int(seconds * COMMITS_A_SECOND)):
        time.sleep(max(0.0, begin + number / COMMITS_A_SECOND - time.monotonic()))
        first = random.getrandbits(60)
        last = first + KEYS_A_COMMIT - 1
        session.run(f"insert into followed select generate_series({first}, {last})")
        told((last, time.monotonic()))
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
        keys_a_second = COMMITS_A_SECOND * KEYS_A_COMMIT
        sizes = [length / (keys_a_second * (to - since) / 1e6) for since, to, length in self.seen.values()]
        table.add("freshness", name_of(count), what, unit="bytes/key", samples=Samples(sizes))


def freshness(run, session, table, chain, count):
    path = chain.begin_host("one")
    chain.wait_for_hosts()
    commits, to_commits = multiprocessing.Pipe(False)
    result, to_result = multiprocessing.Pipe(False)
    library = os.path.join(run.tree, "build", "lib", "libbloomfilter.so")
    reader = multiprocessing.Process(target=read_along, args=(library, path, commits, to_result), daemon=True)
    reader.start()
    table.add("freshness", name_of(count), "WAL while nobody writes", unit="bytes", samples=idle_wal(session, 3))
    backend = int(session.value("select pid from pg_stat_activity where application_name = 'bloomfilter export'"))
    watched = {"backend": backend, "exporter": chain.exporter.pid, "follower": chain.hosts[path].pid}
    before = {what: cpu_seconds(pid) for what, pid in watched.items()}
    patches = Patches(chain)
    took = write_keys(session, run.choose(2, 60), to_commits.send, patches.note)
    used = {what: cpu_seconds(pid) - before[what] for what, pid in watched.items()}
    to_commits.send(None)
    found, lost = result.recv()
    reader.join()
    for what, share in (("median", 0.5), ("99th percentile", 0.99), ("99.9th percentile", 0.999), ("longest", 1)):
        table.add("freshness", name_of(count), what, unit="s", samples=share_of(found, share))
    table.add("freshness", name_of(count), "keys never found", unit="keys", samples=lost, note=f"of {len(found) + lost} commits")
    for what in watched:
        table.add("freshness", name_of(count), f"processor time, {what}", unit="% of a core", samples=100 * used[what] / took)
    patches.add_to(table, count, "patches")
    return path


def slower_patches(run, session, table, count):
    """Those with more keys, which take fewer bytes for each."""
    chain = Chain(run, "followed_id", "1")
    patches = Patches(chain)
    write_keys(session, run.choose(3, 30), lambda _: None, patches.note)
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
        index_of(session, count)
        chain = Chain(run, "followed_id", "0.25")
        questions(run, table, readers, freshness(run, session, table, chain, count), count)
        chain.end()
        slower_patches(run, session, table, count)


def many_hosts(run, session, table):
    count, hosts = run.choose((100_000, 20), (MILLION, 1000))
    index_of(session, count)
    chain = Chain(run, "followed_id", "1")
    for number in range(hosts):
        chain.begin_host(str(number))
    chain.wait_for_hosts()
    copies = [Followed(path) for path in chain.hosts]
    wait_for("all hosts' first looks", lambda: max(copy.age() for copy in copies) < 10)
    followers = [process.pid for process in chain.hosts.values()]
    sent, web = chain.bytes_sent(), chain.web_cpu()
    used = sum(map(cpu_seconds, followers))
    ages = []

    def note_ages(number):
        if number % COMMITS_A_SECOND == COMMITS_A_SECOND - 1:
            ages.append(max(copy.age() for copy in copies))

    took = write_keys(session, run.choose(3, 30), lambda _: None, note_ages)
    used = sum(map(cpu_seconds, followers)) - used
    web = chain.web_cpu() - web
    sent = chain.bytes_sent() - sent
    last = int(chain.manifest()["content"][0])
    end = time.monotonic() + 10
    while time.monotonic() < end and min(copy.serial() for copy in copies) < last:
        time.sleep(0.1)
    stale = sum(copy.serial() < last for copy in copies)
    where = f"{hosts} hosts, {name_of(count)} keys"
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
    many_hosts(run, session, table)
    table.write()
    session.close()


if __name__ == "__main__":
    main()
