"""Figure 8: live filters, against a B-tree, a stored value and nothing.

Look-ups by pgbench, questions in a loop inside the server, batches as an application
sends them, a scan's rows, COPY into a table that has the index with what it logs, the
build, the sizes, and the snapshot. The table of keys is random in the order of its rows.

A stored value is asked by a statement that finds the filter's row by primary key and
reads the key's chunk of its TOAST; a list is the same filter, asked by its name. EXISTS
is an index-only scan of a vacuumed table. Look-ups are
timed when each contender's rate has come to rest. "Live over it" is how many times each
contender's rate a live filter's was in the same round. Rows are not copied into tables of
the largest size.
"""

import os

from measure import Samples, at_rest, interleave
from run import empty_function, key_sql, keys_table, name_of, start
from server import NEW_CONNECTIONS, SERIAL, parallel, pgbench
from table import Table

# Where a session's settings stand. Without a cache a stored value is never copied.
OPTIONS = "PGOPTIONS"
CHUNKS = "-c bloomfilter.cache_size=0"
# A new session's page faults, one for each page of shared memory that it meets, are most of its first second.
TURN = "-T 2"
# A virtual machine's neighbours change a turn's rate by a tenth and more.
TURNS = 7
STORED = "finds the row by primary key, reads a chunk of TOAST"


def with_options(options, run):
    """A pgbench run with settings of its own sessions."""
    os.environ[OPTIONS] = options
    try:
        return run()
    finally:
        os.environ.pop(OPTIONS)


def indexes(count):
    """{contender: (the index's name, its definition)} on keys_N."""
    keys = keys_table(count)
    return {
        "live": (f"{keys}_live", f"create index {keys}_live on {keys} using bloomfilter (k) with (n = {count})"),
        "B-tree": (f"{keys}_k", f"create unique index {keys}_k on {keys} (k)"),
    }


def add_rates(table, count, what, clients, unit, samples):
    """The rates, and the live filter's over each of the others'."""
    table.add_all(name_of(count), what, clients, unit=unit, samples=samples)
    table.add_all(name_of(count), f"{what}: live over it", clients, unit="times",
                  samples={who: samples["live"].over(one) for who, one in samples.items() if who != "live"})


def exists_note(session, keys):
    """How EXISTS reads a row that is there."""
    plan = session.plan(f"select exists (select from {keys} where k = {key_sql(1)})")["Plans"][0]
    return f"{plan['Node Type']}, {plan.get('Heap Fetches', 'all')} heap fetches"


def lookups(run, session, table, data, count):
    keys, name = data.keys(count), data.publish(count)
    asked = {
        "SELECT :k": "select :k::bigint",
        "live": f"select bloom_index_contains('{keys}_live', :k::bigint)",
        "live, by column": f"select bloom_index_contains('{keys}', 'k', :k::bigint)",
        "stored value": f"select bloom_contains(filter, :k::bigint) from filters where name = '{name}'",
        "list": f"select bloom_lookup('{name}', :k::bigint)",
        "EXISTS, B-tree": f"select exists (select from {keys} where k = :k::bigint)",
    }
    notes = {"SELECT :k": NEW_CONNECTIONS, "stored value": STORED, "EXISTS, B-tree": exists_note(session, keys)}

    def contenders(clients):
        return {who: (lambda sql=sql: pgbench(
                    f"\\set g random(1, {2 * count})\n\\set k (:g * 48271) % 2147483647\n{sql};\n",
                    run.work, clients, run.choose("-t 200", TURN))) for who, sql in asked.items()}

    warm = {who: at_rest(ask) for who, ask in contenders(4).items()}
    for clients in (2, 4):
        samples = interleave(contenders(clients), run.choose(2, TURNS))
        for who, one in samples.items():
            one.add_note(notes.get(who, ""))
            one.add_note("" if warm[who] else f"{name_of(count)} keys: rates not at rest")
        add_rates(table, count, "look-up", clients, "1/s", samples)


