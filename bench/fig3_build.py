"""Figure 3, by night: building, against counting the same keys and what else is built.

The statements differ in the aggregate only, so that count(key) is the scan's part.
One process and many take turns too: their ratio is the efficiency. Bytes are those
of the result. Many small filters are built as well: one for each group of 100 keys.
"""

from measure import Refused, interleave
from run import key_sql, name_of, start
from server import SERIAL, parallel
from table import Table

# How each type's key is made of a number, None where other figures have a table of
# such keys, and what hll's hash for it is called.
TYPES = {
    "bigint": (None, "hll_hash_bigint"),
    "uuid": (f"md5({key_sql('g')}::text)::uuid", "hll_hash_any"),
    "text": (f"'https://www.example.com/article/details/' || {key_sql('g')}", "hll_hash_text"),
}

# Keys of each group where there are many.
GROUP = 100


def make_table(session, data, kind, count):
    if TYPES[kind][0] is None:
        return data.keys(count)
    name = f"build_{kind}_{name_of(count)}"
    session.run(f"create unlogged table {name} as select {TYPES[kind][0]} as k"
                f" from (select generate_series(1, {count}) g) s")
    session.run(f"vacuum (analyze, freeze) {name}")
    return name


def aggregates(kind, count):
    """Each returns the bytes of its result."""
    return {
        "count(key)": "0 * count(k)",
        "bloom_agg(key, n)": f"(bloom_stats(bloom_agg(k, {count}, 0.01))).bytes",
        "bloom_agg(key)": "(bloom_stats(bloom_agg(k))).bytes",
        "array_agg": "pg_column_size(array_agg(k))",
        "hll_add_agg": f"pg_column_size(hll_add_agg({TYPES[kind][1]}(k)))",
    }


def create_index(session, table):
    """Seconds; the index is measured and dropped outside of them."""
    seconds = session.seconds(f"create index {table}_built on {table} (k)")
    size = int(session.value(f"select pg_relation_size('{table}_built')"))
    session.run(f"drop index {table}_built")
    return seconds, size


def left_out(session, table):
    """Stands in for create_index where that is too slow to be measured."""
    raise Refused("left out: sorting so many would take the hour alone")


def statement(session, sql):
    rows, milliseconds = session.answer(sql)
    return milliseconds / 1000, int(rows[0])


def contenders(run, session, kind, count, table):
    """{(processes, name): function}; each gives seconds and bytes."""
    sorts = kind == "bigint" or count < run.sizes[-1] or run.quick
    runs = {}

    def contend(processes, settings, name, measured, *arguments):
        def build():
            session.run(settings)
            return measured(session, *arguments)
        runs[processes, name] = build

    for processes, settings in (("serial", SERIAL), ("parallel", parallel())):
        for name, result in aggregates(kind, count).items():
            # It is not parallel before PostgreSQL 16.
            if name != "array_agg" or processes == "serial":
                contend(processes, settings, name, statement, f"select {result} from {table}")
        contend(processes, settings, "CREATE INDEX", create_index if sorts else left_out, table)
    return runs


def measure(run, tables, kind, count, runs):
    """Seconds become ns per key; bytes are those of the last run."""
    speed, space = tables
    sizes = {}

    def seconds(which):
        taken, sizes[which] = runs[which]()
        return taken

    samples = interleave({which: (lambda which=which: seconds(which)) for which in runs},
                         run.choose(2, 9), budget=run.choose(1, 6))
    for (processes, name), found in samples.items():
        speed.add(kind, name_of(count), processes, name, unit="ns/key", samples=found.scaled(1e9 / count))
        if processes == "serial" and sizes.get((processes, name)):
            space.add(kind, name_of(count), name, unit="bytes/key", samples=sizes[processes, name] / count)


def measure_groups(run, session, data, speed, count):
    """A filter for each of many groups: what it costs to begin and to end one."""
    groups = f"from {data.keys(count)} group by abs(k % {count // GROUP})"
    runs = {}
    for processes, settings in (("serial", SERIAL), ("parallel", parallel())):
        for name, result in (("array_agg", "array_agg(k)"), ("bloom_agg(key)", "bloom_agg(k)"),
                             ("bloom_agg(key, n)", f"bloom_agg(k, {2 * GROUP}, 0.001)")):
            def build(settings=settings, result=result):
                session.run(settings)
                return session.seconds(f"select count(r) from (select {result} r {groups}) s")
            # It is not parallel before PostgreSQL 16.
            if name != "array_agg" or processes == "serial":
                runs[processes, name] = build
    for (processes, name), found in interleave(runs, run.choose(2, 5), budget=run.choose(1, 60)).items():
        speed.add(f"bigint, a filter per group of {GROUP}", name_of(count), processes, name, unit="ns/key",
                  samples=found.scaled(1e9 / count))


def main():
    run, session, data = start()
    session.run("create extension if not exists hll")
    speed = Table(run, "fig3_build", "by night: building", ["type", "keys", "processes", "contender"])
    space = Table(run, "fig3_bytes", "by night: what is built", ["type", "keys", "contender"])
    for kind in TYPES:
        for count in run.sizes:
            table = make_table(session, data, kind, count)
            measure(run, (speed, space), kind, count, contenders(run, session, kind, count, table))
            if TYPES[kind][0] is not None:
                session.run(f"drop table {table}; checkpoint")
    for count in run.sizes[:2]:
        measure_groups(run, session, data, speed, count)
    speed.write()
    space.write()
    session.close()


if __name__ == "__main__":
    main()
