"""Asks by psycopg; "lines.py" puts the document's lines in."""
import sys

import psycopg

# Nothing but what libpq takes from the environment.
connection = psycopg.connect("", autocommit=True)
cur = connection.cursor()


def lookup():
    # LOOKUP
    return found


def each():
    # EACH
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


for line in sys.stdin:
    print(answer(lookup), answer(each), flush=True)
