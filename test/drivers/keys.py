"""keys.py: keys of each kind, sent by each driver as it sends what it has read.

A program of each driver reads keys from a table, and sends each back as a parameter to SQL's
own EXISTS and to every way of looking up: without a type, and with the cast that DRIVERS
gives.  A key that EXISTS finds is found; without a type it may be refused instead.
"""
import json
import os
import subprocess
import sys
import tempfile

import drivers
import lines

PROGRAMS = os.path.join(drivers.HERE, "programs")

# Bytes that are also read as an escape or as hex: paths, regular expressions, hex texts.
BYTES = r"""select convert_to(k, 'UTF8') from unnest(array['C:\\dir', 'a\000b', '\x41', '\x4', '\d+', 'plain', '']) k
    union all select decode(md5(g::text), 'hex') from generate_series(1, 5) g"""
KINDS = {
    "bigint": "select g - 3 from generate_series(1, 6) g union all select 9007199254740993",
    "text": r"select unnest(array['C:\\dir', 'C:\dir', 'a\000b', '\x41', '{a,b}', '42', ' a ', 'é', ''])",
    "bytea": BYTES,
    "uuid": "select md5(g::text)::uuid from generate_series(1, 3) g",
    "numeric": "select unnest('{1.5,-0.25,42,1e20,1.50}'::numeric[])",
    "float8": "select unnest('{1.5,0.1,-3}'::float8[])",
    "date": "select date '2024-02-28' + g from generate_series(1, 3) g",
    "timestamp": "select timestamp '2024-03-31 01:30' + g * interval '1 hour' from generate_series(1, 3) g",
    "timestamptz": "select timestamptz '2024-03-31 01:30:00.25+00' + g * interval '1 hour' from generate_series(1, 3) g",
    "inet": "select unnest('{10.0.0.1,10.0.0.0/8,::1}'::inet[])",
    "macaddr": "select unnest('{08:00:2b:01:02:03,08:00:2b:01:02:04}'::macaddr[])",
}
# The keys with an odd number are held.
TABLES = """
    create table sent_{0} (number serial, k {0});
    insert into sent_{0} (k) {1};
    create table held_{0} as select k from sent_{0} where number % 2 = 1;
    create index on held_{0} using bloomfilter (k) with (p = 1e-9);
    select bloom_publish_filter('held_{0}', bloom_agg(k, 100, 1e-9)) from held_{0};
    create table filter_{0} as select bloom_agg(k, 100, 1e-9) as filter from held_{0};"""
WAYS = {
    "EXISTS": "select exists (select from held_{0} where k = {1})",
    "contains": "select bloom_contains(filter, {1}) from filter_{0}",
    "@>": "select filter @> {1} from filter_{0}",
    "lookup": "select bloom_lookup('held_{0}', {1})",
    "live": "select bloom_index_contains('held_{0}', 'k', {1})",
    "search": "select count(*) > 0 from bloom_search(null::held_{0}, 'k', {1})",
}
# What a key without a type may meet: its kind is refused, its bytes are no text, or the driver
# itself doesn't send it.
REFUSED = {"42804", "22021", "client"}


def questions(mark):
    """A line to read each kind's keys, and one for each way, without a type and with a cast."""
    for kind in KINDS:
        yield kind, "read", "select k from sent_%s order by number" % kind
        for way, sql in WAYS.items():
            yield kind, way, sql.format(kind, mark)
            yield kind, way + " cast", sql.format(kind, "%s::%s" % (mark, kind))


def script(program, name, *arguments):
    return lambda folder: [program, os.path.join(PROGRAMS, name), *arguments]


def node(folder):
    return drivers.node_command(drivers.write_program("keys.js", {}, folder), folder) + ["node-postgres"]


def postgres_js(folder):
    subprocess.run(["npm", "install", "--silent", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts",
                    "--prefix", folder, "postgres@3.4"], check=True, stdout=subprocess.DEVNULL)
    return ["node", drivers.write_program("keys.js", {}, folder), "postgres.js"]


def java(folder):
    url = "jdbc:postgresql://127.0.0.1:%s/%s?user=%s" % tuple(
        os.environ[name] for name in ("PGPORT", "PGDATABASE", "PGUSER"))
    return drivers.java_command(drivers.write_program("Keys.java", {}, folder), folder) + [url]


def go(folder):
    packages = ["golang-github-lib-pq-dev", *lines.GO_PACKAGES]
    return drivers.go_command(drivers.write_program("keys.go", {}, folder), folder, packages)


def pqxx(folder):
    binary = os.path.join(folder, "keys")
    subprocess.run(["g++", "-std=c++17", "-o", binary, os.path.join(PROGRAMS, "keys.cpp"), "-lpqxx", "-lpq"],
                   check=True)
    return [binary]


# The mark of a parameter, and the program.
DRIVERS = {
    "psycopg": ("%s", script(sys.executable, "keys_python.py", "psycopg")),
    "asyncpg": ("$1", script(sys.executable, "keys_python.py", "asyncpg")),
    "psqlODBC": ("?", script(sys.executable, "keys_python.py", "odbc")),
    "node-postgres": ("$1", node),
    "postgres.js": ("$1", postgres_js),
    "JDBC": ("?", java),
    "lib/pq, pgx": ("$1", go),
    "libpqxx": ("$1", pqxx),
    "DBD::Pg": ("$1", script("perl", "keys.pl")),
}


def check_way(score, name, got, expected, refusals):
    """Each answer is what SQL says of the key by the same driver, or one of the refusals."""
    wrong = [pair for pair in zip(got, expected) if pair[0] != pair[1] and pair[0] not in refusals]
    score.check(name, (len(got), wrong), (len(expected), []))


def check_answers(score, mode, kind, answers):
    """A driver's answers of one kind."""
    name = "%s, %s" % (mode, kind)
    score.check(name + ": SQL finds keys, and not others", {"true", "false"} - set(answers["EXISTS cast"]), set())
    for way, got in answers.items():
        cast = way.endswith(" cast")
        check_way(score, "%s, %s" % (name, way), got, answers["EXISTS cast" if cast else "EXISTS"],
                  () if cast else REFUSED)


def check(score):
    for kind, keys in KINDS.items():
        drivers.psql(TABLES.format(kind, keys))
    for driver, (mark, command) in DRIVERS.items():
        with tempfile.TemporaryDirectory() as folder:
            output = subprocess.run(command(folder), input="".join("\t".join(q) + "\n" for q in questions(mark)),
                                    check=True, stdout=subprocess.PIPE, text=True).stdout
        answers = {}
        for line in output.splitlines():
            mode, kind, way, *got = line.split("\t")
            answers.setdefault((mode, kind), {})[way] = got
        for (mode, kind), ways in answers.items():
            check_answers(score, mode, kind, ways)
    for kind in KINDS:
        drivers.psql("drop table sent_{0}, held_{0}, filter_{0}; call bloom_drop('held_{0}')".format(kind))