def loop(run, session, table, data, count):
    """Microseconds of a question in PL/pgSQL, the loop's own included."""
    keys, name, rounds = data.keys(count), data.publish(count), run.choose(1000, 100_000)
    asked = {
        "nothing": "asked is null",
        "live": f"bloom_index_contains('{keys}_live', asked)",
        "list": f"bloom_lookup('{name}', asked)",
        "EXISTS, B-tree": f"exists (select from {keys} where k = asked)",
    }

    def seconds(expression):
        return session.seconds(
            f"do $$ declare found boolean; asked bigint; begin for i in 1..{rounds} loop asked :="
            f" {key_sql(f'(i * 7919) % {2 * count}')}; found := {expression}; end loop; end $$") / rounds * 1e6

    runs = {who: (lambda sql=sql: seconds(sql)) for who, sql in asked.items()}
    table.add_all(name_of(count), "loop in PL/pgSQL", 1, unit="us", samples=interleave(runs, run.rounds))


def batches(run, session, table, data, count):
    keys, name = data.keys(count), data.publish(count)
    session.run("drop table if exists asked_live")
    session.run("create unlogged table asked_live (size int, id int, keys bigint[], primary key (size, id))")
    # More keys than a processor's cache has lines.
    total = run.choose(20_000, 1_000_000)
    for size in (100, 1000):
        number = f"1 + (g::bigint * 7919 + {size}) % {2 * count}"
        session.run(f"insert into asked_live select {size}, 1 + g / {size}, array_agg({key_sql(number)})"
                    f" from generate_series(0, {total - 1}) g group by g / {size}")
    session.run("vacuum (analyze, freeze) asked_live")
    for size in (100, 1000):
        chosen = f"from asked_live where size = {size} and id = :id"
        by_value = (f"select cardinality(bloom_contains_each(filter, keys)) from filters,"
                    f" (select keys {chosen}) a where name = '{name}'")
        by_name = f"select cardinality(bloom_lookup_each('{name}', keys)) {chosen}"
        asked = {
            "live": ("", f"select cardinality(bloom_index_contains_each('{keys}_live', keys)) {chosen}"),
            "stored value, by chunks": (CHUNKS, by_value),
            "stored value, copied": ("", by_value),
            "list, by chunks": (CHUNKS, by_name),
            "list": ("", by_name),
            "nothing": ("", f"select cardinality(keys) {chosen}"),
        }
        runs = {who: (lambda options=options, sql=sql: with_options(options, lambda: pgbench(
                    f"\\set id random(1, {total // size})\n{sql};\n", run.work, 4, run.amount)) * size)
                for who, (options, sql) in asked.items()}
        add_rates(table, count, f"batch of {size}", 4, "keys/s", interleave(runs, run.choose(2, TURNS)))


def scan(run, session, table, data, count):
    """Nanoseconds of a row, and what of them is above calling a C function that does nothing."""
    keys, name, rows = data.keys(count), data.filter(count), run.choose(10_000, 1_000_000)
    session.run("drop table if exists scanned")
    session.run(f"create unlogged table scanned as select {key_sql('g * 2')} k from generate_series(1, {rows}) g")
    session.run("vacuum analyze scanned")
    asked = {
        "empty function": "bench_true(k)",
        "live": f"bloom_index_contains('{keys}_live', k)",
        "stored value, copied": f"bloom_contains((select filter from filters where name = '{name}'), k)",
    }
    runs = {who: (lambda sql=sql: session.seconds(f"select count(*) from scanned where {sql}") / rows * 1e9)
            for who, sql in asked.items()}
    samples = interleave(runs, run.choose(2, 9))
    table.add_all(name_of(count), "scan", 1, unit="ns/row", samples=samples)
    floor = samples.pop("empty function")
    table.add_all(name_of(count), "scan above an empty function", 1, unit="ns/row",
                  samples={who: one.above(floor) for who, one in samples.items()})


INDEXES = {
    "no index": None,
    "live": "using bloomfilter (k) with (n = {n})",
    "B-tree": "(k)",
}


