"""What a figure is given: sizes, folders, and the tables that figures share."""

import os

from server import Session

# Made so that no key follows its neighbour: g * STEP modulo a prime.
STEP, PRIME = 48271, 2**31 - 1
MILLION = 10**6


class Run:
    """One run of bench/run; --quick has small sizes and the same code."""

    def __init__(self):
        self.quick = os.environ["BENCH_QUICK"] == "yes"
        self.command = os.environ["BENCH_COMMAND"]
        self.tree = os.environ["BENCH_TREE"]
        self.work = os.environ["BENCH_WORK"]
        self.results = os.path.join(self.tree, "bench", "results")
        self.rounds = 2 if self.quick else 3
        self.amount = "-t 200" if self.quick else "-T 1"

    def choose(self, quick, full):
        return quick if self.quick else full

    def program(self, name):
        """A program of bench/c."""
        return os.path.join(self.work, "c", name)

    @property
    def sizes(self):
        """Numbers of keys for which there are exact rivals, too."""
        return self.choose([10_000, 100_000], [MILLION, 10 * MILLION, 100 * MILLION])


def key_sql(number):
    """The key of a number of a row, as an SQL expression of type bigint."""
    return f"(({number})::bigint * {STEP} % {PRIME})"


def name_of(count):
    """10 million as 10m, for names in SQL and in tables."""
    for unit, size in (("m", MILLION), ("k", 1000)):
        if count and count % size == 0:
            return f"{count // size}{unit}"
    return str(count)


def empty_function(run, session, name, arguments):
    """Makes a function of bench/empty that takes these types and does nothing."""
    library = os.path.join(run.tree, "bench", "empty", "empty")
    session.run(f"create or replace function {name}({arguments}) returns boolean"
                f" as '{library}' language c immutable strict parallel safe cost 50")


def keys_table(count):
    """The table of so many keys, whether it is there or not."""
    return f"keys_{name_of(count)}"


class Data:
    """Tables and filters, made when they are first asked for."""

    def __init__(self, session):
        self.session = session
        session.run("create extension if not exists bloomfilter")
        session.run("create unlogged table if not exists filters"
                    " (name text primary key, filter bloomfilter not null)")

    def missing(self, table):
        return self.session.value(f"select to_regclass('{table}') is null") == "t"

    def keys(self, count):
        """keys_N (k bigint, c int): the same key twice, B-tree on one, hash on the other."""
        table = keys_table(count)
        if self.missing(table):
            key = key_sql("g")
            self.session.run(f"create unlogged table {table} (k bigint not null, c int not null)")
            self.session.run(f"insert into {table} select {key}, {key}"
                             f" from (select generate_series(1, {count}) g) s")
            self.session.run(f"vacuum (analyze, freeze) {table}")
        return table

    def btree(self, count):
        table = self.keys(count)
        if self.missing(f"{table}_k"):
            self.session.run(f"create unique index {table}_k on {table} (k)")
        return table

    def hash(self, count):
        table = self.keys(count)
        if self.missing(f"{table}_c"):
            self.session.run(f"create index {table}_c on {table} using hash (c)")
        return table

    def signatures(self, count):
        """signatures_N (c int) with an index of contrib's access method bloom."""
        table = f"signatures_{name_of(count)}"
        if self.missing(table):
            self.session.run("create extension if not exists bloom")
            self.session.run(f"create unlogged table {table} as select c from {self.keys(count)}")
            self.session.run(f"create index on {table} using bloom (c)")
            self.session.run(f"vacuum (analyze, freeze) {table}")
        return table

    def filter(self, count):
        """The filter of keys_N at 1 %, in table filters; its name is the table's."""
        name = keys_table(count)
        if self.session.value(f"select count(*) from filters where name = '{name}'") == "0":
            self.session.run(f"insert into filters select '{name}', bloom_agg({key_sql('g')}, {count}, 0.01)"
                             f" from (select generate_series(1, {count}) g) s")
        return name

    def publish(self, count):
        """The same filter as a published list of the same name."""
        name = self.filter(count)
        if self.session.value(f"select count(*) from bloom_list where name = '{name}'") == "0":
            self.session.run(f"select bloom_publish_filter(name, filter) from filters where name = '{name}'")
        return name

    def warm(self, count):
        """Reads into shared memory what look-ups among count keys touch, filters last.

        Of a filter whose keys are in no table, the filter. Of a vacuumed table an index-only
        scan reads the visibility map alone, so its rows may stay where they are. Memory that is
        full of them makes room by what was just read: again, until nothing had to be read.
        """
        self.session.run("create extension if not exists pg_prewarm")
        table = keys_table(count)
        forks = [(f"to_regclass('{table}_{index}')", "main") for index in ("c", "k", "live")]
        forks.append((f"to_regclass('{table}')", "vm"))
        for _ in range(5):
            if sum([self.prewarm(*fork) for fork in forks]) + self.prewarm_values() == 0:
                break

    def prewarm(self, relation, fork):
        """Pages that had to be read."""
        return self.session.plan(f"select pg_prewarm(r, 'buffer', '{fork}') from {relation} r"
                                 " where r is not null")["Shared Read Blocks"]

    def prewarm_values(self):
        """The same of TOAST and its indexes, of filters last."""
        return self.session.plan(
            "select pg_prewarm(i.indrelid), pg_prewarm(i.indexrelid) from pg_index i"
            " join pg_class c on c.reltoastrelid = i.indrelid"
            " where c.relname in ('blobs', 'filters', 'bloom_generation_part')"
            " order by c.relname")["Shared Read Blocks"]

    def filter_bytes(self, count):
        return int(self.session.value("select (bloom_stats(filter)).bytes from filters"
                                      f" where name = '{self.filter(count)}'"))

    def blob(self, count):
        """The same bytes as an ordinary bytea, in table blobs."""
        name = self.filter(count)
        self.session.run("create unlogged table if not exists blobs (name text primary key, body bytea)")
        self.session.run("alter table blobs alter body set storage external")
        self.session.run(f"insert into blobs select name, filter::bytea from filters"
                         f" where name = '{name}' on conflict do nothing")
        return name


def start():
    """What each figure of the server begins with."""
    run, session = Run(), Session()
    return run, session, Data(session)
