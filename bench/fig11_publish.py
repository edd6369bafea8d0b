"""Figure 11: publishing a list, against the build of a live filter and of a value.

Contenders take turns, by one process and by as many as there are cores. "Over live" is
how many times each took of what the build of a live filter took in the same round, and
"over one part" and "without check" compare publications. The phases are those of a
publication with its check, as the server tells them: around the two that read the query,
one process works alone. Each publication is a list's first, so that no delta is made.
"""

import re

from measure import Samples, interleave
from run import MILLION, name_of, start
from server import SERIAL, parallel
from table import Table

PHASE = re.compile(r"DEBUG:  bloom_publish bench: (.*) took ([\d.]+) s")


def publish(session, keys, arguments, phases):
    """Seconds of one publication; those of its phases are appended."""
    session.run("do $$ begin if exists (select from bloom_list where name = 'bench')"
                " then perform bloom_drop('bench'); end if; end $$")
    session.run("vacuum bloom_generation_part")
    session.run("set client_min_messages = debug1")
    rows, milliseconds = session.answer(f"call bloom_publish('bench', 'select k from {keys}', {arguments})")
    session.run("set client_min_messages = warning")
    for phase, seconds in PHASE.findall("\n".join(rows)):
        phases.setdefault(phase, []).append(float(seconds))
    return milliseconds / 1000


def build_live(session, keys, count):
    seconds = session.seconds(f"create index {keys}_bench on {keys} using bloomfilter (k) with (n = {count})")
    session.run(f"drop index {keys}_bench")
    return seconds


def contenders(session, keys, count, phases):
    ways = {
        "without check": f"n => {count}, parts => 1, \"check\" => false",
        "16 parts": f"n => {count}, parts => 16, \"check\" => false",
        "with check": f"n => {count}, parts => 1",
    }
    runs = {way: (lambda way=way: publish(session, keys, ways[way], phases[way])) for way in ways}
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
    phases, runs = {}, {}
    for processes, settings in (("serial", SERIAL), ("parallel", parallel())):
        found = {way: {} for way in ("without check", "16 parts", "with check")}
        for way, one in contenders(session, keys, count, found).items():
            runs[processes, way] = one_way(session, settings, one)
        phases[processes] = found
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
        for phase, seconds in phases[processes]["with check"].items():
            table.add(size, processes, f"with check: {phase}", unit="seconds", samples=Samples(seconds))
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
