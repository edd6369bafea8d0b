"""Figure 4: many keys in one call, against = ANY on the B-tree.

The keys of a call are a stored array, half of them members, so that both sides
read them alike. "one call" asks a stored filter by one statement per call, as an
application does; "many calls" asks for all arrays in one statement, whose copy of
the filter is in memory.

"literal", "text" and "binary" are keys as drivers send them, to a published list by its name
and to a live filter: an array written into the statement, or bound to a prepared one. The
bytes that are sent are made before the clock runs.
"""

import struct
import subprocess
import time

import psycopg
from psycopg import pq

from measure import Samples, interleave
from run import PRIME, STEP, key_sql, name_of, start
from server import SERIAL, pgbench
from table import Table

BATCHES = [10, 100, 1000, 10_000]


def arrays(run, session, count):
    """Table asked (size, id, keys) with as many arrays of each size as make up total keys."""
    total = run.choose(20_000, 400_000)
    session.run("create unlogged table asked (size int, id int, keys bigint[], primary key (size, id))")
    session.run("alter table asked alter keys set storage external")
    for size in BATCHES:
        number = f"1 + (g::bigint * 7919 + {size}) % {2 * count}"
        session.run(f"insert into asked select {size}, g / {size}, array_agg({key_sql(number)})"
                    f" from generate_series(0, {total - 1}) g group by g / {size}")
    session.run("vacuum (analyze, freeze) asked")
    return total


def one_call(run, sql, size, total):
    script = f"\\set id random(0, {total // size - 1})\n{sql};\n"
    return pgbench(script, run.work, 1, run.choose("-t 30", run.amount)) * size


def statements(filter_name, keys, size):
    chosen = f"from asked where size = {size} and id = :id"
    return {
        "bloom_contains_each": f"select cardinality(bloom_contains_each(filter, keys)) from filters,"
                               f" (select keys {chosen}) a where name = '{filter_name}'",
        "= ANY, B-tree": f"select count(*) from {keys} where k = any ((select keys {chosen})::bigint[])",
    }


def many_calls(filter_name, keys, size):
    chosen = f"from asked where size = {size}"
    return {
        "bloom_contains_each": "select sum(cardinality(bloom_contains_each((select filter from filters"
                               f" where name = '{filter_name}'), keys))) {chosen}",
        "= ANY, B-tree": "select sum(found) from (select (select count(*)"
                         f" from {keys} where k = any (keys)) as found {chosen}) s",
    }


# OIDs of PostgreSQL's types.
INT8, INT8_ARRAY, UNKNOWN = 20, 1016, 0


def text_array(keys):
    return b"{%s}" % b",".join(b"%d" % key for key in keys)


def binary_array(keys):
    """As array_recv reads it: dimensions, no NULLs, type, length, lower bound, elements."""
    return struct.pack("!iiIii", 1, 0, INT8, len(keys), 1) + b"".join(struct.pack("!iq", 8, key) for key in keys)


# How a parameter is bound: its bytes, its type and its format.
BOUND = {"text": (text_array, UNKNOWN, pq.Format.TEXT), "binary": (binary_array, INT8_ARRAY, pq.Format.BINARY)}


def checked(result, status, answer=None):
    if result.status != status or (answer is not None and result.get_value(0, 0) != answer):
        raise RuntimeError(result.error_message.decode() or "not an answer for each key")


def calls_of(connection, function, batches, way):
    """A function for each batch, which sends it in one of the ways."""
    query = f"select cardinality({function})"
    if way == "literal":
        queries = [query.format(f"'{text_array(keys).decode()}'").encode() for keys in batches]
        return [lambda query=query: connection.exec_(query) for query in queries]
    encode, oid, form = BOUND[way]
    name = f"{way} {function}".encode()
    checked(connection.prepare(name, query.format("$1").encode(), [oid]), pq.ExecStatus.COMMAND_OK)
    return [lambda value=encode(keys): connection.exec_prepared(name, [value], [form]) for keys in batches]


def keys_per_second(calls, size, seconds):
    """Sends the calls in turn for so many seconds."""
    began, done, passed = time.perf_counter(), 0, 0.0
    while passed < seconds:
        for call in calls:
            checked(call(), pq.ExecStatus.TUPLES_OK, b"%d" % size)
        done += size * len(calls)
        passed = time.perf_counter() - began
    return done / passed


def as_drivers_send(run, session, data, table, count):
    session.run(f"create index batch_live on {data.keys(count)} using bloomfilter (k) with (n = {count})")
    functions = {"bloom_lookup_each": f"bloom_lookup_each('{data.publish(count)}', {{}})",
                 "bloom_index_contains_each": "bloom_index_contains_each('batch_live', {})"}
    with psycopg.connect() as connection:
        for size in BATCHES:
            numbers = [range(at, at + size) for at in range(0, 20 * size, size)]
            batches = [[(1 + (g * 7919 + size) % (2 * count)) * STEP % PRIME for g in some] for some in numbers]
            for way in ("literal", *BOUND):
                runs = {who: (lambda calls=calls_of(connection.pgconn, function, batches, way):
                              keys_per_second(calls, size, run.choose(0.05, 1)))
                        for who, function in functions.items()}
                table.add_all(name_of(count), size, way, unit="keys/s", samples=interleave(runs, run.rounds))
            checked(connection.pgconn.exec_(b"deallocate all"), pq.ExecStatus.COMMAND_OK)
    session.run("drop index batch_live")


def measure(run, session, data, table, count):
    keys, name = data.btree(count), data.filter(count)
    session.run(f"drop table if exists asked; {SERIAL}")
    total = arrays(run, session, count)
    for size in BATCHES:
        singly = {who: (lambda sql=sql: one_call(run, sql, size, total))
                  for who, sql in statements(name, keys, size).items()}
        together = {who: (lambda sql=sql: total / session.seconds(sql))
                    for who, sql in many_calls(name, keys, size).items()}
        for way, runs in (("one call", singly), ("many calls", together)):
            table.add_all(name_of(count), size, way, unit="keys/s",
                          samples=interleave(runs, run.rounds))


def in_c(run, data, table, count):
    """The same in C, in a loop: what the calls themselves cost is the difference."""
    lines = subprocess.run([run.program("core"), "time", str(count), "0.01", "3"],
                           capture_output=True, text=True, check=True).stdout.splitlines()
    ns = [float(line.split("\t")[2]) for line in lines if line.startswith("batch there\tbloomfilter")]
    table.add(name_of(count), 0, "in C", "bf_contains_hashes", unit="keys/s",
              samples=Samples(ns).inverted(1e9))


def main():
    run, session, data = start()
    table = Table(run, "fig4_batch", "many keys in one call", ["keys", "batch", "way", "contender"])
    for count in run.sizes:
        measure(run, session, data, table, count)
        as_drivers_send(run, session, data, table, count)
        in_c(run, data, table, count)
    table.write()
    session.run("drop table asked")
    session.close()


if __name__ == "__main__":
    main()
