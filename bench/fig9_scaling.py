"""Figure 9: how it grows: look-ups, memory, space and WAL by the size of the filter.

Rows of one section ran in turns. What doc/CHOOSING.md plans by is here and nowhere else.
"""

from measure import interleave, tell
from run import MILLION, name_of, start
from server import SERIAL, Session, pgbench
from table import Table


def source(session, count):
    """Table source (id bigint) of the numbers from 1 to count."""
    session.run("drop table if exists source")
    session.run(f"create unlogged table source as select g::bigint as id from generate_series(1, {count}) g")
    session.run("vacuum analyze source")


def bytes_of(session, count):
    return int(session.value(f"select bytes from bloom_sizing({count}, 0.01)"))


def flat(run, session, table):
    """A look-up from 1 MB to 500 MB should cost the same."""
    sizes = run.choose([1, 4], [1, 4, 16, 64, 128, 256, 500])
    session.run("create table flat (mb int primary key, filter bloomfilter not null)")
    for mb in sizes:
        session.run(f"insert into flat select {mb}, bloom_agg(g::bigint, {mb} * 1000000 / 124 * 100, 0.01)"
                    f" from generate_series(1, least({mb} * 800000, 4000000)) g")
    session.run("vacuum analyze flat")
    session.run("create extension if not exists pg_prewarm")
    session.run("select pg_prewarm(reltoastrelid) from pg_class where relname = 'flat'")
    key = "\\set k random(1, 1000000000)\n"

    def rate(sql):
        return lambda: pgbench(f"{key}{sql};\n", run.work, 2, run.amount)

    statements = {mb: rate(f"select bloom_contains(filter, :k::bigint) from flat where mb = {mb}") for mb in sizes}
    statements["SELECT :k"] = rate("select :k::bigint")
    samples = interleave(statements, run.choose(2, 9))
    for mb in sizes:
        table.add("look-up, 2 connections", f"{mb} MB", "bloom_contains", unit="1/s", samples=samples[mb])
        table.add("look-up, 2 connections", f"{mb} MB", "SELECT :k", unit="1/s", samples=samples["SELECT :k"])
    slowest, fastest = (pick(samples[mb].median() for mb in sizes) for pick in (min, max))
    table.add("look-up, 2 connections", "all sizes", "fastest over slowest", unit="ratio", samples=fastest / slowest)
    session.run("drop table flat")


def memory(run, session, table):
    """Private memory of the process that builds, above that of a build of 1.2 MB."""
    count = run.choose(MILLION, 10 * MILLION)
    source(session, count)
    small = f"select bloom_cardinality(bloom_agg(id, {MILLION}, 0.01)) from source where id <= 100"
    one = "select bloom_cardinality(bloom_agg(id, {0}, 0.01)) from source"
    parts = ("select sum(bloom_cardinality(f)) from (select bloom_part_agg(id, 8, {0}, 0.01) as f"
             " from source group by bloom_part(id, 8)) p")
    base = peak(small) - bytes_of(session, MILLION)
    for n in (count, 10 * count):
        for what, sql in (("bloom_agg", one), ("8 parts by GROUP BY", parts)):
            kept = bytes_of(session, n)
            table.add("memory of a build", f"n = {name_of(n)}", what, unit="of the filters",
                      samples=(peak(sql.format(n)) - base) / kept, note=f"{tell('', kept / 1e6)} MB of filters")


def peak(sql):
    """Private bytes at its peak of a fresh session that runs a statement alone."""
    session = Session()
    session.run(SERIAL)
    session.run(sql)
    private, _ = session.memory()
    session.close()
    return private


def wal(session, sql):
    """Bytes of WAL that a statement writes; those of the server, as nobody else is there."""
    before = session.value("select pg_current_wal_insert_lsn()")
    session.run(sql)
    return int(session.value(f"select pg_current_wal_insert_lsn() - '{before}'"))


