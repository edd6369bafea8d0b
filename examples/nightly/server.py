#!/usr/bin/env python3
"""server.py FILE SOCKET: answers whether keys are in the filter of FILE.

Reads lines with one integer each, and answers each with a line: 1 (perhaps) or 0
(surely not).  Takes a new filter when FILE is replaced, while it answers.
"""

import os
import socketserver
import sys
import threading
import time

from bloomfilter import BloomFilterError, LiveBloomFilter

PATH, SOCKET = sys.argv[1:]
customers = LiveBloomFilter(PATH)


class Answers(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            self.wfile.write(b"1\n" if int(line) in customers else b"0\n")


class Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True


def identity():
    status = os.stat(PATH)
    return status.st_dev, status.st_ino, status.st_mtime_ns


def take_new_files(seen):
    while True:
        time.sleep(0.1)
        try:
            now = identity()
            if now != seen:
                customers.reload()
                seen = now
        except (OSError, BloomFilterError) as error:
            print(f"server.py: keeping the old filter: {error}", file=sys.stderr)


# The identity is read before the first question; a file that came between is read twice.
threading.Thread(target=take_new_files, args=(None,), daemon=True).start()
with Server(SOCKET, Answers) as server:
    server.serve_forever()
