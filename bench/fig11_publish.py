"""Figure 11: publishing a list, against the build of a live filter and of a value.

Contenders take turns, by one process and by as many as there are cores. "Over live" is
how many times each took of what the build of a live filter took in the same round, and
"over one part" and "without check" compare publications. Each is a list's first.
"""

from measure import interleave
from run import MILLION, name_of, start
from server import SERIAL, parallel
from table import Table


def publish(session, keys, arguments):
    """Seconds of one publication."""
    session.run("do $$ begin if exists (select from bloom_list where name = 'bench')"
                " then perform bloom_drop('bench'); end if; end $$")
    session.run("vacuum bloom_generation_part")
    return session.seconds(f"call bloom_publish('bench', 'select k from {keys}', {arguments})")


def build_live(session, keys, count):
    seconds = session.seconds(f"create index {keys}_bench on {keys} using bloomfilter (k) with (n = {count})")
    session.run(f"drop index {keys}_bench")
    return seconds


def contenders(session, keys, count):
    ways = {
        "without check": f"n => {count}, parts => 1, \"check\" => false",
        "16 parts": f"n => {count}, parts => 16, \"check\" => false",
        "with check": f"n => {count}, parts => 1",
    }
    runs = {way: (lambda way=way: publish(session, keys, ways[way])) for way in ways}
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
    runs = {}
    for processes, settings in (("serial", SERIAL), ("parallel", parallel())):
        for way, one in contenders(session, keys, count).items():
            runs[processes, way] = one_way(session, settings, one)
    samples = interleave(runs, run.choose(2, 5 if count < 100 * MILLION else 3))
    size = name_of(count)
    for (processes, way), one in samples.items():
        table.add(size, processes, way, unit="seconds", samples=one)
    for processes in ("serial", "parallel"):
        took = {way: samples[processes, way] for way in ("live", "without check", "16 parts", "with check")}
        table.add(size, processes, "without check over live", unit="times", samples=took["without check"].over(took["live"]))
        table.add(size, processes, "16 parts over one part", unit="times",
                  samples=took["16 parts"].over(took["without check"]))
        table.add(size, processes, "with check over without check", unit="times",
                  samples=took["with check"].over(took["without check"]))
    for way in ("live", "without check", "16 parts", "with check", "bloom_agg", "count(key)"):
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
