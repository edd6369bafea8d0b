"""Asks by psycopg and psycopg2, in each format; "keys.py" says what."""
import sys

import psycopg
import psycopg2

# How a parameter is marked in each way to send.
MODES = {"psycopg text": "%t", "psycopg binary": "%b", "psycopg2": "%s"}


def connect(mode):
    if mode == "psycopg2":
        connection = psycopg2.connect("")
        connection.autocommit = True
    else:
        connection = psycopg.connect("", autocommit=True)
    return connection.cursor()


def answer(cursor, sql, key):
    try:
        cursor.execute(sql, [key])
        return str(cursor.fetchone()[0]).lower()
    except psycopg2.Error as error:
        return error.pgcode or "client"
    except psycopg.Error as error:
        return error.sqlstate or "client"


cursors = {mode: connect(mode) for mode in MODES}
keys = {}
for line in sys.stdin:
    kind, way, sql = line.rstrip("\n").split("\t")
    for mode, cursor in cursors.items():
        if way == "read":
            cursor.execute(sql)
            keys[mode] = [row[0] for row in cursor.fetchall()]
        else:
            asked = sql.replace("%s", MODES[mode])
            print(mode, kind, way, *(answer(cursor, asked, key) for key in keys[mode]), sep="\t")
