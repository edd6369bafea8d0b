"""Asks by psycopg; "lines.py" puts the document's lines in, and the types of the table, which
psycopg2 is asked for, too.
"""
import datetime
import decimal
import sys

import psycopg
import psycopg2

# Nothing but what libpq takes from the environment.
connection = psycopg.connect("", autocommit=True)
cur = connection.cursor()


def lookup():
    # LOOKUP
    return found


def each():
    # EACH
    return found


def row():
    # ROW
    return found


def text(found):
    if isinstance(found, list):
        return "[%s]" % ",".join(map(text, found))
    return str(found).lower()


def answer(question):
    try:
        return text(question())
    except psycopg.Error as error:
        return error.sqlstate
    except psycopg2.Error as error:
        return error.pgcode


# What the table says of keys without a cast.
UUID = "00000000-0000-0000-0000-0000000000"
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


def ask_types(driver, cursor):
    def ask(call, kind, key):
        def question():
            cursor.execute("select %s from held where kind = '%s'" % (call, kind), (key,))
            return cursor.fetchone()[0]
        return answer(question)
    for kind, (key, other) in VALUES.items():
        print("%s, %s %s:" % (driver, kind, type(key).__name__),
              ask("bloom_contains(filter, %s)", kind, key), ask("bloom_contains(filter, %s)", kind, other),
              ask("bloom_contains_each(filter, %s)", kind, [key, other]),
              ask("bloom_contains_each(filter, %s)", kind, []))


if sys.argv[1:] == ["types"]:
    second = psycopg2.connect("")
    second.autocommit = True
    ask_types("psycopg2", second.cursor())
    ask_types("psycopg", cur)
else:
    for line in sys.stdin:
        print(answer(lookup), answer(each), answer(row), flush=True)
