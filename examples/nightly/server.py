#!/usr/bin/env python3
"""server.py FILE SOCKET: answers whether keys are in the filter of FILE.

Reads lines with one integer each, and answers each with a line: 1 (perhaps) or 0
(surely not).  Takes a new filter when FILE is replaced, while it answers.
"""

import contextlib
import os
import socketserver
import sys

from bloomfilter_reader import WatchedBloomFilter

PATH, SOCKET = sys.argv[1:]


class Answers(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            self.wfile.write(b"1\n" if int(line) in customers else b"0\n")


class Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True


# What the run before has left.
with contextlib.suppress(FileNotFoundError):
    os.unlink(SOCKET)
customers = WatchedBloomFilter(PATH)
with Server(SOCKET, Answers) as server:
    server.serve_forever()
