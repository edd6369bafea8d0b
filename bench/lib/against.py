"""Another build beside the present one: pairs in turns, and how many times as fast this one is.

Each build has a server of its own, whose ports are given, the other's second.  The two run one
right after the other, now this one first and now that one, so that what slows the machine for a
while slows both.
"""

import os
import statistics
import sys

from measure import Samples, tell
from run import Data, Run, key_sql
from server import SERIAL, Session, pgbench
from table import Table

LEAST = 0.9
BATCH = 1000


class Side:
    """One build's server, with a table of keys, a list and a live index of them."""

    def __init__(self, run, port, count):
        self.run, self.port, self.count = run, port, count
        os.environ["PGPORT"] = port
        self.session = Session()
        self.session.run(SERIAL)
        data = Data(self.session)
        self.keys = data.keys(count)
        self.publish(self.keys)
        self.index(f"{self.keys}_live")
        self.session.run(f"create table batches as select g / {BATCH} id, array_agg({key_sql('g * 2')}) keys"
                         f" from generate_series(0, {count - 1}) g group by 1")
        self.session.run("create index on batches (id)")
        self.session.run("vacuum (analyze, freeze) batches")
        data.warm(count)

    def publish(self, name):
        return self.session.seconds(f"call bloom_publish('{name}', 'select k from {self.keys}', n => {self.count})")

    def publish_new(self):
        seconds = self.publish("bench")
        # Not by bloom_drop, which an older build may call in another way.
        self.session.run("delete from bloom_generation_part where name = 'bench';"
                         " delete from bloom_generation where name = 'bench'")
        self.session.run("vacuum bloom_generation_part")
        return seconds

    def index(self, name):
        return self.session.seconds(f"create index {name} on {self.keys} using bloomfilter (k) with (n = {self.count})")

    def index_new(self):
        seconds = self.index("bench")
        self.session.run("drop index bench")
        return seconds

    def insert(self):
        """Rows into a table with a live index, each key of which is logged."""
        self.session.run("create table bench (k bigint)")
        self.session.run(f"create index on bench using bloomfilter (k) with (n = {self.count})")
        seconds = self.session.seconds(f"insert into bench select {key_sql('g')} from generate_series(1, {self.count // 10}) g")
        self.session.run("drop table bench")
        return seconds

    def statements(self, script):
        """Seconds of a statement, each sent by itself."""
        os.environ["PGPORT"] = self.port
        return 1 / pgbench(script, self.run.work, 1, self.run.amount)

    def look_up(self, call):
        return self.statements(f"\\set g random(1, {2 * self.count})\n\\set k (:g * 48271) % 2147483647\n"
                               f"select {call.format(key=':k::bigint')};\n")

    def loop(self, call):
        rounds = self.run.choose(1000, 300_000)
        return self.session.seconds(
            f"do $$ declare found boolean; asked bigint; begin for i in 1..{rounds} loop asked :="
            f" {key_sql(f'(i * 7919::bigint) % {2 * self.count}')}; found := {call.format(key='asked')}; end loop; end $$")

    def batch(self, call):
        return self.statements(f"\\set id random(0, {self.count // BATCH - 1})\n"
                               f"select cardinality({call.format(key='keys')}) from batches where id = :id;\n")

    def scan(self):
        sql = f"select count(*) from {self.keys} where bloom_lookup('{self.keys}', k)"
        rows, milliseconds = self.session.answer(sql)
        if rows != [str(self.count)]:
            raise RuntimeError(f"a scan found {rows} of {self.count} keys")
        return milliseconds / 1000


def measures(keys):
    single = {"a list": f"bloom_lookup('{keys}', {{key}})", "a live filter": f"bloom_index_contains('{keys}_live', {{key}})"}
    each = {"a list": f"bloom_lookup_each('{keys}', {{key}})",
            "a live filter": f"bloom_index_contains_each('{keys}_live', {{key}})"}
    asked = {}
    for who, call in single.items():
        asked[f"look-up in {who}, a statement"] = lambda side, call=call: side.look_up(call)
        asked[f"look-up in {who}, in PL/pgSQL"] = lambda side, call=call: side.loop(call)
    for who, call in each.items():
        asked[f"{BATCH} keys in {who}"] = lambda side, call=call: side.batch(call)
    asked["scan with bloom_lookup"] = Side.scan
    asked["bloom_publish"] = Side.publish_new
    asked["build of a live filter"] = Side.index_new
    asked["insert with a live filter"] = Side.insert
    return asked


def pairs(number, run, this, other):
    """How many times as fast this one was in each pair."""
    ratios = []
    for turn in range(number):
        if turn % 2:
            of_other, of_this = run(other), run(this)
        else:
            of_this, of_other = run(this), run(other)
        ratios.append(of_other / of_this)
    return ratios


def write_table(run, without, measured):
    table = Table(run, f"without_{without}", f"how many times as fast as without what {without}.patch takes out",
                  ["what", "contender"])
    for name, samples in measured.items():
        table.add(name, "bloomfilter", unit="times", samples=samples)
    table.write()


def main():
    run = Run()
    count = run.choose(20_000, 3_000_000)
    this, other = (Side(run, port, count) for port in sys.argv[1:])
    slower = []
    measured = {}
    print(f"{'this build, times as fast as the other':40} median   least    most")
    for name, one in measures(this.keys).items():
        pairs(1, one, this, other)
        ratios = pairs(run.choose(2, 10), one, this, other)
        median = statistics.median(ratios)
        measured[name] = Samples(ratios)
        print(f"{name:40}{median:7.3f} {tell('', min(ratios)):>7} {tell('', max(ratios)):>7}", flush=True)
        if median < LEAST:
            slower.append(name)
    if os.environ["BENCH_WITHOUT"]:
        write_table(run, os.environ["BENCH_WITHOUT"], measured)
    elif slower and not run.quick:
        sys.exit(f"below {LEAST}: {', '.join(slower)}")


main()
