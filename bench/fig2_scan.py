"""Figure 2, by day: scans prefiltered, and joins with a filter in front.

One in a hundred rows has a key that is in the set. What does not finish in CAP
seconds is reported as capped, with no time. Contenders that take long run once.
"""

import subprocess

from measure import Samples, interleave
from run import MILLION, PRIME, empty_function, key_sql, name_of, start
from server import SERIAL, parallel
from table import Table

MATCHING = 0.01
CAP = 10


def rows_table(session, rows, sizes):
    """A row has a key for each size of set: k0, k1, ..."""
    name = f"rows_{name_of(rows)}"
    keys = []
    for index, size in enumerate(sizes):
        member = f"1 + floor(random() * {size})"
        stranger = f"{size + 1} + floor(random() * {PRIME - 2 - size})"
        number = f"case when random() < {MATCHING} then {member} else {stranger} end"
        keys.append(f"{key_sql(number)} as k{index}")
    session.run(f"create unlogged table {name} as select {', '.join(keys)}, g as payload"
                f" from (select generate_series(1, {rows}) g) s")
    session.run(f"vacuum (analyze, freeze) {name}")
    return name


# Settings by which the planner is held to one way of joining.
HASH = "set enable_nestloop = off; set enable_mergejoin = off; set enable_hashjoin = on"
NESTED = "set enable_nestloop = on; set enable_mergejoin = off; set enable_hashjoin = off"
FREE = "set enable_nestloop = on; set enable_mergejoin = on; set enable_hashjoin = on"


def contenders(rows, column, keys, few):
    """{name: (settings, SQL)}"""
    known = f"(select filter from filters where name = '{keys}') @> {column}"
    found = {
        "bloomfilter": (FREE, f"select count(*) from {rows} where {known}"),
        "hash semi-join": (HASH, f"select count(*) from {rows} where {column} in (select k from {keys})"),
        "index nested loop": (NESTED, f"select count(*) from {rows} r where exists"
                                      f" (select from {keys} where k = r.{column})"),
        "join": (FREE, f"select count(*), sum(payload::bigint + c) from {rows} join {keys} on k = {column}"),
        "bloomfilter, then join": (FREE, f"select count(*), sum(payload::bigint + c) from {rows}"
                                         f" join {keys} on k = {column} where {known}"),
    }
    if few:
        found["not bloomfilter"] = (FREE, f"select count(*) from {rows} where not {known}")
        found["hash anti-join"] = (HASH, f"select count(*) from {rows} r where not exists"
                                         f" (select from {keys} where k = r.{column})")
        found["NOT IN"] = (FREE, f"select count(*) from {rows} where {column} not in (select k from {keys})")
    return found


def timed(session, settings, sql):
    session.run(settings)
    return session.seconds(sql)


def measure(run, session, table, labels, contender, rounds, budget):
    runs = {name: (lambda settings=settings, sql=sql: timed(session, settings, sql))
            for name, (settings, sql) in contender.items()}
    samples = interleave(runs, rounds, budget)
    for name, (settings, sql) in contender.items():
        session.run(settings)
        samples[name].add_note(session.nodes(sql))
    table.add_all(*labels, unit="s", samples=samples)


def scans(run, session, table):
    few_rows, many_rows = run.choose((20_000, 100_000), (2 * MILLION, 20 * MILLION))
    for rows in (few_rows, many_rows):
        name = rows_table(session, rows, run.sizes)
        session.cap(run.choose(3, CAP))
        for processes, settings in (("serial", SERIAL), ("parallel", parallel())):
            session.run(settings)
            for index, count in enumerate(run.sizes):
                contender = contenders(name, f"k{index}", f"keys_{name_of(count)}", rows == few_rows)
                measure(run, session, table, (name_of(rows), name_of(count), processes), contender,
                        run.rounds, run.choose(2, 5))
        session.cap(0)
        session.run(f"{FREE}; {SERIAL}; drop table {name}")


