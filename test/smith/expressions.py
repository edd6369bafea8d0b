#!/usr/bin/python3
"""expressions: random expressions of filters, by all plans the same, and never a key lost.

    expressions.py SECONDS SEED

Makes expressions of the extension's functions, operators and aggregates, nested and in
subqueries, over keys of all types.  For each it knows keys that the result must contain.
Each is run with plain and parallel plans and one of some others, which must give equal bytes or
the same error, of a class that a user can cause.  The seed gives the same expressions.
Needs a server with the extension (PGHOST, PGDATABASE).
"""
import random
import sys
import time

import psycopg2

NUMBERS = 3000

# Key type: an expression that makes a key of number i, different for different i.
KEYS = {
    "bigint": "i * 7919::bigint - 400000",
    "smallint": "i::smallint",
    "text": "md5(i::text)",
    "name": "('n' || i)::name",
    "char": "('c' || i)::char(12)",
    "bytea": "decode(md5(i::text), 'hex')",
    "uuid": "md5(i::text)::uuid",
    "numeric": "(i - 500) * 1.10::numeric",
    "float": "(i - 500) / 7.0::double precision",
    "real": "(i - 500)::real",
    "date": "date '1950-03-01' + i",
    "timestamp": "timestamp '1969-12-31 12:00' + i * interval '1.000777 s'",
    "timestamptz": "timestamptz '2024-03-30 12:00+00' + i * interval '7.123456 s'",
    "inet": "'10.0.0.0/8'::inet + i",
    "macaddr": "left(md5(i::text), 12)::macaddr",
}

PLANS = {
    "plain": "SET max_parallel_workers_per_gather = 0",
    "parallel": "SET max_parallel_workers_per_gather = 3; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; "
                "SET min_parallel_table_scan_size = 0",
    "workers only": "SET parallel_leader_participation = off",
    "forced": "SET {force} = regress",
    "sorted": "SET enable_hashagg = off; SET enable_hashjoin = off; SET work_mem = '64kB'",
    "compiled": "SET jit = on; SET jit_above_cost = 0",
}

# Run for each expression; of the others, one.
ALWAYS = ("plain", "parallel", "forced")

ALLOWED = ("22", "42", "54", "0A")


class Maker:
    """Expressions of one key type and, mostly, one size of filter."""

    def __init__(self, source):
        self.random = source
        self.key = KEYS[source.choice(sorted(KEYS))]
        self.sizes = [self.size() for _ in range(2)]

    def size(self):
        n = self.random.choice([1, 10, 1000, 3000, 100000])
        return f"{n}, {self.random.choice([0.5, 0.01, 0.0001])}, {self.random.choice([0, -1, 42])}"

    def same_size(self):
        return self.sizes[0] if self.random.random() < 0.95 else self.sizes[1]

    def condition(self):
        """Some of the numbers, in SQL and in fact."""
        a = self.random.choice([1, 2, 7, 100, 5000])
        b = self.random.randrange(a)
        limit = self.random.choice([0, 1, 100, NUMBERS])
        return f"i % {a} = {b} AND i < {limit}", frozenset(i for i in range(limit) if i % a == b)

    def filter(self, depth):
        """An expression of a filter, and numbers whose keys it contains."""
        if depth == 0:
            return self.random.choice([self.empty, self.built, self.stored])(0)
        return self.random.choice([
            self.built, self.stored, self.union, self.union, self.intersection, self.added, self.added_all, self.carried,
            self.shrunk, self.reset, self.gathered, self.grouped, self.chosen, self.recursive, self.window])(depth - 1)

    def empty(self, _):
        create = self.random.choice(["bloom_create(", "bloom_create_part(0, 1, "])
        return f"{create}{self.same_size()})", frozenset()

    def built(self, _):
        condition, members = self.condition()
        size = self.same_size()
        return f"coalesce((SELECT bloom_agg({self.key}, {size}) FROM numbers WHERE {condition}), bloom_create({size}))", members

    def stored(self, _):
        """Of a table, so that it is asked and changed as a stored value."""
        condition, members = self.condition()
        size = self.same_size()
        return (f"(WITH s AS MATERIALIZED (SELECT bloom_agg({self.key}, {size}) AS f FROM numbers WHERE {condition}) "
                f"SELECT coalesce(f, bloom_create({size})) FROM s)"), members

    def union(self, depth):
        a, in_a = self.filter(depth)
        b, in_b = self.filter(depth)
        return self.random.choice([f"({a} | {b})", f"bloom_union({a}, {b})"]), in_a | in_b

    def intersection(self, depth):
        a, in_a = self.filter(depth)
        b, in_b = self.filter(depth)
        return f"({a} & {b})", in_a & in_b

    def added(self, depth):
        f, members = self.filter(depth)
        i = self.random.randrange(NUMBERS)
        return f"bloom_add({f}, (SELECT {self.key} FROM numbers WHERE i = {i}))", members | {i}

    def added_all(self, depth):
        f, members = self.filter(depth)
        condition, more = self.condition()
        return f"bloom_add_all({f}, ARRAY(SELECT {self.key} FROM numbers WHERE {condition}))", members | more

    def carried(self, depth):
        f, members = self.filter(depth)
        return self.random.choice([f"({f})::text::bloomfilter", f"({f})::bytea::bloomfilter", f"(ARRAY[{f}])[1]"]), members

    def shrunk(self, depth):
        f, members = self.filter(depth)
        return self.random.choice([f"bloom_shrink({f})", f"bloom_shrink({f}, 0.9)"]), members

    def reset(self, depth):
        f, _ = self.filter(depth)
        return f"bloom_reset({f})", frozenset()

    def gathered(self, depth):
        a, in_a = self.filter(depth)
        b, in_b = self.filter(depth)
        name, members = self.random.choice([("union", in_a | in_b), ("intersection", in_a & in_b)])
        return f"(SELECT bloom_{name}_agg(f) FROM (SELECT {a} AS f UNION ALL SELECT {b} UNION ALL SELECT NULL) AS u)", members

    def grouped(self, _):
        condition, members = self.condition()
        size = self.same_size()
        return (f"coalesce((SELECT bloom_union_agg(f) FROM (SELECT bloom_agg({self.key}, {size}) AS f FROM numbers "
                f"WHERE {condition} GROUP BY i % {self.random.choice([2, 13, 400])}) AS g), bloom_create({size}))"), members

    def chosen(self, depth):
        f, members = self.filter(depth)
        g, _ = self.filter(0)
        return f"(SELECT CASE WHEN i >= 0 THEN {f} ELSE {g} END FROM numbers WHERE i = 7)", members

    def recursive(self, depth):
        f, members = self.filter(depth)
        steps = self.random.randrange(1, 6)
        return (f"(WITH RECURSIVE r (n, f) AS (SELECT 0, {f} UNION ALL SELECT n + 1, bloom_add(f, {self.key}) "
                f"FROM r, numbers WHERE i = n AND n < {steps}) SELECT f FROM r ORDER BY n DESC LIMIT 1)"), members | set(range(steps))

    def window(self, _):
        size = self.same_size()
        limit = self.random.randrange(2, 40)
        return (f"(SELECT f FROM (SELECT i, bloom_agg({self.key}, {size}) OVER (ORDER BY i) AS f FROM numbers WHERE i < {limit}) AS w "
                f"ORDER BY i DESC LIMIT 1)"), frozenset(range(limit))


