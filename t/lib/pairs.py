"""Looks values up that drivers have read, as they send them: see 021_equal_pairs.pl.

    pairs.py CONNECTION-STRING

Each value of each table is read in text and in binary and goes back as a parameter, in
text and in binary, to SQL's own equality and to every way of looking up.  Prints the
number of answers and the errors by which keys were refused; then a line for each key
that SQL finds and a way doesn't.
"""

import sys

import psycopg
import psycopg2

FORMATS = {"psycopg text": "%t", "psycopg binary": "%b", "psycopg2": "%s"}


class Score:
    def __init__(self):
        self.answers = 0
        self.states = set()
        self.wrong = []


def one(cursor, query, *parameters):
    """The value that a query returns, or an error's SQLSTATE."""
    try:
        cursor.execute("savepoint s")
        cursor.execute(query, parameters)
        value = cursor.fetchone()[0]
        cursor.execute("release s")
        return value
    except (psycopg.Error, psycopg2.Error) as error:
        cursor.execute("rollback to s")
        return error.pgcode if hasattr(error, "pgcode") else error.sqlstate or type(error).__name__


def values_of(connection, driver, number):
    """Each different value, as the driver makes it of what the server sends."""
    options = {} if driver == "psycopg2" else {"binary": driver == "psycopg binary"}
    with connection.cursor(**options) as cursor:
        try:
            cursor.execute("savepoint s")
            cursor.execute("select distinct on (k) k from k%d" % number)
            return [row[0] for row in cursor.fetchall()]
        except (psycopg.Error, ValueError, OverflowError, NotImplementedError):
            # Python's dates have no infinity; the others come one by one.
            cursor.execute("rollback to s")
        found = []
        cursor.execute("select distinct k::text from k%d where k::text !~ 'infinity|BC'" % number)
        for (text,) in cursor.fetchall():
            cursor.execute("select k from k%d where k::text = %%s limit 1" % number, [text])
            found.append(cursor.fetchone()[0])
        return found


def look_up(cursor, score, driver, number, ways, value):
    mark = FORMATS[driver]
    if one(cursor, "select count(*) > 0 from k%d where k = %s" % (number, mark), value) is not True:
        return
    for way, expression in ways:
        array = "[" in expression or "cardinality" in expression
        query = expression.replace("%1$s", mark).replace("%2$s", str(number)).replace("%3$s", mark)
        answer = one(cursor, "select %s from held where id = %d" % (query, number), [value] if array else value)
        if isinstance(answer, str):
            score.states.add(answer)
            if answer not in ("0A000", "42804", "42P18"):
                score.wrong.append("%s, k%d, %s: %s for %r" % (driver, number, way, answer, value))
            continue
        score.answers += 1
        if answer is not True:
            score.wrong.append("%s, k%d, %s: %r for %r" % (driver, number, way, answer, value))


def main():
    score = Score()
    connections = {name: psycopg.connect(sys.argv[1]) for name in FORMATS if name != "psycopg2"}
    connections["psycopg2"] = psycopg2.connect(sys.argv[1])
    for driver, connection in connections.items():
        with connection.cursor() as cursor:
            # psycopg2 sends literals, whose text may have been cut by name.
            cursor.execute("select way, expression from ways where way <> 'row'")
            ways = cursor.fetchall()
            cursor.execute("select id from types where can_be_key order by id")
            for (number,) in cursor.fetchall():
                for value in values_of(connection, driver, number):
                    look_up(cursor, score, driver, number, ways, value)
    print("%d answers, refused by %s" % (score.answers, " ".join(sorted(score.states))))
    print("\n".join(score.wrong[:20]))
    return 0


sys.exit(main())
