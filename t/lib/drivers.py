"""Asks filters of each kind through psycopg2, psycopg and parameters without a type.

    drivers.py CONNECTION-STRING

A line for each kind: bloom_contains of its key, bloom_contains_each of the key and
another, of an empty list, and bloom_matches; an error is its SQLSTATE.
"""

import datetime
import decimal
import sys

import psycopg
import psycopg2

UUID = "00000000-0000-0000-0000-0000000000"

# Of each kind, a key that is in the filter and one that isn't.
VALUES = {
    "integer": (42, 43),
    "text": ("a", "b"),
    "uuid": (UUID + "42", UUID + "43"),
    "numeric": (decimal.Decimal("1.5"), decimal.Decimal("2.5")),
    "float": (1.5, 2.5),
    "date": (datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)),
    "bytea": (b"abc", b"abd"),
    "inet": ("10.0.0.1", "10.0.0.2"),
}
TEXTS = dict(VALUES, integer=("42", "43"), numeric=("1.5", "2.5"), float=("1.5", "2.5"),
             date=("2024-01-01", "2024-01-02"), bytea=("\\x616263", "\\x616264"))


def answer(cursor, query, *parameters):
    try:
        cursor.execute(query, parameters)
        value = cursor.fetchone()[0]
    except (psycopg.Error, psycopg2.Error) as error:
        return error.pgcode if hasattr(error, "pgcode") else error.sqlstate
    # Bytes have another type in each driver.
    if isinstance(value, list) and value and not isinstance(value[0], (bool, int, str, float)) \
            and isinstance(value[0], (bytes, memoryview)):
        return len(value)
    return value


def ask(cursor, values, array):
    for kind, (key, other) in values.items():
        held = "from held where kind = '%s'" % kind
        print("%s %s:" % (kind, type(key).__name__),
              answer(cursor, "select bloom_contains(filter, %s) " + held, key),
              answer(cursor, "select bloom_contains_each(filter, %s) " + held, array([key, other])),
              answer(cursor, "select bloom_contains_each(filter, %s) " + held, array([])),
              answer(cursor, "select bloom_matches(filter, %s) " + held, array([key, other])))


def array_text(keys):
    return "{%s}" % ",".join('"%s"' % key.replace("\\", "\\\\") for key in keys)


def main(connection):
    for driver in psycopg2, psycopg:
        print("==", driver.__name__)
        session = driver.connect(connection)
        session.autocommit = True
        ask(session.cursor(), VALUES, list)
        session.close()
    print("== untyped")
    session = psycopg.connect(connection, autocommit=True)
    cursor = session.cursor()
    ask(cursor, TEXTS, array_text)
    print("unreadable:", answer(cursor, "select filter @> %s from held where kind = 'integer'", "x"))
    print("no filter tells the kind:", answer(cursor, "select bloom_part(%s, 8)", "42"))
    print("added:", answer(cursor, "select bloom_add(filter, %s) @> 7 from held where kind = 'integer'", "7"))


main(sys.argv[1])