def copy(run, session, table, count):
    """COPY of rows into a logged table that has count of them: seconds, and bytes of log a row."""
    rows = run.choose(10_000, 1_000_000)
    path = os.path.join(run.work, "copied")
    for order, key in (("random keys", key_sql(f"g + {count}")), ("ascending keys", f"(g + {2**31})::bigint")):
        # Pages are logged whole once after a checkpoint: the second file counts.
        for part in (0, 1):
            session.run(f"copy (select {key} from generate_series({part * rows + 1}, {(part + 1) * rows}) g)"
                        f" to '{path}{part}'")
        samples = {who: Samples() for who in INDEXES}
        logged = {who: Samples() for who in INDEXES}
        for _ in range(run.choose(1, 2)):
            for who, definition in INDEXES.items():
                session.run("drop table if exists copied")
                session.run(f"create table copied as select {key_sql('g')} k from generate_series(1, {count}) g")
                if definition:
                    session.run("create index on copied " + definition.format(n=count + 2 * rows))
                session.run("checkpoint")
                session.run(f"copy copied from '{path}0'")
                before = session.value("select pg_current_wal_insert_lsn()")
                samples[who].values.append(session.seconds(f"copy copied from '{path}1'"))
                logged[who].values.append(float(session.value(
                    f"select pg_current_wal_insert_lsn() - '{before}'")) / rows)
        table.add_all(name_of(count), f"COPY, {order}", 1, unit="s", samples=samples)
        table.add_all(name_of(count), f"COPY, {order}", 1, unit="bytes of log/row", samples=logged)
    session.run("drop table copied")


def build(run, session, table, data, count):
    """Builds each index some times, by one process and by all; the last ones stay, to be asked."""
    keys, made = data.keys(count), indexes(count)

    def index(who, settings):
        name, definition = made[who]
        session.run(f"drop index if exists {name}")
        session.run(settings)
        return session.seconds(definition)

    def aggregate(settings):
        session.run(settings)
        return session.seconds(f"select cardinality(array[bloom_agg(k, {count}, 0.01)]) from {keys}")

    samples = interleave({
        ("parallel", "live"): lambda: index("live", parallel()),
        ("serial", "live"): lambda: index("live", SERIAL),
        ("parallel", "bloom_agg"): lambda: aggregate(parallel()),
        ("serial", "bloom_agg"): lambda: aggregate(SERIAL),
        # The last one leaves the session to one process, for what follows.
        ("serial", "B-tree"): lambda: index("B-tree", SERIAL),
    }, run.rounds)
    for (processes, who), one in samples.items():
        table.add(name_of(count), f"build, {processes}", 1, who, unit="s", samples=one)
    for who in ("live", "bloom_agg"):
        table.add(name_of(count), "build, serial over parallel", 1, who, unit="times",
                  samples=samples["serial", who].over(samples["parallel", who]))


def sizes(run, session, table, count):
    made = indexes(count)
    for who, (index, _) in made.items():
        table.add(name_of(count), "size", 1, who, unit="bytes",
                  samples=float(session.value(f"select pg_relation_size('{index}')")))
    runs = {"live": lambda: session.seconds(f"select bloom_snapshot('{made['live'][0]}') is null")}
    table.add_all(name_of(count), "snapshot", 1, unit="s", samples=interleave(runs, run.rounds))


def main():
    run, session, data = start()
    table = Table(run, "fig8_live", "live filters", ["keys", "what", "clients", "contender"])
    empty_function(run, session, "bench_true", "bigint")
    for count in run.sizes:
        build(run, session, table, data, count)
        data.publish(count)
        data.warm(count)
        lookups(run, session, table, data, count)
        loop(run, session, table, data, count)
        batches(run, session, table, data, count)
        scan(run, session, table, data, count)
        sizes(run, session, table, count)
    # A smaller table than the largest of these says nothing new.
    copy(run, session, table, run.sizes[-2])
    table.write()
    session.run("drop table asked_live, scanned")
    session.close()


if __name__ == "__main__":
    main()
