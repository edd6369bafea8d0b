#!/usr/bin/python3
"""sessions: many sessions at work on filters, each answer compared with an exact one.

    sessions.py MINUTES [SEED]

For scripts/soak, which starts the server.  Sessions ask, add, merge, build and carry
filters while others replace the shared ones and cancel statements.  What a filter must
contain is known exactly: the shared ones hold every third number from a base that stands
beside them in their row, the private ones what their session remembers.  Memory is looked
at from outside (/proc) and from inside (pg_backend_memory_contexts).
"""
import collections
import glob
import math
import os
import random
import sys
import threading
import time

import psycopg2
import psycopg2.errors

WORKERS = 6
SHARED = 3
KEYS = 200000
RATE = 0.01
# Numbers from one shared filter's base to another's.
SPAN = 10000000
SNAPSHOT_SECONDS = 5
# Snapshots before this share of the time are warming up: caches fill, heaps settle.
WARM_UP = 0.3
# Bytes by which a session may have grown from the middle of the run to its end.
GROWTH = {"RssAnon": 8 << 20, "contexts": 1 << 20}

SETUP = f"""
CREATE EXTENSION bloomfilter;
CREATE TABLE shared (id int PRIMARY KEY, base bigint NOT NULL, f bloomfilter NOT NULL);
CREATE TABLE private (worker int, slot int, f bloomfilter NOT NULL, PRIMARY KEY (worker, slot));
CREATE TABLE source AS SELECT 3 * i::bigint AS k FROM generate_series(0, {KEYS} - 1) i;
ALTER TABLE source SET (parallel_workers = 2);
CREATE FUNCTION make(base bigint) RETURNS bloomfilter LANGUAGE sql AS
    'SELECT bloom_agg(base + k, {KEYS}, {RATE}) FROM source';
INSERT INTO shared SELECT i, i * {SPAN}::bigint, make(i * {SPAN}::bigint) FROM generate_series(1, {SHARED}) i;
VACUUM ANALYZE;
"""


class Tally:
    """What all sessions together have seen."""

    def __init__(self):
        self.lock = threading.Lock()
        self.done = collections.Counter()
        self.wrong = []
        self.errors = []
        self.cancelled = 0
        self.asked = 0
        self.absent = 0
        self.absent_passed = 0

    def count(self, action):
        with self.lock:
            self.done[action] += 1

    def members(self, asked, found, what):
        """found of so many keys that are in were found: all must be."""
        with self.lock:
            self.asked += asked
            if found != asked:
                self.wrong.append(f"{what}: {found} of {asked} found")

    def strangers(self, asked, passed):
        with self.lock:
            self.asked += asked
            self.absent += asked
            self.absent_passed += passed

    def holds(self, answer, what):
        with self.lock:
            self.asked += 1
            if not answer:
                self.wrong.append(what)


