"""Asks by drivers of Python, each as it sends keys; "keys.py" says what.

    keys_python.py psycopg|asyncpg|odbc

A driver gives for each of its modes a function that runs a statement, perhaps with a key.
"""
import asyncio
import os
import sys


def by_cursor(cursor, mark):
    def run(sql, *key):
        cursor.execute(sql.replace("%s", mark), key)
        return cursor.fetchall()
    return run


def psycopg():
    """psycopg in both formats, and psycopg2."""
    import psycopg
    import psycopg2
    connection = psycopg2.connect("")
    connection.autocommit = True
    return {"psycopg2": by_cursor(connection.cursor(), "%s"),
            **{"psycopg " + name: by_cursor(psycopg.connect("", autocommit=True).cursor(), mark)
               for name, mark in (("text", "%t"), ("binary", "%b"))}}


def asyncpg():
    """It sends all in binary."""
    import asyncpg
    loop = asyncio.new_event_loop()
    connection = loop.run_until_complete(asyncpg.connect())

    def run(sql, *key):
        try:
            return loop.run_until_complete(connection.fetch(sql, *key))
        except asyncpg.DataError as error:
            # Mostly its own, with a code of the server's.
            raise ValueError("client") from error
    return {"asyncpg": run}


def odbc():
    """Statements that the server prepares and others."""
    import pyodbc
    place = "Driver={PostgreSQL Unicode};Server=%s;Port=%s;Database=%s;Uid=%s;BoolsAsChar=0;UseServerSidePrepare=%d"
    names = [os.environ[name] for name in ("PGHOST", "PGPORT", "PGDATABASE", "PGUSER")]
    return {mode: by_cursor(pyodbc.connect(place % (*names, prepare), autocommit=True).cursor(), "%s")
            for mode, prepare in (("psqlODBC prepared", 1), ("psqlODBC", 0))}


def answer(run, sql, key):
    try:
        return "true" if run(sql, key)[0][0] in (True, "1") else "false"
    except Exception as error:
        # psqlODBC has it as the first argument; without one the driver itself refused.
        code = getattr(error, "sqlstate", None) or getattr(error, "pgcode", None) or str(error.args[0])
        return code if len(code) == 5 else "client"


runs = globals()[sys.argv[1]]()
keys = {}
for line in sys.stdin:
    kind, way, sql = line.rstrip("\n").split("\t")
    for mode, run in runs.items():
        if way == "read":
            keys[mode] = [row[0] for row in run(sql)]
        else:
            print(mode, kind, way, *(answer(run, sql, key) for key in keys[mode]), sep="\t")