def statement(maker, expression, members):
    """The filter's bytes, whether it is whole, and how many of its keys it denies."""
    numbers = ",".join(map(str, sorted(members)))
    return (f"WITH q AS MATERIALIZED (SELECT {expression} AS f) "
            f"SELECT (SELECT md5(f::bytea) FROM q), (SELECT bloom_verify(f) FROM q), "
            f"(SELECT count(*) FROM q, numbers WHERE i = ANY ('{{{numbers}}}') AND NOT f @> ({maker.key})), "
            f"(SELECT count(*) FROM q, unnest(bloom_contains_each(f, ARRAY(SELECT {maker.key} FROM numbers "
            f"WHERE i = ANY ('{{{numbers}}}')))) AS e WHERE NOT e)")


def answer(connection, sql):
    """The row, or the error's code."""
    try:
        with connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchone()
    except psycopg2.Error as error:
        if error.pgcode is None:
            raise
        return error.pgcode, str(error)


def connections():
    """One session for each way to plan."""
    result = {}
    for name, settings in PLANS.items():
        connection = psycopg2.connect("")
        connection.autocommit = True
        force = "force_parallel_mode" if connection.server_version < 160000 else "debug_parallel_query"
        with connection.cursor() as cursor:
            cursor.execute("SET bloomfilter.overflow = ignore; SET statement_timeout = '60s'")
            # All but the plain ones are parallel, and something else besides.
            if name != "plain":
                cursor.execute(PLANS["parallel"])
            cursor.execute(settings.format(force=force))
        result[name] = connection
    return result


def setup():
    connection = psycopg2.connect("")
    connection.autocommit = True
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE numbers AS SELECT i FROM generate_series(0, {NUMBERS - 1}) AS i")
        cursor.execute("ALTER TABLE numbers SET (parallel_workers = 3)")
        cursor.execute("ANALYZE numbers")
    connection.close()


def problem(maker, expression, members, sessions):
    """What is wrong with an expression's answers, and whether it had one."""
    sql = statement(maker, expression, members)
    answers = {name: answer(session, sql) for name, session in sessions.items()}
    first = answers["plain"]
    if len({a[0] for a in answers.values()}) != 1:
        return f"plans differ {answers}", False
    if len(first) == 2:
        return (None, False) if first[0].startswith(ALLOWED) else (f"error {first}", False)
    for name, row in answers.items():
        if row[1:] != (True, 0, 0):
            return f"{name}: whole, denied, denied {row[1:]}", False
    return None, True


def main():
    seconds = float(sys.argv[1])
    seed = int(sys.argv[2])
    source = random.Random(seed)
    setup()
    sessions = connections()
    end = time.monotonic() + seconds
    tried = answered = checked = 0
    problems = []
    while time.monotonic() < end and len(problems) < 5:
        maker = Maker(source)
        expression, members = maker.filter(source.randrange(1, 5))
        ways = ALWAYS + (source.choice(sorted(set(PLANS) - set(ALWAYS))),)
        wrong, good = problem(maker, expression, members, {way: sessions[way] for way in ways})
        tried += 1
        answered += good
        checked += len(members) * len(ways) * 2 if good else 0
        if wrong:
            problems.append(wrong)
            print(f"# number {tried} of seed {seed}: {wrong}\n# {statement(maker, expression, members)[:4000]}")
    verdict = "ok" if not problems else "not ok"
    print(f"{verdict} - seed {seed}: {tried} expressions by {len(ALWAYS) + 1} plans each, {answered} gave a filter, "
          f"{checked} keys asked that are in, {len(problems)} problems")
    enough = "ok" if answered * 3 > tried else "not ok"
    print(f"{enough} - at least a third gave a filter")


if __name__ == "__main__":
    main()
