"""Asks by asyncpg, which sends all in binary; "keys.py" says what."""
import asyncio
import sys

import asyncpg


async def answer(connection, sql, key):
    try:
        return str(await connection.fetchval(sql, key)).lower()
    except (asyncpg.DataError, asyncpg.InterfaceError):
        return "client"
    except asyncpg.PostgresError as error:
        return error.sqlstate


async def main():
    connection = await asyncpg.connect()
    keys = []
    for line in sys.stdin:
        kind, way, sql = line.rstrip("\n").split("\t")
        if way == "read":
            keys = [row[0] for row in await connection.fetch(sql)]
        else:
            print("asyncpg", kind, way, *[await answer(connection, sql, key) for key in keys], sep="\t")
    await connection.close()


asyncio.run(main())