class Worker(threading.Thread):
    """A session that does one thing after the other, and remembers what it added."""

    def __init__(self, number, tally, end, seed):
        super().__init__()
        self.number = number
        self.tally = tally
        self.end = end
        self.random = random.Random(seed * 1000 + number)
        self.connection = psycopg2.connect("")
        self.pid = self.connection.get_backend_pid()
        self.slots = {}
        self.snapshots = []

    def query(self, sql, *parameters):
        with self.connection.cursor() as cursor:
            cursor.execute(sql, parameters)
            return cursor.fetchall() if cursor.description else None

    def shared(self):
        return self.random.randint(1, SHARED)

    def some_keys(self, count):
        return [self.random.getrandbits(62) for _ in range(count)]

    def do_point(self):
        """One key, one statement: slices."""
        for _ in range(20):
            j = self.random.randrange(KEYS)
            inside, outside = self.query(
                "SELECT f @> (base + 3 * %s::bigint), f @> (base + 3 * %s::bigint + 1) FROM shared WHERE id = %s",
                j, j, self.shared())[0]
            self.tally.members(1, int(inside), "point")
            self.tally.strangers(1, int(outside))

    def do_scan(self):
        """All keys in one statement: the filter is copied."""
        inside, outside = self.query(
            "SELECT count(*) FILTER (WHERE f @> (base + k)), count(*) FILTER (WHERE f @> (base + k + 1)) "
            "FROM shared, source WHERE id = %s", self.shared())[0]
        self.tally.members(KEYS, inside, "scan")
        self.tally.strangers(KEYS, outside)

    def do_array(self):
        found, = self.query(
            "SELECT cardinality(bloom_matches(f, ARRAY(SELECT base + k FROM source LIMIT 5000))) "
            "FROM shared WHERE id = %s", self.shared())[0]
        self.tally.members(5000, found, "array")

    def do_swap(self):
        """Another set of keys takes the place of a shared one."""
        self.query("UPDATE shared SET base = v.base, f = make(v.base) FROM (SELECT %s::bigint) AS v (base) WHERE id = %s",
                   self.random.randrange(100000) * SPAN, self.shared())

    def do_hold(self):
        """A snapshot that stays while others swap."""
        self.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        number = self.shared()
        before = self.query("SELECT base, md5(f::bytea) FROM shared WHERE id = %s", number)
        self.query("DECLARE held CURSOR FOR SELECT f @> (base + k) FROM shared, source WHERE id = %s", number)
        for _ in range(5):
            rows = self.query("FETCH 1000 FROM held")
            self.tally.members(1000, sum(row[0] for row in rows), "cursor")
            time.sleep(0.05)
        self.tally.holds(self.query("SELECT base, md5(f::bytea) FROM shared WHERE id = %s", number) == before, "snapshot")

    def do_add(self):
        """Keys are added to a filter of one's own, in all three ways."""
        slot = self.random.randrange(4)
        known = self.slots.get(slot, set())
        if len(known) > 4000 or not known:
            known = set()
            self.query("INSERT INTO private VALUES (%s, %s, bloom_create(5000, 0.001)) "
                       "ON CONFLICT (worker, slot) DO UPDATE SET f = bloom_reset(private.f)", self.number, slot)
        keys = self.some_keys(self.random.choice([1, 10, 500]))
        change = self.random.choice([
            "bloom_add_all(f, %s::bigint[])",
            "f | bloom_add_all(bloom_reset(f), %s::bigint[])",
            "(SELECT bloom_union_agg(g) FROM (SELECT f UNION ALL SELECT bloom_agg(k, 5000, 0.001) FROM unnest(%s::bigint[]) k) AS u (g))"])
        self.query(f"UPDATE private SET f = {change} WHERE worker = %s AND slot = %s", keys, self.number, slot)
        self.connection.commit()
        # Remembered only now: a cancelled statement has added nothing.
        self.slots[slot] = known | set(keys)

    def do_check(self):
        """All keys of the private filters, and of their union."""
        rows = self.query("SELECT slot FROM private WHERE worker = %s", self.number)
        everything = [key for (slot,) in rows for key in self.slots.get(slot, ())]
        for (slot,) in rows:
            keys = list(self.slots.get(slot, ()))
            found, = self.query("SELECT cardinality(bloom_matches(f, %s::bigint[])) FROM private WHERE worker = %s AND slot = %s",
                                keys, self.number, slot)[0]
            self.tally.members(len(keys), found, "private")
        found, = self.query("SELECT cardinality(bloom_matches(bloom_union_agg(f), %s::bigint[])) FROM private WHERE worker = %s",
                            everything, self.number)[0] or (0,)
        self.tally.members(len(everything), found or 0, "union")

    def do_build(self):
        """The same bytes again, with and without workers, by parts and by groups."""
        base, expected = self.query("SELECT base, md5(f::bytea) FROM shared WHERE id = %s", self.shared())[0]
        self.query("SET LOCAL parallel_setup_cost = 0; SET LOCAL parallel_tuple_cost = 0; "
                   f"SET LOCAL max_parallel_workers_per_gather = {self.random.choice([0, 1, 2])}")
        got, = self.query(f"SELECT md5(bloom_agg(k + %s, {KEYS}, {RATE})::bytea) FROM source", base)[0]
        self.tally.holds(got == expected, "build")
        got, = self.query(f"SELECT md5(bloom_union_agg(g)::bytea) FROM (SELECT bloom_agg(k + %s, {KEYS}, {RATE}) AS g "
                          "FROM source GROUP BY k %% 5) s", base)[0]
        self.tally.holds(got == expected, "build of groups")

    def do_carry(self):
        """Text, bytes and chunks give back what went in."""
        answers, = self.query(
            "SELECT ARRAY[f::text::bloomfilter = f, f::bytea::bloomfilter = f, bloom_verify(f), "
            "(SELECT string_agg(bloom_chunk(f, o, 100000), '' ORDER BY o) "
            "FROM generate_series(0, length(f::bytea), 100000) o) = f::bytea] "
            "FROM shared AS a (i, b, f), shared AS c (j, d, g) WHERE i = %s AND j = %s", self.shared(), self.shared())[0]
        self.tally.holds(all(answers), f"carry {answers}")

    def do_unsized(self):
        """n absent, and folded: no key is lost."""
        limit = self.random.randrange(1, KEYS)
        found, folded = self.query(
            "WITH k AS (SELECT k FROM source LIMIT %s), f AS (SELECT bloom_agg(k) AS f FROM k), "
            "g AS (SELECT bloom_shrink(bloom_agg(k, 1000000)) AS g FROM k) "
            "SELECT count(*) FILTER (WHERE f @> k), count(*) FILTER (WHERE g @> k) FROM k, f, g", limit)[0]
        self.tally.members(limit, found, "unsized")
        self.tally.members(limit, folded, "folded")

    def do_refused(self):
        """Errors leave nothing behind."""
        for sql in ("SELECT bloom_contains(f, 'a'::text) FROM shared", "SELECT '\\xdead'::bytea::bloomfilter",
                    "SELECT bloom_agg(k, 0) FROM source", "SELECT f | bloom_create(7) FROM shared"):
            try:
                self.query("SAVEPOINT s")
                self.query(sql)
                self.tally.holds(False, f"no error: {sql}")
            except psycopg2.errors.QueryCanceled:
                raise
            except psycopg2.Error as error:
                self.tally.holds(error.pgcode in ("22023", "42804", "22000"), f"{error.pgcode}: {sql}")
                self.query("ROLLBACK TO s")

    def step(self):
        action = self.random.choice(
            ["point"] * 4 + ["scan", "array", "swap", "hold", "add", "add", "add", "check", "build", "carry", "unsized", "refused"])
        try:
            getattr(self, "do_" + action)()
            self.connection.commit()
            self.tally.count(action)
        except psycopg2.errors.QueryCanceled:
            self.connection.rollback()
            self.tally.cancelled += 1

    def snapshot(self, seconds):
        try:
            total, = self.query("SELECT sum(total_bytes)::bigint FROM pg_backend_memory_contexts")[0]
            self.connection.commit()
        except psycopg2.errors.QueryCanceled:
            self.connection.rollback()
            return
        self.snapshots.append({"seconds": seconds, "RssAnon": status_bytes(self.pid, "RssAnon"),
                               "VmRSS": status_bytes(self.pid, "VmRSS"), "contexts": total})

    def run(self):
        start = time.monotonic()
        due = 0
        try:
            self.query("SET bloomfilter.overflow = ignore")
            self.connection.commit()
            while time.monotonic() < self.end:
                self.step()
                seconds = time.monotonic() - start
                if seconds >= due:
                    self.snapshot(seconds)
                    due = seconds + SNAPSHOT_SECONDS
        except Exception as error:  # whatever it is, it is an unexpected one
            self.tally.errors.append(f"session {self.number}: {error!r}")