def replaced(run, session, table):
    """Space and WAL where a filter is replaced again and again."""
    count = run.choose(100_000, 10 * MILLION)
    whole = bytes_of(session, count)
    source(session, count // 5)
    build = f"select bloom_agg(id, {count}, 0.01) from source where id % 100 <> "
    for vacuum in (False, True):
        case = "vacuum after each" if vacuum else "never vacuumed"
        session.run("create table kept (name text primary key, filter bloomfilter not null)")
        session.run("alter table kept set (toast.vacuum_truncate = false)")
        session.run(f"insert into kept select 'x', ({build}0)")
        for number in range(1, 11):
            session.run(f"update kept set filter = ({build}{number})")
            if vacuum:
                session.run("vacuum kept")
        size = int(session.value("select pg_total_relation_size('kept')"))
        table.add("table after 10 replacements", case, "bytes", unit="of the filter", samples=size / whole)
        if not vacuum:
            session.run("drop table kept")
    session.run("checkpoint")
    writes = {"an UPDATE right after a checkpoint": f"update kept set filter = ({build}11)",
              "the next UPDATE": f"update kept set filter = ({build}12)",
              "an INSERT": "insert into kept select 'y', filter from kept where name = 'x'",
              "a DELETE": "delete from kept where name = 'y'", "VACUUM": "vacuum kept"}
    for case, sql in writes.items():
        table.add("WAL", case, "bytes", unit="of the filter", samples=wal(session, sql) / whole)
    session.run("drop table kept, source")


def large(run, session, table):
    """One filter, sets of parts and live indexes of many keys: built, and every promise looked at."""
    for count in run.choose([100_000], [10 * MILLION, 100 * MILLION]):
        source(session, count)
        memory_for_builds = "set maintenance_work_mem = '1GB'"
        session.run(f"{SERIAL}; {memory_for_builds}")
        create = f"create index source_live on source using bloomfilter (id) with (n = {count})"

        def live():
            session.run("drop index if exists source_live")
            return 1e9 * session.seconds(create) / count

        builds = {"count(id)": lambda: 1e9 * session.seconds("select count(id) from source") / count,
                  "bloom_agg": lambda: 1e9 * session.seconds(
                      f"select bloom_cardinality(bloom_agg(id, {count}, 0.01)) from source") / count,
                  "bloom_publish, 1 part": lambda: publish(session, count, 1),
                  "bloom_publish, 16 parts": lambda: publish(session, count, 16),
                  "live index": live}
        table.add_all("build by one process", name_of(count), unit="ns/key", samples=interleave(builds, run.rounds))
        promises(session, table, count)
        session.run("drop table source")


def publish(session, count, parts):
    """Nanoseconds a key of a publication without its check."""
    name = f"scaling {parts}"
    return 1e9 * session.seconds(
        f"call bloom_publish('{name}', 'select id from source', n => {count}, p => 0.01, parts => {parts},"
        ' "check" => false)') / count


def promises(session, table, count):
    """Members that are missing, and the rate, by list and by live index."""
    sample = f"source tablesample system ({min(100, 100 * MILLION / count)})"
    absent = "generate_series(1::bigint, 1000000) g"
    for what, function in (("list of 1 part", "bloom_lookup('scaling 1', {})"),
                           ("list of 16 parts", "bloom_lookup('scaling 16', {})"),
                           ("live index", "bloom_index_contains('source_live', {})")):
        missing = session.value(f"select count(*) filter (where not {function.format('id')}) from {sample}")
        table.add("members missing", name_of(count), what, unit="keys", samples=int(missing))
        rate = session.value(f"select avg({function.format('-g')}::int) from {absent}")
        table.add("rate on a million absent keys", name_of(count), what, unit="of p", samples=float(rate) / 0.01)


def main():
    run, session, _ = start()
    session.run(SERIAL)
    table = Table(run, "fig9_scaling", "how it grows with the filter", ["what", "case", "contender"])
    for section in (flat, memory, replaced, large):
        section(run, session, table)
    table.write()
    session.close()


if __name__ == "__main__":
    main()
