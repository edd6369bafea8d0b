"""Figure 11: publishing a list, against the build of a live filter and of a value.

Contenders take turns, by one process and by as many as there are cores. "Over live" is
how many times each took of what the build of a live filter took in the same round, and
"over one part" and "without check" compare publications. Each is a list's first.

An exact list is of the same rows, of which a tenth are members; it was published before, as
its first time counts the rows. Beside it stands a plain list of these members whose rate is
that of the exact one's first level: its size, and the time of a scan that asks for all keys.
"""

from measure import interleave
from run import MILLION, name_of, start
from server import SERIAL, parallel
from table import Table


def publish(session, keys, arguments):
    """Seconds of one publication."""
    session.run("do $$ begin if exists (select from bloom_list where name = 'bench')"
                " then call bloom_drop('bench'); end if; end $$")
    session.run("vacuum bloom_generation_part")
    return session.seconds(f"call bloom_publish('bench', 'select k from {keys}', {arguments})")


def build_live(session, keys, count):
    seconds = session.seconds(f"create index {keys}_bench on {keys} using bloomfilter (k) with (n = {count})")
    session.run(f"drop index {keys}_bench")
    return seconds


def exact(keys):
    return f"call bloom_publish('exact', 'select k, k % 10 = 0 from {keys}', parts => 1, allow_shrink => true)"


def compare_lists(session, data, table, count):
    """The size of an exact list and of a plain one of its members at the first level's rate, and scans."""
    keys, size = data.keys(count), name_of(count)
    session.run(exact(keys))
    n, p = session.value("select n || ' ' || p from bloom_list_part, bloom_stats(filter) where name = 'exact'").split()
    session.run(f"call bloom_publish('plain', 'select k from {keys} where k % 10 = 0', n => {n}, p => {p}, parts => 1, allow_shrink => true)")
    session.run(SERIAL)
    for name in ("exact", "plain"):
        bits = float(session.value(f"select bytes * 8.0 / rows from bloom_published where name = '{name}'"))
        table.add(size, "serial", f"{name} list", unit="bits a member", samples=bits)
    runs = {name: (lambda name=name: session.seconds(f"select count(*) from {keys} where bloom_lookup('{name}', k)"))
            for name in ("exact", "plain")}
    for name, one in interleave(runs, 3).items():
        table.add(size, "serial", f"scan of the {name} list", unit="seconds", samples=one)
    wrong = session.value(f"select count(*) from {keys} where bloom_lookup('exact', k) <> (k % 10 = 0)")
    if wrong != "0":
        raise RuntimeError(f"an exact list is wrong for {wrong} keys")


def contenders(session, keys, count):
    ways = {
        "without check": f"n => {count}, parts => 1, \"check\" => false",
        "16 parts": f"n => {count}, parts => 16, \"check\" => false",
        "with check": f"n => {count}, parts => 1",
    }
    runs = {way: (lambda way=way: publish(session, keys, ways[way])) for way in ways}
    runs["exact"] = lambda: session.seconds(exact(keys))
    runs["live"] = lambda: build_live(session, keys, count)
    runs["bloom_agg"] = lambda: session.seconds(f"select (bloom_stats(bloom_agg(k, {count}, 0.01))).bits from {keys}")
    runs["count(key)"] = lambda: session.seconds(f"select count(k) from {keys}")
    return runs


def one_way(session, settings, run):
    def measured():
        session.run(settings)
        return run()
    return measured


def measure(run, session, data, table, count):
    keys = data.keys(count)
    compare_lists(session, data, table, count)
    runs = {}
    for processes, settings in (("serial", SERIAL), ("parallel", parallel())):
        for way, one in contenders(session, keys, count).items():
            runs[processes, way] = one_way(session, settings, one)
    samples = interleave(runs, run.choose(2, 5 if count < 100 * MILLION else 3))
    size = name_of(count)
    for (processes, way), one in samples.items():
        table.add(size, processes, way, unit="seconds", samples=one)
    for processes in ("serial", "parallel"):
        took = {way: samples[processes, way] for way in ("live", "without check", "16 parts", "with check", "exact")}
        table.add(size, processes, "without check over live", unit="times", samples=took["without check"].over(took["live"]))
        table.add(size, processes, "16 parts over one part", unit="times",
                  samples=took["16 parts"].over(took["without check"]))
        table.add(size, processes, "with check over without check", unit="times",
                  samples=took["with check"].over(took["without check"]))
        table.add(size, processes, "exact over with check", unit="times", samples=took["exact"].over(took["with check"]))
    for way in ("live", "without check", "16 parts", "with check", "exact", "bloom_agg", "count(key)"):
        table.add(size, "serial over parallel", way, unit="times",
                  samples=samples["serial", way].over(samples["parallel", way]))


def main():
    run, session, data = start()
    table = Table(run, "fig11_publish", "publishing a list", ["keys", "processes", "what"])
    for count in run.choose([100_000], [10 * MILLION, 100 * MILLION]):
        measure(run, session, data, table, count)
    table.write()
    session.close()


if __name__ == "__main__":
    main()
