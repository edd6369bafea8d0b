"""Figure 13: what changes by day cost, of look-ups in a tracked list and of those who change it.

The same list four times: one that isn't tracked, and tracked ones without changes, with some, and
with as many as look-ups read at once. Single look-ups are statements of their own, each of which
asks anew whether there are changes. Then the trigger, against an UPDATE of the same rows without
one, and bloom_change in bulk, against an upsert into a table of the same columns.
"""

from measure import interleave
from run import MILLION, key_sql, start
from server import SERIAL, pgbench
from table import Table

BATCH = 1000


def make_lists(session, keys, changes):
    """Lists of the same keys by their names, with so many changes, of keys that stay in; None: not tracked."""
    for name, count in changes.items():
        session.run(f"call bloom_publish('{name}', 'select k from {keys}')")
        if count is None:
            continue
        session.run(f"call bloom_track('{name}')")
        session.run(f"select count(*) from (select bloom_change('{name}', k, true) from {keys} limit {count}) s")


def shown(count):
    return "bloomfilter, untracked" if count is None else f"bloomfilter, {count:,} changes"


def look_ups(run, session, table, count):
    """How many times as fast as in the list that isn't tracked, or as slow: rounds in turns."""
    keys = f"keys_{count}"
    session.run(f"create unlogged table {keys} as select {key_sql('g')} as k from generate_series(1, {count}) g")
    session.run(f"create unlogged table batches as select g / {BATCH} as id, array_agg({key_sql('g')}) as keys"
                f" from generate_series(0, {count - 1}) g group by 1")
    session.run("create index on batches (id)")
    session.run(f"vacuum (analyze) {keys}, batches")
    changes = dict(zip(("untracked", "unchanged", "few", "many"), (None, 0, *run.choose((100, 2000), (1000, 100_000)))))
    make_lists(session, keys, changes)
    session.run("vacuum (analyze) bloom_change, bloom_absorbed")
    single = "\\set g random(1, {})\n\\set k (:g * 48271) % 2147483647\nselect bloom_lookup('{}', :k::bigint);\n"
    batch = "\\set id random(0, {})\nselect bloom_lookup_each('{}', keys) from batches where id = :id;\n"
    ways = {
        "single": lambda name: pgbench(single.format(2 * count, name), run.work, 1, run.amount),
        f"{BATCH} keys": lambda name: pgbench(batch.format(count // BATCH - 1, name), run.work, 1, run.amount),
        "scan": lambda name: 1 / session.seconds(f"select count(*) from {keys} where bloom_lookup('{name}', k)"),
    }
    for what, way in ways.items():
        # Rounds of single look-ups differ by more than the few per cent that are measured.
        rounds = run.choose(2, 30 if what == "single" else 10)
        samples = interleave({name: (lambda name=name: way(name)) for name in changes}, rounds)
        for name, of in changes.items():
            table.add(what, shown(of), unit="times untracked", samples=samples[name].over(samples["untracked"]))


def writers(run, session, table):
    rows = run.choose(2000, 100_000)
    for name in ("plain", "device"):
        session.run(f"create table {name} (id bigint primary key, active boolean not null)")
        session.run(f"insert into {name} select g, true from generate_series(1, {rows}) g")
    session.run("call bloom_publish('device', 'select id, active from device')")
    session.run("call bloom_track('device', 'device', 'id', 'active')")
    session.run("call bloom_publish('bulk', 'select id from plain')")
    session.run("call bloom_track('bulk')")
    session.run("create table upserted (name text, key bytea, value boolean, version bigint, primary key (name, key)) with (fillfactor = 70)")

    def update(name):
        session.run(f"vacuum {name}, bloom_change, upserted")
        return session.seconds(f"update {name} set active = not active")

    samples = interleave({"plain": lambda: update("plain"), "device": lambda: update("device")}, run.choose(2, 9))
    table.add("trigger", "bloomfilter", unit="us a row", samples=samples["device"].above(samples["plain"]).scaled(1e6 / rows))
    # The same keys in the same order: in another one an index costs less, or more.
    session.run("select count(*) from (select bloom_change('bulk', id, true) from plain) s")
    session.run("create table hand as select key from bloom_change where name = 'bulk' order by ctid")
    by_hand = ("insert into upserted as c {} on conflict (name, key)"
               " do update set value = excluded.value, version = greatest(c.version + 1, excluded.version)")
    bulk = {
        "bloomfilter, bloom_change": "select count(*) from (select bloom_change('bulk', id, true) from plain) s",
        "an upsert, one statement": by_hand.format("select 'bulk', key, true, 1 from hand"),
        "an upsert a row, PL/pgSQL": "do $$ declare r record; begin for r in select key from hand loop "
                                     + by_hand.format("values ('bulk', r.key, true, 1)") + "; end loop; end $$",
    }
    samples = interleave({name: (lambda sql=sql: session.seconds(sql)) for name, sql in bulk.items()}, run.choose(2, 9))
    for name, one in samples.items():
        table.add("changes in bulk", name, unit="us a row", samples=one.scaled(1e6 / rows))


def main():
    run, session, _ = start()
    table = Table(run, "fig13_changes", "what changes by day cost", ["what", "contender"])
    session.run(SERIAL)
    look_ups(run, session, table, run.choose(20_000, MILLION))
    writers(run, session, table)
    table.write()
    session.close()


if __name__ == "__main__":
    main()
