"""Asks by psqlODBC, with statements that the server prepares and without; "keys.py" says what."""
import os
import sys

import pyodbc


def connect(prepare):
    return pyodbc.connect("Driver={PostgreSQL Unicode};Server=%s;Port=%s;Database=%s;Uid=%s;BoolsAsChar=0;UseServerSidePrepare=%d" % (
        *(os.environ[name] for name in ("PGHOST", "PGPORT", "PGDATABASE", "PGUSER")), prepare), autocommit=True)


def answer(cursor, sql, key):
    try:
        return "true" if cursor.execute(sql, key).fetchone()[0] in (True, "1") else "false"
    except pyodbc.Error as error:
        return error.args[0]


cursors = {"psqlODBC prepared": connect(1).cursor(), "psqlODBC": connect(0).cursor()}
keys = {}
for line in sys.stdin:
    kind, way, sql = line.rstrip("\n").split("\t")
    for mode, cursor in cursors.items():
        if way == "read":
            keys[mode] = [row[0] for row in cursor.execute(sql).fetchall()]
        else:
            print(mode, kind, way, *(answer(cursor, sql, key) for key in keys[mode]), sep="\t")
