"""The throw-away server: SQL in one session, and pgbench."""

import json
import os
import re
import subprocess

import machine
from measure import Capped, Refused

END = "--end of answer--"


class Session:
    """A psql that stays open, so that a backend keeps its caches and settings."""

    def __init__(self):
        self.psql = subprocess.Popen(
            ["psql", "-X", "-q", "-A", "-t", "-F", "\t"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1)
        self.run("set client_min_messages = warning")
        self.run("\\timing on\n")
        self.pid = int(self.value("select pg_backend_pid()"))

    def close(self):
        self.psql.stdin.close()
        self.psql.wait()

    def answer(self, sql):
        """Rows and milliseconds."""
        self.psql.stdin.write(f"{sql.rstrip()}{'' if sql.endswith(chr(10)) else ';'}\n\\echo {END}\n")
        self.psql.stdin.flush()
        rows, milliseconds, error = [], 0.0, None
        for line in self.psql.stdout:
            line = line.rstrip("\n")
            if line == END:
                break
            timing = re.match(r"Time: ([\d.]+) ms", line)
            if timing:
                milliseconds += float(timing.group(1))
            elif line.startswith(("ERROR:", "FATAL:")):
                error = line.partition(":")[2].strip()
            else:
                rows.append(line)
        if error:
            if "statement timeout" in error:
                raise Capped(f"not finished in {self.limit} s")
            raise Refused(error)
        return rows, milliseconds

    def run(self, sql):
        return self.answer(sql)[0]

    def value(self, sql):
        return self.run(sql)[0]

    def seconds(self, sql):
        return self.answer(sql)[1] / 1000

    def cap(self, seconds):
        """Statements that take longer are ended; 0: none are."""
        self.run(f"set statement_timeout = '{seconds}s'")
        self.limit = seconds

    def plan(self, sql):
        """EXPLAIN (ANALYZE, BUFFERS) of a statement."""
        text = "\n".join(self.run(f"explain (analyze, buffers, timing off, format json) {sql}"))
        return json.loads(text)[0]["Plan"]

    def nodes(self, sql):
        """The plan's joins and whether it is parallel, in words."""
        text = "\n".join(self.run(f"explain (costs off) {sql}"))
        names = re.findall(r"Gather|Hash Semi Join|Hash Anti Join|Hash Join|Nested Loop(?: Semi| Anti)?"
                           r"(?: Join)?|Merge \w*\s?Join|hashed SubPlan|SubPlan", text)
        if "hashed SubPlan" in names:
            names = [name for name in names if name != "SubPlan"]
        return ", ".join(dict.fromkeys(names))

    def memory(self):
        """Bytes that this backend has had: private ones at their peak, shared ones."""
        status = machine.read(f"/proc/{self.pid}/status")
        peak, files, shared = (int(machine.first_match(rf"^{name}:\s+(\d+)", status, "0")) * 1024
                               for name in ("VmHWM", "RssFile", "RssShmem"))
        return peak - files - shared, shared


SERIAL = "set max_parallel_workers_per_gather = 0; set max_parallel_maintenance_workers = 0"


def parallel():
    """As many processes as cores, the leader included, whatever the planner would like."""
    workers = max(machine.cores() - 1, 1)
    return (f"set max_parallel_workers_per_gather = {workers};"
            f"set max_parallel_maintenance_workers = {workers};"
            "set min_parallel_table_scan_size = 0; set parallel_setup_cost = 0;"
            "set parallel_tuple_cost = 0")


# What holds for each rate of pgbench: with many connections, or much memory to read, it is lower than later.
NEW_CONNECTIONS = "connections are new in each round, and map a page of shared memory when they touch it first"


def pgbench(script, folder, clients, amount):
    """Transactions per second of a script, prepared; amount is "-T seconds" or "-t number"."""
    path = os.path.join(folder, "pgbench.sql")
    with open(path, "w", encoding="ascii") as file:
        file.write(script)
    command = ["pgbench", "-n", "-M", "prepared", "-c", str(clients),
               "-j", str(min(clients, machine.cores())), *amount.split(), "-f", path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.search(r"^tps = ([\d.]+)", done.stdout, re.MULTILINE)
    if done.returncode != 0 or not found:
        raise Refused((done.stderr.strip().splitlines() or ["pgbench failed"])[-1])
    return float(found.group(1))