def semi_joins(run, session, data, table):
    """The same rows asked of a published list, of a live index and by a hash semi-join, in one process."""
    count = run.sizes[-2]
    keys, published = data.btree(count), data.publish(count)
    rows = rows_table(session, run.choose(20_000, 2 * MILLION), [count])
    session.run(f"{SERIAL}; create index {keys}_live on {keys} using bloomfilter (k) with (n = {count})")
    semi_join = f"select count(*) from {rows} where k0 in (select k from {keys})"
    asked = {
        "list": (FREE, f"select count(*) from {rows} where bloom_lookup('{published}', k0)"),
        "live": (FREE, f"select count(*) from {rows} where bloom_index_contains('{keys}_live', k0)"),
        **{f"hash semi-join, work_mem {memory}": (f"{HASH}; set work_mem = '{memory}'", semi_join)
           for memory in ("4MB", "1GB")},
    }
    measure(run, session, table, (name_of(count),), asked, run.choose(2, 7), run.choose(2, 40))
    session.run(f"{FREE}; reset work_mem; drop index {keys}_live; drop table {rows}")


# Keys of a filter of 124 kB, in anybody's cache.
SMALL_FILTER = 100_000


def overhead(run, session, data, table):
    """ns per row that the filter takes beyond a function that does nothing."""
    rows = run.choose(200_000, 5 * MILLION)
    small, large = data.filter(SMALL_FILTER), data.filter(run.sizes[-1])
    session.run(SERIAL)
    session.run(f"create unlogged table asked as select {key_sql(f'1 + g % {SMALL_FILTER}')} as there,"
                f" {key_sql(f'{run.sizes[-1]} + g')} as absent from (select generate_series(1, {rows}) g) s")
    session.run("vacuum (analyze, freeze) asked")
    condition = "{call}((select filter from filters where name = '{name}'), {column})"
    scans = {"count(*)": ("", "true"), "k > 0": ("there", "there > 0")}
    for function, column in (("bench_true", "there"), ("bench_false", "absent")):
        scans[f"empty function, {column}"] = (column, condition.format(call=function, name=small, column=column))
    for size, name in (("in cache", small), (f"{name_of(run.sizes[-1])} keys", large)):
        for column in ("there", "absent"):
            scans[f"bloomfilter {size}, {column}"] = (
                column, condition.format(call="bloom_contains", name=name, column=column))
    runs = {name: (lambda where=where: session.seconds(f"select count(*) from asked where {where}"))
            for name, (_, where) in scans.items()}
    for name, samples in interleave(runs, run.choose(2, 7)).items():
        table.add(name, unit="ns/row", samples=samples.scaled(1e9 / rows))
    session.run("drop table asked")


def latency(run, data, table):
    """One cache miss in memory of the large filter's size, by a pointer chase."""
    for label, size in (("in cache", data.filter_bytes(SMALL_FILTER)),
                        (f"{name_of(run.sizes[-1])} keys", data.filter_bytes(run.sizes[-1]))):
        lines = subprocess.run([run.program("chase"), str(size), "5"], capture_output=True,
                               text=True, check=True).stdout.split()
        table.add(f"one miss, {label}", unit="ns", samples=Samples(map(float, lines)))


def main():
    run, session, data = start()
    table = Table(run, "fig2_scan", "by day: scans and joins", ["rows", "keys", "processes", "contender"])
    by_one = Table(run, "fig2_semijoin", "by day: a scan beside a hash semi-join", ["keys", "contender"])
    cost = Table(run, "fig2_overhead", "by day: what a row costs", ["scan"])
    for count in run.sizes:
        data.btree(count)
        data.filter(count)
    for name in ("bench_true", "bench_false"):
        empty_function(run, session, name, "bloomfilter, bigint")
    overhead(run, session, data, cost)
    latency(run, data, cost)
    semi_joins(run, session, data, by_one)
    scans(run, session, table)
    table.write()
    by_one.write()
    cost.write()
    session.close()


if __name__ == "__main__":
    main()