class Canceller(threading.Thread):
    """Cancels whatever a session happens to do."""

    def __init__(self, workers, end, seed):
        super().__init__()
        self.workers = workers
        self.end = end
        self.random = random.Random(seed)

    def run(self):
        connection = psycopg2.connect("")
        connection.autocommit = True
        with connection.cursor() as cursor:
            while time.monotonic() < self.end:
                time.sleep(self.random.uniform(0, 2))
                cursor.execute("SELECT pg_cancel_backend(%s)", [self.random.choice(self.workers).pid])


def status_bytes(pid, field):
    with open(f"/proc/{pid}/status") as status:
        for line in status:
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024
    return 0


def median(values):
    return sorted(values)[len(values) // 2]


def growth(snapshots, field):
    """Bytes from the first half of what follows the warm-up to the second half."""
    last = snapshots[-1]["seconds"]
    settled = [s[field] for s in snapshots if s["seconds"] >= last * WARM_UP]
    half = len(settled) // 2
    return median(settled[half:]) - median(settled[:half])


class Report:
    def __init__(self):
        self.passed = 0
        self.failed = 0

    def verdict(self, holds, text):
        print("ok -" if holds else "not ok -", text)
        if holds:
            self.passed += 1
        else:
            self.failed += 1


def report_answers(report, tally):
    report.verdict(not tally.wrong, f"{tally.asked} answers, {len(tally.wrong)} wrong {tally.wrong[:5]}")
    report.verdict(not tally.errors, f"{len(tally.errors)} unexpected errors {tally.errors[:5]}")
    mean = tally.absent * RATE
    # The promise is an upper bound; six standard deviations above it are no chance.
    report.verdict(tally.absent_passed <= mean + 6 * math.sqrt(mean),
                   f"{tally.absent_passed} of {tally.absent} absent keys passed, {RATE} promised")
    report.verdict(tally.cancelled > 0, f"{tally.cancelled} statements were cancelled")
    missing = [name[3:] for name in dir(Worker) if name.startswith("do_") and not tally.done[name[3:]]]
    report.verdict(not missing, f"done: {dict(sorted(tally.done.items()))}, never: {missing}")


def report_memory(report, workers):
    for field, most in GROWTH.items():
        grown = [growth(w.snapshots, field) for w in workers if len(w.snapshots) >= 8]
        last = [w.snapshots[-1][field] for w in workers if w.snapshots]
        report.verdict(len(grown) == len(workers) and max(grown) <= most,
                       f"{field}: growth by session {[round(g / 1024) for g in grown]} kB, at the end {[round(b / 1024) for b in last]} kB")


def report_server(report):
    text = "".join(open(name, errors="replace").read() for name in glob.glob(os.environ["PGHOST"] + "/*.log"))
    crashes = [line for line in text.splitlines() if any(
        mark in line for mark in ("PANIC:", "TRAP:", "terminated by signal"))]
    report.verdict(not crashes, f"the server's log has {len(crashes)} crashes {crashes[:3]}")


def main():
    minutes = float(sys.argv[1])
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    setup = psycopg2.connect("")
    setup.autocommit = True
    for statement in SETUP.split(";\n"):
        if statement.strip():
            setup.cursor().execute(statement)
    setup.close()
    end = time.monotonic() + minutes * 60
    tally = Tally()
    workers = [Worker(i, tally, end, seed) for i in range(WORKERS)]
    threads = workers + [Canceller(workers, end, seed)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    report = Report()
    report_answers(report, tally)
    report_memory(report, workers)
    report_server(report)
    print(f"{minutes:g} minutes, {WORKERS} sessions, seed {seed}")
    print(f"{report.passed} passed, {report.failed} failed")
    return report.failed != 0


if __name__ == "__main__":
    sys.exit(main())
