"""Figure 1, by day: point look-ups from many connections, against exact stores.

Keys are asked at random, half of them members. All contenders of one size hold the
same keys. Memory touched: pages that one look-up reads; then, after some look-ups by
a new backend, the most private memory that it has had, and the shared memory that
it has touched. A backend that asks nothing stands beside them.
"""

from measure import Refused, Samples, interleave
from run import MILLION, key_sql, name_of, start
from server import NEW_CONNECTIONS, pgbench
from table import Table
import machine

LOOKUPS = 2000

# contrib bloom reads its whole index for each look-up, an array is compared from its
# beginning: they are left out of sizes where a few look-ups would take the minutes.
# Look-ups whose cost grows with the size are asked by few connections and not often.
SLOW = ("contrib bloom", "= ANY (array)", "whole detoast")


def script(count, sql, numbers=None):
    return (f"\\set g random(1, {numbers or 2 * count})\n"
            "\\set k (:g * 48271) % 2147483647\n" + sql.replace("KEY", ":k").replace("BIT", ":g") + ";\n")


def fits(count, size, clients):
    """A detoasted value is private memory of each backend, twice for a moment."""
    return 2 * size * clients < machine.memory_bytes() / 3


def filter_sql(name):
    return f"select bloom_contains(filter, KEY::bigint) from filters where name = '{name}'"


def exact(run, data, count):
    """The rivals that hold the keys themselves: {name: SQL}."""
    found = {
        "B-tree": f"select exists (select from {data.btree(count)} where k = KEY)",
        "hash index": f"select exists (select from {data.hash(count)} where c = (KEY)::int)",
    }
    if count <= run.choose(10_000, 10 * MILLION):
        found["contrib bloom"] = f"select exists (select from {data.signatures(count)} where c = (KEY)::int)"
    if count <= run.choose(10_000, MILLION):
        array = data.session.value(f"select array_agg(k) from {data.keys(count)}")
        found["= ANY (array)"] = f"select (KEY)::bigint = any ('{array}'::bigint[])"
    return found


def contenders(run, data, count):
    name = data.filter(count)
    found = {
        "bloomfilter": filter_sql(name),
        "bloom_lookup": f"select bloom_lookup('{data.publish(count)}', KEY::bigint)",
        "whole detoast": f"select get_bit(body, BIT) from blobs where name = '{data.blob(count)}'",
    }
    if count in run.sizes:
        found.update(exact(run, data, count))
    return found


def clients_of(run, name):
    if name in SLOW:
        return run.choose([1], [1, 4, 16])
    return run.choose([1, 4], [1, 2, 4, 8, 16])


def throughput(run, table, count, size, contender):
    everyone = sorted({c for name in contender for c in clients_of(run, name)})
    for clients in everyone:
        now = {name: sql for name, sql in contender.items()
               if clients in clients_of(run, name)
               and (name != "whole detoast" or fits(count, size, clients))}
        runs = {name: (lambda sql=sql: pgbench(script(count, sql), run.work, clients, run.amount))
                for name, sql in now.items()}
        table.add_all(name_of(count), size, clients, unit="look-ups/s",
                      samples=interleave(runs, run.rounds, budget=10))


def floor(run, table):
    """What a statement costs that asks nothing."""
    runs = {clients: (lambda clients=clients: pgbench(script(MILLION, "select KEY"), run.work, clients,
                                                      run.amount))
            for clients in clients_of(run, "floor")}
    for clients, samples in interleave(runs, run.rounds).items():
        table.add("0", 0, clients, "SELECT :k", unit="look-ups/s", samples=samples, note=NEW_CONNECTIONS)


def buffers(session, sql):
    """Pages that a look-up reads, once everything is warm."""
    for _ in range(3):
        plan = session.plan(sql)
    return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]


def touched(sql, lookups):
    """Private and shared bytes of a new backend after so many look-ups."""
    _, session, _ = start()
    text = sql.replace("KEY", "asked").replace("BIT", "i").replace("select", "perform", 1)
    session.run(f"do $$ declare asked bigint; begin for i in 1..{lookups} loop"
                f" asked := {key_sql('i * 37')}; {text}; end loop; end $$")
    memory = session.memory()
    session.close()
    return memory


def memory(run, data, table, count, size, contender):
    for name, sql in contender.items():
        if name == "= ANY (array)":
            table.add(name_of(count), size, 0, name, unit="pages/look-up", samples=Samples(),
                      note="8 bytes a key in the statement and in each backend's plan of it")
            continue
        lookups = 5 if name in SLOW else LOOKUPS
        try:
            read = buffers(data.session, sql.replace("KEY", key_sql("12345")).replace("BIT", "12345"))
            private, shared = touched(sql, lookups)
        except Refused as problem:
            table.add(name_of(count), size, lookups, name, unit="pages/look-up", samples=Samples(),
                      note=str(problem))
            continue
        for unit, value in (("pages/look-up", read), ("bytes private", private), ("bytes shared", shared)):
            table.add(name_of(count), size, lookups, name, unit=unit, samples=value)


def main():
    run, session, data = start()
    speed = Table(run, "fig1_point", "by day: point look-ups", ["keys", "bytes", "clients", "contender"])
    space = Table(run, "fig1_memory", "by day: memory touched by point look-ups",
                  ["keys", "bytes", "lookups", "contender"])
    floor(run, speed)
    memory(run, data, space, 0, 0, {"SELECT :k": "select KEY"})
    for count in run.sizes + run.choose([300_000], [403 * MILLION]):
        contender = contenders(run, data, count)
        data.warm(count)
        size = data.filter_bytes(count)
        throughput(run, speed, count, size, contender)
        memory(run, data, space, count, size, contender)
    speed.write()
    space.write()
    session.close()


if __name__ == "__main__":
    main()
