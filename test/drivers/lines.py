"""lines.py: the look-ups that the documents show for drivers, as they stand there.

The lines of DRIVERS' "One key", "Many keys" and "Keys of several columns" are put into a
small program for each driver, which stays connected while the list is published with a
key, without it, and is removed.  A line is run often enough for the drivers to prepare
its statement.  Then that page's table: which parameters may have no type.
"""
import os
import re
import subprocess
import sys
import tempfile

import drivers

GO_PACKAGES = ["golang-github-jackc-%s-dev" % name for name in (
    "pgx-v4", "pgconn", "pgio", "pgpassfile", "pgproto3-v2", "pgservicefile", "chunkreader-v2",
    "pgtype")] + ["golang-golang-x-crypto-dev", "golang-golang-x-text-dev"]

# psycopg and JDBC prepare the fifth time.
TIMES = 7

# What stands in the document: the lists, and what the drivers must answer then.
PUBLISH = ("select bloom_publish_filter('users', bloom_add(bloom_create(10, 1e-9), %d))",
           "select bloom_publish_filter('item', bloom_add(bloom_create(10, 1e-9), row(%d::bigint, 'A-1'::text)))")
STATES = {
    "with the key": ([PUBLISH[0] % 42, PUBLISH[1] % 7], "true [true,false] true"),
    "without it": ([PUBLISH[0] % 43, PUBLISH[1] % 8], "false [false,false] false"),
    "not published": (["call bloom_drop('users')", "call bloom_drop('item')"], "42704 42704 42704"),
}

HELD = """
    create table held (kind text, filter bloomfilter);
    insert into held values
        ('integer', bloom_add(bloom_create(10, 1e-9), 42)),
        ('text', bloom_add(bloom_create(10, 1e-9), 'a'::text)),
        ('uuid', bloom_add(bloom_create(10, 1e-9), '00000000-0000-0000-0000-000000000042'::uuid)),
        ('numeric', bloom_add(bloom_create(10, 1e-9), 1.5)),
        ('float', bloom_add(bloom_create(10, 1e-9), 1.5::float8)),
        ('date', bloom_add(bloom_create(10, 1e-9), '2024-01-01'::date)),
        ('timestamp', bloom_add(bloom_create(10, 1e-9), '2024-01-01'::timestamp)),
        ('timestamptz', bloom_add(bloom_create(10, 1e-9), '2024-01-01 00:00+00'::timestamptz)),
        ('bytea', bloom_add(bloom_create(10, 1e-9), 'abc'::bytea)),
        ('inet', bloom_add(bloom_create(10, 1e-9), '10.0.0.1'::inet))"""

# The table: kind, type, and the answers to a key, another one and a list of both (of JDBC
# to one of them, of psycopg also to an empty list).  A key that needs a type is an error.
TAKEN = "true false [true,false]"
REFUSED = "42804 42804 42804"
TYPES = {
    "psycopg": {
        **dict.fromkeys(["%s, %s" % (driver, what) for driver in ("psycopg", "psycopg2")
                         for what in ("integer int", "text str", "numeric Decimal", "date date", "bytea bytes")], TAKEN + " []"),
        **dict.fromkeys(["psycopg, uuid str", "psycopg, float float", "psycopg, inet str"], TAKEN + " []"),
        **dict.fromkeys(["psycopg2, uuid str", "psycopg2, inet str"], "true false 42804 []"),
        "psycopg2, float float": REFUSED + " []"},
    "node-postgres": {
        **dict.fromkeys(["integer number", "integer string", "integer BigInt", "text string", "uuid string",
                         "numeric number", "inet string"], TAKEN),
        **dict.fromkeys(["bytea Buffer", "float number", "date string", "timestamptz Date"], REFUSED)},
    "JDBC": {
        "integer setLong": "false",
        **dict.fromkeys(["integer setArray", "text setArray"], "[true,false]"),
        **dict.fromkeys(["integer setInt", "numeric setBigDecimal", "float setDouble", "bytea setBytes",
                         "text setString", "uuid setObject UUID", "date setObject LocalDate",
                         "timestamp setObject LocalDateTime", "timestamptz setObject OffsetDateTime",
                         "inet setObject Types.OTHER", "integer setString, unspecified"], "true"),
        **dict.fromkeys(["date setDate", "timestamp setTimestamp", "integer setString"], "42804")},
    "pgx": {
        **dict.fromkeys(["integer int64", "integer string", "text string", "uuid string", "numeric string",
                         "inet string"], TAKEN),
        **dict.fromkeys(["bytea []uint8", "float float64", "date time.Time"], REFUSED)},
}


def lines_of(page, section):
    """A document's line for each driver: the first block marked text in a section."""
    block = re.search(r"^## %s\n(?:(?!^## ).*\n)*?```text\n((?:(?!```).*\n)*)```" % section,
                      drivers.read(page), re.M)
    return dict(line.split(None, 1) for line in block.group(1).splitlines())


def write_program(driver, name, folder):
    """A driver's program, with the documents' lines in it."""
    end = ";" if driver == "JDBC" else ""
    marks = {"LOOKUP": lines_of("doc/DRIVERS.md", "One key")[driver] + end,
             "EACH": lines_of("doc/DRIVERS.md", "Many keys")[driver] + end,
             "ROW": lines_of("doc/DRIVERS.md", "Keys of several columns")[driver] + end}
    return drivers.write_program(name, marks, folder)


def psycopg_command(folder):
    return [sys.executable, write_program("psycopg", "ask.py", folder)]


def node_command(folder):
    return drivers.node_command(write_program("node-postgres", "ask.js", folder), folder)


def jdbc_command(folder):
    url = "jdbc:postgresql://127.0.0.1:%s/%s?user=%s" % tuple(
        os.environ[name] for name in ("PGPORT", "PGDATABASE", "PGUSER"))
    return drivers.java_command(write_program("JDBC", "Ask.java", folder), folder) + [url]


def pgx_command(folder):
    return drivers.go_command(write_program("pgx", "ask.go", folder), folder, GO_PACKAGES)


COMMANDS = {"psycopg": psycopg_command, "node-postgres": node_command, "JDBC": jdbc_command,
            "pgx": pgx_command}


def check_lines(score, driver, command):
    """One connection asks while the list changes under its prepared statements."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        for state, (statements, expected) in STATES.items():
            for sql in statements:
                drivers.psql(sql)
            answers = []
            for _ in range(TIMES):
                program.stdin.write("\n")
                program.stdin.flush()
                answers.append(program.stdout.readline().strip())
            score.check("%s, a list %s" % (driver, state), answers, [expected] * TIMES)
        program.stdin.close()


def check_types(score, driver, command):
    output = subprocess.run(command + ["types"], check=True, stdout=subprocess.PIPE, text=True).stdout
    got = dict(line.split(": ", 1) for line in output.splitlines())
    for name, expected in TYPES[driver].items():
        score.check("%s, without a cast: %s" % (driver, name), got.pop(name, None), expected)
    score.check("%s: nothing else is asked" % driver, got, {})


def check(score):
    drivers.psql("drop table if exists held; create extension if not exists bloomfilter")
    drivers.psql(HELD)
    for driver, command in COMMANDS.items():
        with tempfile.TemporaryDirectory() as folder:
            program = command(folder)
            check_lines(score, driver, program)
            if driver in TYPES:
                check_types(score, driver, program)
    drivers.psql("drop table held")
