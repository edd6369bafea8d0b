"""The readers of clients/: how each is built and started, and what it is asked.

Each has a program that reads a question a line, fields separated by tabs, and answers by a line:

    open NAME PATH [OPTION...]   ok, of a file that is called NAME from then on: copy and map (where that is not the default), noverify,
                                 identity=UUID, bytes (of the file, as a query returns them), watch, wait=SECONDS
    keep NAME WATCHED            ok: the filter that the watched one has now
    ask NAME KEY...              1, 0 or an error's name for each key
    many NAME KEY...             all 1 and 0 as one batch
    key KEY...                   type and bytes of each, or an error's name
    info NAME, status NAME       the fields of INFO, of the whole and of each part; of STATUS
    reload NAME, told NAME       true or false; the last error that a watched one told of
    lacks NAME FIRST-LAST...     the serial, a blank, and how many of these integers it lacks
    explain NAME KEY, cd FOLDER  of those that have it

A program asks in each way that its language has, by keys, values and arrays of them, and says "differ" where these disagree. An
error is its name, as clients/README.md has it, its rule, its index and its message. A key is its type, a blank and its text as
PostgreSQL prints it. Of "hex:TYPE" the text is UTF-8 in hexadecimal, of "raw:TYPE" the key's bytes are, and of "row" the columns
are, each as TYPE:BYTES; "raw:row:TYPE..." has the columns' types. "none" is of texts that Go's and Java's own parsers make nothing of.
"""

import os
import subprocess

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
CLIENTS = os.path.join(ROOT, "clients")
INFO = "n p seed hashes block_bits blocks part parts key_type bits_set checksum bits bytes format_version others fill".split()
STATUS = "list identity place serial true_at looked age every heartbeat expires since failures superseded changes reason message".split()
# Without Java's compiler of hot code for what runs seconds.
COMMANDS = {
    "python": ["env", f"PYTHONPATH={CLIENTS}/python/build/lib", "/usr/bin/python3", f"{CLIENTS}/python/tests/cross_check.py"],
    "java": ["java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", f"{CLIENTS}/java/build/classes:{CLIENTS}/java/build/test-classes",
             "bloomfilter.CrossCheck"],
    "go": [f"{CLIENTS}/go/build/crosscheck"],
    "node": ["node", f"{CLIENTS}/node/test/cross-check.js"],
}


def build():
    for name in COMMANDS:
        subprocess.run([f"{CLIENTS}/{name}/run-tests", "build"], check=True)


def key(key_type, text):
    return f"{key_type} {text}" if text.isprintable() else f"hex:{key_type} {text.encode().hex()}"


class Reader:
    """A program of clients/ that runs."""

    def __init__(self, name, folder=None):
        self.name = name
        self.process = subprocess.Popen(COMMANDS[name], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")

    def send(self, *question):
        self.process.stdin.write("\t".join(question) + "\n")
        self.process.stdin.flush()

    def receive(self):
        return self.process.stdout.readline().rstrip("\n")

    def ask(self, *question):
        self.send(*question)
        return self.receive()

    def memory(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return int(file.read().split("VmHWM:")[1].split()[0])
