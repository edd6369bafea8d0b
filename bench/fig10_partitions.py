"""Figure 10: a key looked for in all partitions, which are by another column.

Statements of the three tables ran in turns in one session: a table without an index,
one with a B-tree on each partition, and one with a live filter on each, searched by
bloom_search. A partition that a filter lets in by mistake is read as a whole, so the
filters have a low rate.
"""

from measure import interleave
from run import MILLION, start
from server import SERIAL
from table import Table

KINDS = {"no index": None, "B-tree": "btree", "live filter": "bloomfilter"}
RATE = 0.0001


def partitioned(session, name, partitions, rows, method):
    """A table of events by number, and a key that says nothing of it."""
    session.run(f"drop table if exists {name}")
    session.run(f"create unlogged table {name} (at int, key bigint, note text) partition by range (at)")
    for number in range(partitions):
        session.run(f"create unlogged table {name}_{number} partition of {name}"
                    f" for values from ({number}) to ({number + 1})")
    session.run(f"insert into {name} select g % {partitions}, hashint8extended(g, 0) & 1073741823,"
                f" 'note of event number ' || g from generate_series(1, {rows}) g")
    if method:
        # Of a filter without n the smallest is for more keys than a partition may have.
        size = f" with (n = {rows // partitions}, p = {RATE})" if method == "bloomfilter" else ""
        session.run(f"create index on {name} using {method} (key){size}")
    session.run(f"analyze {name}")


def index_bytes(session, name):
    return int(session.value(f"select coalesce(sum(pg_indexes_size(relid)), 0) from pg_partition_tree('{name}')"))


def statement(name, kind, key):
    if kind == "live filter":
        return f"select * from bloom_search(null::{name}, 'key', {key}::bigint)"
    return f"select * from {name} where key = {key}::bigint"


def measure(run, session, table, partitions, rows):
    names = {kind: f"events_{place}" for place, kind in enumerate(KINDS)}
    for kind, method in KINDS.items():
        partitioned(session, names[kind], partitions, rows, method)
        table.add(str(partitions), "size of the indexes", kind, unit="MB",
                  samples=index_bytes(session, names[kind]) / 1e6)
    there = int(session.value(f"select key from {names['no index']} where at = {partitions // 2} limit 1"))
    for what, key in (("key that is there", there), ("key that is not", -1)):
        runs = {kind: (lambda sql=statement(names[kind], kind, key): 1000 * session.seconds(sql)) for kind in KINDS}
        for kind, samples in interleave(runs, run.choose(2, 9)).items():
            table.add(str(partitions), what, kind, unit="ms", samples=samples)
    for name in names.values():
        session.run(f"drop table {name}")


def main():
    run, session, _ = start()
    table = Table(run, "fig10_partitions", "a key in all partitions", ["partitions", "what", "contender"])
    session.run(SERIAL)
    for partitions in run.choose((4, 20), (10, 200, 2000)):
        measure(run, session, table, partitions, run.choose(20_000, 10 * MILLION))
    table.write()
    session.close()


if __name__ == "__main__":
    main()
